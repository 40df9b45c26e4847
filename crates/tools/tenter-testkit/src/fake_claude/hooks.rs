//! The hooks of a client: where they are registered, how they are run, and what they answer.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;

use super::Defect;
use super::tools::{SANDBOX, SANDBOX_FAILS};

/// The timeout of a handler that has none.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The time between two checks whether a hook has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// A registered command.
#[derive(Debug, Clone)]
struct Handler {
    command: String,
    /// The arguments; `None`: a shell runs the command.
    args: Option<Vec<String>>,
    timeout: Duration,
    blocks_on_failure: bool,
}

/// The combined answer of the hooks of an event.
#[derive(Debug, Default)]
pub(super) struct HookAnswer {
    /// The reason for which a call is denied, or a message or stop blocked.
    pub(super) refusal: Option<String>,
    /// The input with which a call is to run.
    pub(super) input: Option<Value>,
    /// The native result that replaces the result of a call.
    pub(super) output: Option<Value>,
    /// The texts for the model.
    pub(super) contexts: Vec<String>,
    /// Set if the refusal is a question, which no user answers.
    is_question: bool,
    /// Messages to the user.
    pub(super) notices: Vec<String>,
    /// The output on stdout that is not JSON.
    pub(super) text: String,
}

/// The registered hooks of a user in a project.
#[derive(Debug)]
pub(super) struct Hooks {
    files: Vec<PathBuf>,
    /// The names of the client's defects.
    defects: String,
}

impl Hooks {
    /// Returns true if a permission rule of the settings, `Bash(PROGRAM:*)`, denies the call.
    pub(super) fn is_denied_by_rule(&self, input: &Value) -> bool {
        let settings = self.files.iter().filter_map(|file| fs::read_to_string(file).ok());
        let mut settings = settings.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
        let command = input["command"].as_str().unwrap_or_default();
        let denies = |rule: &Value| {
            let program = rule.as_str().and_then(|rule| rule.strip_prefix("Bash("));
            let program = program.and_then(|rule| rule.strip_suffix(":*)"));
            program.is_some_and(|program| command.split(' ').next() == Some(program))
        };
        settings.any(|settings| elements(&settings["permissions"]["deny"]).iter().any(denies))
    }

    pub(super) fn new(home: &Path, project: &Path, defects: String) -> Self {
        let files = vec![
            home.join(".claude/settings.json"),
            project.join(".claude/settings.json"),
            project.join(".claude/settings.local.json"),
        ];
        Self { files, defects }
    }

    /// Returns true if the client has this defect.
    pub(super) fn has(&self, defect: Defect) -> bool {
        let name = format!("{defect:?}");
        self.defects.split(|one: char| !one.is_alphabetic()).any(|one| one == name)
    }

    /// Returns the start of a command that puts the rest into the sandbox, which the settings turn on; empty without one.
    pub(super) fn sandbox(&self) -> &'static str {
        let settings = self.files.iter().filter_map(|file| fs::read_to_string(file).ok());
        let mut settings = settings.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
        let is_on = settings.any(|settings| settings["sandbox"]["enabled"] == true);
        if !is_on || self.has(Defect::IgnoresSandbox) {
            return "";
        }
        if self.has(Defect::SandboxFails) { SANDBOX_FAILS } else { SANDBOX }
    }

    /// Returns the variables in the settings, which hooks and commands get.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let settings = self.files.iter().filter_map(|file| fs::read_to_string(file).ok());
        let settings = settings.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
        let variables = settings.filter_map(|settings| settings["env"].as_object().cloned());
        let text = |(name, value): (String, Value)| Some((name, value.as_str()?.to_owned()));
        variables.flatten().filter_map(text).collect()
    }

    /// Runs the hooks of an event, one after the other.
    pub(super) fn fire(&self, event: &str, payload: &Value) -> HookAnswer {
        let mut answer = HookAnswer::default();
        if self.has(Defect::FiresNothing) {
            return answer;
        }
        let times = if self.has(Defect::FiresTwice) { 2 } else { 1 };
        let runs_one = self.has(Defect::RunsFirstHookOnly);
        let count = if runs_one { 1 } else { usize::MAX };
        let variables = self.variables();
        for handler in self.handlers(event).into_iter().take(count) {
            for _ in 0..times {
                handler.run(event, (payload, &variables), &mut answer);
            }
        }
        self.spoil(event, &mut answer);
        answer
    }

    /// Returns the handlers of an event. Equal commands count once.
    fn handlers(&self, event: &str) -> Vec<Handler> {
        let read = |file: &PathBuf| serde_json::from_str(&fs::read_to_string(file).ok()?).ok();
        let mut users: Vec<Value> = self.files.iter().filter_map(read).collect();
        let mut managed: Vec<Value> = managed_files().iter().filter_map(read).collect();
        if users.iter().any(|settings| settings["disableAllHooks"] == true) {
            users.clear();
            if self.has(Defect::UserDisablesManaged) {
                managed.clear();
            }
        }
        let settings = [managed, users].concat();
        let groups = settings.iter().flat_map(|settings| elements(&settings["hooks"][event]));
        let mut handlers: Vec<Handler> = Vec::new();
        for mut handler in
            groups.flat_map(|group| elements(&group["hooks"])).filter_map(Handler::read)
        {
            handler.blocks_on_failure &= !self.has(Defect::IgnoresSwitch);
            let is_same =
                |one: &Handler| one.command == handler.command && one.args == handler.args;
            if !handlers.iter().any(is_same) {
                handlers.push(handler);
            }
        }
        handlers
    }

    /// Forgets what the defects do not honour.
    fn spoil(&self, event: &str, answer: &mut HookAnswer) {
        let first_line = |text: &mut String| *text = text.lines().next().unwrap_or("").to_owned();
        let has = |defect: Defect| self.has(defect);
        let is_call = matches!(event, "PreToolUse" | "PreSkillShellCommand");
        if (is_call && has(Defect::IgnoresDeny))
            || (answer.is_question && has(Defect::IgnoresAsk))
            || (event == "UserPromptSubmit" && has(Defect::IgnoresRejection))
        {
            answer.refusal = None;
        }
        if !answer.notices.is_empty() && has(Defect::NoticeVoidsAnswer) {
            let notices = std::mem::take(&mut answer.notices);
            *answer = HookAnswer { notices, ..HookAnswer::default() };
        }
        if has(Defect::HidesNotices) {
            answer.notices.clear();
        }
        if has(Defect::IgnoresRewrite) {
            answer.input = None;
        }
        if has(Defect::IgnoresOutput) {
            answer.output = None;
        }
        if event != "Stop" && has(Defect::DropsContext) {
            answer.contexts.clear();
            answer.text.clear();
        }
        if has(Defect::ReadsFirstLine) {
            answer.contexts.iter_mut().for_each(first_line);
            answer.refusal.iter_mut().for_each(first_line);
            first_line(&mut answer.text);
        }
    }
}

