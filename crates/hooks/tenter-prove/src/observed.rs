//! Observations of a client: the files that it made, what its model read, and what Tenter's hooks saw.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tenter_base::excerpt;
use tenter_engine::DecisionKind;
use tenter_engine::journal::{Record, RecordKind};
use tenter_model_server::RecordedRequest;
use tenter_protocol::EventName;

use crate::process::FinishedProcess;
use crate::scenario::Scenario;

/// Maximum length of quoted text around a word, in characters.
const QUOTED: usize = 80;

/// All observations of a client.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// The scenarios that were carried out.
    pub(crate) runs: BTreeMap<Scenario, Run>,
}

/// The observations of one scenario.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// The reason why it could not be prepared.
    pub(crate) problem: Option<String>,
    /// The processes of the client.
    pub(crate) processes: Vec<Process>,
    /// The requests to the model.
    pub(crate) requests: Vec<RecordedRequest>,
    /// The names of the files in the project.
    pub(crate) files: BTreeSet<String>,
    /// The names of the files in the directory around the project.
    pub(crate) outside: BTreeSet<String>,
    /// The runs of hooks in the journal.
    pub(crate) journal: Vec<Record>,
}

/// The observations of one process.
#[derive(Debug)]
pub(crate) struct Process {
    /// Its end and its output.
    pub(crate) outcome: FinishedProcess,
    /// The payloads of Tenter's events in it, in their order.
    pub(crate) payloads: Vec<Value>,
}

/// A fact, and whether it is as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) holds: bool,
    pub(crate) text: String,
}

impl Fact {
    pub(crate) fn new(holds: bool, text: impl Into<String>) -> Self {
        Self { holds, text: text.into() }
    }
}

impl Run {
    /// States that the file exists.
    pub(crate) fn made(&self, file: &str) -> Fact {
        let is_made = self.files.contains(file);
        Fact::new(is_made, was_made(file, is_made))
    }

    /// States that the file does not exist.
    pub(crate) fn not_made(&self, file: &str) -> Fact {
        let is_made = self.files.contains(file);
        Fact::new(!is_made, was_made(file, is_made))
    }

    /// States that the file does not exist beside the project.
    pub(crate) fn not_made_outside(&self, file: &str) -> Fact {
        let is_made = self.outside.contains(file);
        Fact::new(!is_made, format!("outside of the project, {}", was_made(file, is_made)))
    }

    /// States that the model read a word that only a hook writes.
    pub(crate) fn read(&self, word: &str) -> Fact {
        let quote = self.requests.iter().enumerate().find_map(|(index, request)| {
            let text = request.text().into_iter().find(|text| text.contains(word))?;
            Some((index + 1, around(&text, word)))
        });
        match quote {
            Some((number, quote)) => {
                Fact::new(true, format!("the model read in request {number}: {quote}"))
            }
            None => Fact::new(false, format!("the model did not read {word}")),
        }
    }

    /// States that the model did not read a word.
    pub(crate) fn not_read(&self, word: &str) -> Fact {
        let result = self.read(word);
        Fact::new(!result.holds, result.text)
    }

    /// Quotes the last text that the model read, such as the result of a call.
    pub(crate) fn last_text(&self) -> Option<String> {
        let text = self.requests.last()?.text().pop()?;
        Some(format!("«{}»", excerpt::one_line(&text, QUOTED * 2)))
    }

    /// States that the output of the client contains a word that only a hook writes.
    pub(crate) fn shown(&self, word: &str) -> Fact {
        let mut outputs = self.processes.iter().map(|process| &process.outcome.output);
        match outputs.find(|output| output.contains(word)) {
            Some(output) => Fact::new(true, format!("the user read: {}", around(output, word))),
            None => Fact::new(false, format!("the output of the agent does not contain {word}")),
        }
    }

    /// States that a hook saw that a command changed the file.
    pub(crate) fn changed(&self, file: &str) -> Fact {
        let names = |payload: &Value| {
            let files = payload.pointer("/tool_output/metadata/changed/files");
            let files = files.and_then(Value::as_array).into_iter().flatten();
            files.filter_map(|file| file.get("path")?.as_str()).any(|path| path == file)
        };
        let is_seen = self.payloads(EventName::AfterTool).any(names);
        let is_truncated = |payload: &Value| {
            payload.pointer("/tool_output/metadata/changed/truncated") == Some(&Value::Bool(true))
        };
        if !is_seen && self.payloads(EventName::AfterTool).any(is_truncated) {
            return Fact::new(
                true,
                "the machine is too slow to say it in time, and hooks saw that",
            );
        }
        let did = if is_seen { "saw" } else { "did not see" };
        Fact::new(is_seen, format!("a hook {did} that {file} changed"))
    }

