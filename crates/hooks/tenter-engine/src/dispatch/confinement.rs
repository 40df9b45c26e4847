//! Confinements that cannot be kept: what happens then is part of the decision (F1).

use std::ffi::OsString;
use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

use tenter_proc::{Cancel, Invocation, Limits, ProcessEnd};
use tenter_protocol::confinement::{Confinement, Otherwise};
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{Body, Verdict};

use super::{Engine, Outcome};

/// Maximum time for the launcher to say what it cannot keep.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The tool whose calls can be confined: they are processes.
const SHELL: &str = "bash";

impl Engine {
    /// Applies `otherwise` if the confinements of a call cannot be kept here: the user is asked, the call is denied, or it runs with what
    /// can be kept.
    pub(crate) fn check_confinements(&self, outcome: &mut Outcome, cwd: &Path) {
        let Body::BeforeTool(call) = &outcome.body else { return };
        let Some(first) = outcome.confinements.first() else { return };
        if outcome.denied().is_some() {
            return;
        }
        let hook = first.hook.clone();
        let is_shell = self.settings().tool_names.standard(&call.name) == SHELL;
        let confinements: Vec<Confinement> =
            outcome.confinements.iter().map(|confinement| confinement.value.clone()).collect();
        let why = if is_shell {
            self.why_not_kept(&confinements, cwd)
        } else {
            Some("only shell commands can be confined".to_owned())
        };
        let Some(why) = why else { return };
        match Otherwise::strictest(&confinements) {
            Otherwise::Deny => return outcome.refuse_unconfined(&hook, &why),
            Otherwise::Ask => outcome.ask_unconfined(&hook, &why),
            Otherwise::Run => {}
        }
        if is_shell && self.settings().launcher.is_some() {
            for confinement in &mut outcome.confinements {
                confinement.value.otherwise = Some(Otherwise::Run);
            }
        } else {
            outcome.confinements.clear();
        }
    }

    /// Returns why confinements cannot be kept here, as the launcher says; `None` if they can. Each is asked about once.
    fn why_not_kept(&self, confinements: &[Confinement], cwd: &Path) -> Option<String> {
        let settings = self.settings();
        let Some(launcher) = &settings.launcher else {
            return Some("this agent cannot confine commands".to_owned());
        };
        // The strictest `otherwise`: the launcher then refuses.
        let demanded: Vec<Confinement> = confinements
            .iter()
            .map(|one| Confinement { otherwise: Some(Otherwise::Deny), ..one.clone() })
            .collect();
        let Ok(spec) = serde_json::to_string(&demanded) else {
            return Some("the confinement cannot be written".to_owned());
        };
        let mut answers =
            settings.known_confinements.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = answers.get(&spec) {
            return why.clone();
        }
        let args: Vec<OsString> = vec![
            "confine".into(),
            "--project".into(),
            settings.project.clone().into(),
            "--spec".into(),
            spec.clone().into(),
            "--".into(),
            "true".into(),
        ];
        let invocation = Invocation {
            program: launcher.clone(),
            args,
            cwd: cwd.to_owned(),
            env: settings.environment.base().clone(),
            stdin: Vec::new(),
            streams: tenter_proc::Streams::Merged,
            limits: Limits { timeout: TIMEOUT, ..Limits::default() },
        };
        let completion = tenter_proc::run(&invocation, &Cancel::new());
        let why = (!matches!(completion.end, ProcessEnd::Exited(0))).then(|| {
            let text = completion.stdout.text();
            let line = text.lines().next().unwrap_or("the launcher did not start");
            line.trim_start_matches("tenter confine: ").to_owned()
        });
        answers.insert(spec, why.clone());
        why
    }
}

impl Outcome {
    /// Denies a call that cannot be confined as a hook demands.
    fn refuse_unconfined(&mut self, hook: &str, why: &str) {
        let why = format!("the call must be confined, and that {why}");
        self.deny(hook, Some(Verdict::new(VerdictKind::Deny, Some(why))));
    }

    /// Asks the user about a call that cannot be confined as a hook demands.
    fn ask_unconfined(&mut self, hook: &str, why: &str) {
        let why = format!("the call cannot be confined as the hook demands: {why}");
        self.raise_verdict(hook, Some(Verdict::new(VerdictKind::Ask, Some(why))));
    }
}
