//! The decision of hooks about a tool call, as far as that is known without running them: rules and static actions decide, scripts do not.

use serde::Serialize;
use tenter_base::{one_line, visible};
use tenter_engine::inspect::{
    Catalog, ConsideredHook, Hook, HookFacts, Selection, SelectionSubject,
};
use tenter_protocol::reply::VerdictKind;
use tenter_terminal::{BAD, GOOD, NAME, NOTICE, styled};

/// Characters of a reason that are shown.
const SHOWN: usize = 300;

/// A decision about a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CallDecision {
    /// No hook stops it.
    #[default]
    Pass,
    /// A hook confines it: it runs with fewer rights.
    Confine,
    /// A hook asks the user.
    Ask,
    /// A hook denies it.
    Deny,
}

/// The common decision of all hooks about a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct CallVerdict {
    pub(super) decision: CallDecision,
    /// The hook that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hook: Option<String>,
    /// Its rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The hooks that may decide otherwise when they run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<String>,
    /// Number of hooks that were considered.
    considered: usize,
    /// The hooks that were not, because they are not trusted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untrusted: Vec<String>,
}

/// The decision of one hook.
enum HookDecision {
    Decided {
        decision: CallDecision,
        rule: Option<String>,
        reason: Option<String>,
    },
    /// It is only known when the hook runs.
    Unknown,
    /// It never stops a call.
    Nothing,
}

impl CallDecision {
    /// Checks whether the call runs without a question.
    pub(super) fn lets_run(self) -> bool {
        self < Self::Ask
    }
}

impl CallVerdict {
    /// Returns the verdict of the hooks: the first denial, else the first question, else the first confinement.
    pub(super) fn new(considered: &[ConsideredHook<'_>], facts: &HookFacts) -> Self {
        let mut verdict = Self::default();
        for considered in considered {
            let (name, decision) = match considered.subject {
                SelectionSubject::Hook(hook) => {
                    verdict.considered += 1;
                    (&hook.name, decision(hook, &considered.selection, facts))
                }
                SelectionSubject::Missing(missing) => {
                    let reason = format!("it {}, and is set to fail closed", missing.why);
                    let decision = CallDecision::Deny;
                    let reason = Some(reason);
                    (&missing.name, HookDecision::Decided { decision, rule: None, reason })
                }
                _ => continue,
            };
            verdict.add(name, decision);
        }
        verdict
    }

    fn add(&mut self, name: &str, decision: HookDecision) {
        match decision {
            HookDecision::Decided { decision, rule, reason } if decision > self.decision => {
                self.decision = decision;
                self.hook = Some(name.to_owned());
                self.rule = rule;
                self.reason = reason;
            }
            HookDecision::Unknown => self.undecided.push(name.to_owned()),
            HookDecision::Decided { .. } | HookDecision::Nothing => {}
        }
    }

    /// Returns the verdict in one line.
    pub(super) fn line(&self) -> String {
        let word = match self.decision {
            CallDecision::Pass => return self.pass(),
            CallDecision::Confine => styled(NOTICE, "confined"),
            CallDecision::Ask => styled(NOTICE, "asked about"),
            CallDecision::Deny => styled(BAD, "denied"),
        };
        let hook = styled(NAME, visible(self.hook.as_deref().unwrap_or_default()));
        let rule = self.rule.as_deref().map(|rule| match rule.strip_prefix("rule ") {
            // A rule without a name is called by its number.
            Some(number) => format!(", rule {}", visible(number)),
            None => format!(", rule {}", visible(rule)),
        });
        let reason = self.reason.as_deref().map(|reason| format!(": {}", one_line(reason, SHOWN)));
        let undecided = self.undecided().filter(|_| self.decision == CallDecision::Confine);
        let undecided = undecided.map(|names| format!(" ({names} may stop it)"));
        let tail = [rule, reason, undecided].map(Option::unwrap_or_default).concat();
        format!("{word} by {hook}{tail}")
    }

    /// Returns the names of the hooks that may decide otherwise.
    fn undecided(&self) -> Option<String> {
        let names = self.undecided.join(", ");
        (!names.is_empty()).then(|| visible(&names).into_owned())
    }

    /// Adds the hooks that are not trusted.
    pub(super) fn with_untrusted(self, catalog: &Catalog) -> Self {
        let names = catalog.untrusted().iter().map(|hook| hook.name.clone()).collect();
        Self { untrusted: names, ..self }
    }

    fn pass(&self) -> String {
        let pass = styled(GOOD, "passes");
        if self.considered == 0 && !self.untrusted.is_empty() {
            return format!("{pass}: the hooks here are not trusted, so they do not run");
        }
        if self.considered == 0 {
            return format!("{pass}: there are no hooks; `tenter guard add git-safety` adds one");
        }
        match self.undecided() {
            None => format!("{pass}: no hook stops it"),
            Some(names) => {
                format!("{pass}, unless {names} stops it: only a run of the hook shows that")
            }
        }
    }
}

/// Returns the decision of a hook, which is not run.
fn decision(hook: &Hook, selection: &Selection, facts: &HookFacts) -> HookDecision {
    match selection {
        Selection::Runs { .. } if !hook.policy.asynchronous => {}
        Selection::Undecided(_) => return HookDecision::Unknown,
        _ => return HookDecision::Nothing,
    }
    let rules = hook.options.rules.as_ref();
    let judgement = rules.and_then(|rules| rules.judge(facts.for_hook(hook.outer.as_deref())));
    if let Some((judgement, verdict)) = judgement.and_then(|it| it.verdict.map(|kind| (it, kind))) {
        let decision = match verdict {
            VerdictKind::Deny => CallDecision::Deny,
            VerdictKind::Ask => CallDecision::Ask,
            VerdictKind::Confine => CallDecision::Confine,
            VerdictKind::Allow => return HookDecision::Nothing,
        };
        let (rule, reason) = (Some(judgement.fit.rule), judgement.reason);
        return HookDecision::Decided { decision, rule, reason };
    }
    let Some(action) = hook.static_action() else { return HookDecision::Unknown };
    let decision = match action.action() {
        "deny" => CallDecision::Deny,
        "ask" => CallDecision::Ask,
        _ => return HookDecision::Nothing,
    };
    if action.when().is_some() {
        return HookDecision::Unknown;
    }
    HookDecision::Decided { decision, rule: None, reason: None }
}