    /// States that the command with this output ended with this exit code; `None` if the agent shows hooks no exit code.
    pub(crate) fn ended_with(&self, output: &str, code: i64) -> Option<Fact> {
        let results = [EventName::AfterTool, EventName::AfterToolFailure];
        let mut metadata = results
            .into_iter()
            .flat_map(|event| self.payloads(event))
            .filter_map(|payload| payload.pointer("/tool_output/metadata"));
        let result = metadata.find(|one| {
            one.get("output").and_then(Value::as_str).is_some_and(|text| text.contains(output))
        })?;
        let exit_code = result.get("exitCode").and_then(Value::as_i64)?;
        Some(Fact::new(exit_code == code, format!("it ended with exit code {exit_code}")))
    }

    /// Returns the payloads of an event.
    pub(crate) fn payloads(&self, event: EventName) -> impl Iterator<Item = &Value> {
        let all = self.processes.iter().flat_map(|process| &process.payloads);
        all.filter(move |payload| is_of(payload, event))
    }

    /// Counts the calls that hooks saw before they ran and whose payload contains a word.
    pub(crate) fn calls_seen(&self, word: &str) -> usize {
        let payloads = self.payloads(EventName::BeforeTool);
        payloads.filter(|payload| payload.to_string().contains(word)).count()
    }

    /// Returns the input of a call of the main agent that hooks saw more than once before it ran.
    pub(crate) fn call_seen_twice(&self) -> Option<String> {
        let part = |payload: &Value, field: &str| payload.get(field).map(Value::to_string);
        let mut calls_so_far = BTreeSet::new();
        let calls = self.payloads(EventName::BeforeTool).map(|payload| {
            let id = part(payload, "tool_use_id");
            (part(payload, "session_id"), id, part(payload, "tool_input"))
        });
        calls.into_iter().find_map(|call| {
            let input = call.2.clone();
            (!calls_so_far.insert(call)).then(|| input.unwrap_or_default())
        })
    }

    /// States that the hook denied something, by the journal.
    pub(crate) fn denied_by(&self, hook: &str) -> Fact {
        let is_denied = self.journal.iter().any(|record| match &record.kind {
            RecordKind::Run(run) => run.hook == hook && run.decision == DecisionKind::Deny,
            RecordKind::Decision(decision) => {
                decision.by.as_deref() == Some(hook) && decision.decision == DecisionKind::Deny
            }
            RecordKind::Answer(answer) => answer.hook == hook && !answer.allowed,
            _ => false,
        });
        let did = if is_denied { "denied" } else { "did not deny" };
        Fact::new(is_denied, format!("the hook {hook} {did}"))
    }

    /// Returns the reason why the scenario was not carried out as it should be, with the last lines of the client's output.
    pub(crate) fn failure(&self) -> Option<String> {
        if let Some(problem) = &self.problem {
            return Some(problem.clone());
        }
        let failure = self.processes.iter().map(|process| &process.outcome).find_map(|process| {
            let output = process.last_lines();
            let end = if output.is_empty() { output } else { format!("; its output: {output}") };
            process.failure.as_ref().map(|failure| format!("{failure}{end}"))
        });
        let last = self.processes.last().filter(|_| self.requests.is_empty());
        failure.or_else(|| {
            let output = last?.outcome.last_lines();
            Some(format!("the agent sent its model no request; its output: {output}"))
        })
    }
}

/// Returns whether a payload is of an event.
pub(crate) fn is_of(payload: &Value, event: EventName) -> bool {
    payload.get("event_type").and_then(Value::as_str) == Some(event.as_str())
}

/// Returns the native event of a payload.
pub(crate) fn native_event(payload: &Value) -> Option<&str> {
    payload.pointer("/host/event")?.as_str()
}

fn was_made(file: &str, is_made: bool) -> String {
    format!("{file} was {}made", if is_made { "" } else { "not " })
}

/// Quotes a word with the text around it.
fn around(text: &str, word: &str) -> String {
    let Some(start) = text.find(word) else { return String::new() };
    let before: Vec<char> = text[..start].chars().rev().take(QUOTED / 2).collect();
    let before: String = before.into_iter().rev().collect();
    let rest: String = text[start..].chars().take(QUOTED).collect();
    format!("«{}»", excerpt::one_line(&(before + &rest), QUOTED * 2))
}