/// Returns the files of the administrators.
fn managed_files() -> Vec<PathBuf> {
    let files = fs::read_dir("/etc/claude-code/managed-settings.d").into_iter().flatten();
    files.flatten().map(|file| file.path()).collect()
}

impl Handler {
    fn read(value: &Value) -> Option<Self> {
        let words = |args: &Vec<Value>| {
            args.iter().map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
        };
        Some(Self {
            command: value["command"].as_str()?.to_owned(),
            args: value["args"].as_array().map(words),
            timeout: value["timeout"].as_u64().map_or(TIMEOUT, Duration::from_secs),
            blocks_on_failure: value["onFailure"] == "block",
        })
    }

    /// Runs the command and adds what it answers.
    fn run(
        &self,
        event: &str,
        (payload, variables): (&Value, &[(String, String)]),
        answer: &mut HookAnswer,
    ) {
        let is_guarded = matches!(event, "PreToolUse" | "UserPromptSubmit");
        match self.output(payload, variables) {
            Some((Some(0), stdout, _)) => read(&stdout, answer),
            Some((Some(2), _, stderr)) => answer.refusal = Some(stderr),
            _ if is_guarded && self.blocks_on_failure => {
                answer.refusal = Some("failed; blocking because onFailure is \"block\"".to_owned());
            }
            _ => {}
        }
    }

    /// Returns the exit code, stdout and stderr; `None` if it does not start, or does not end in time.
    fn output(
        &self,
        payload: &Value,
        variables: &[(String, String)],
    ) -> Option<(Option<i32>, String, String)> {
        let mut child = self.start(variables)?;
        let (mut stdin, payload) = (child.stdin.take()?, payload.to_string());
        // The command need not read its stdin.
        let writer = thread::spawn(move || drop(stdin.write_all(payload.as_bytes())));
        let (mut stdout, mut stderr) = (child.stdout.take()?, child.stderr.take()?);
        let reader = thread::spawn(move || {
            let mut text = String::new();
            let _ = stdout.read_to_string(&mut text);
            text
        });
        let start = Instant::now();
        let status = loop {
            match child.try_wait().ok()? {
                Some(status) => break status,
                None if start.elapsed() > self.timeout => {
                    let _ = child.kill().and_then(|()| child.wait().map(drop));
                    return None;
                }
                None => thread::sleep(PAUSE),
            }
        };
        writer.join().ok()?;
        let mut errors = String::new();
        let _ = stderr.read_to_string(&mut errors);
        Some((status.code(), reader.join().ok()?, errors))
    }

    #[expect(clippy::disallowed_methods, reason = "a client starts its hooks itself")]
    fn start(&self, variables: &[(String, String)]) -> Option<Child> {
        let shell = ["-c".to_owned(), self.command.clone()];
        let (program, args) = match &self.args {
            Some(args) => (self.command.as_str(), args.as_slice()),
            None => ("/bin/sh", &shell[..]),
        };
        let mut command = Command::new(program);
        let piped = Stdio::piped;
        command
            .args(args)
            .envs(variables.iter().cloned())
            .stdin(piped())
            .stdout(piped())
            .stderr(piped())
            .spawn()
            .ok()
    }
}

/// Reads an answer: JSON, or text.
fn read(stdout: &str, answer: &mut HookAnswer) {
    let Ok(json) = serde_json::from_str::<Value>(stdout) else {
        answer.text.push_str(stdout);
        return;
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let specific = &json["hookSpecificOutput"];
    answer.is_question |= specific["permissionDecision"] == "ask";
    answer.notices.extend(text(&json["systemMessage"]));
    let is_refusal = json["decision"] == "block"
        || specific["permissionDecision"] == "deny"
        // There is no user to ask.
        || answer.is_question;
    if is_refusal {
        let reason = text(&json["reason"]).or_else(|| text(&specific["permissionDecisionReason"]));
        answer.refusal = Some(reason.unwrap_or_default());
    }
    answer.contexts.extend(text(&specific["additionalContext"]));
    let field = |name: &str| specific.get(name).cloned();
    answer.input = field("updatedInput").or_else(|| answer.input.take());
    answer.output = field("updatedToolOutput").or_else(|| answer.output.take());
}

/// Returns the elements of a list.
pub(super) fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
