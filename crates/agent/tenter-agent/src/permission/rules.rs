//! The rules of a session, their sources, and the calls that they allow.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tenter_base::lock;
use tenter_protocol::ToolCall;
use tenter_protocol::facts::CallFacts;

use super::command_line::CommandLine;
use super::{Rule, proposal};
use crate::tools::Workspace;

/// The source of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSource {
    /// A flag.
    Flag,
    /// The user's configuration.
    Configuration,
    /// The project's file.
    ProjectFile,
    /// An answer of the user, kept for the project.
    Project,
}

impl fmt::Display for RuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "--allow",
            Self::Configuration => "config.toml",
            Self::ProjectFile => "tenter.toml",
            Self::Project => "this project",
        })
    }
}

/// Stores the rules of a project.
pub trait RuleStore: Send + Sync {
    /// Adds rules.
    ///
    /// # Errors
    /// They cannot be stored.
    fn add(&self, rules: &[Rule]) -> Result<(), String>;

    /// Removes a rule.
    ///
    /// # Errors
    /// It cannot be removed.
    fn remove(&self, rule: &Rule) -> Result<(), String>;
}

/// The rules of a session. Clones share them.
#[derive(Clone, Default)]
pub struct Rules {
    rules: Arc<Mutex<Vec<(Rule, RuleSource)>>>,
    store: Option<Arc<dyn RuleStore>>,
}

/// A call as rules see it.
#[derive(Clone, Copy)]
pub(crate) struct CallContext<'c> {
    pub(crate) call: &'c ToolCall,
    /// The real path of the file that it changes, if it is a call of a file tool.
    pub(crate) file: Option<&'c Path>,
    pub(crate) facts: &'c CallFacts,
    pub(crate) workspace: &'c Workspace,
}

impl Rules {
    /// Creates the rules of a session; `store` stores the rules that the user adds.
    pub fn new(rules: Vec<(Rule, RuleSource)>, store: Option<Arc<dyn RuleStore>>) -> Self {
        Self { rules: Arc::new(Mutex::new(rules)), store }
    }

    /// Returns every rule with its source.
    pub fn list(&self) -> Vec<(Rule, RuleSource)> {
        lock(&self.rules).clone()
    }

    /// Adds rules to the session, and stores them for the project.
    ///
    /// # Errors
    /// They cannot be stored, and apply in this session only.
    pub fn add(&self, new_rules: &[Rule]) -> Result<(), String> {
        let mut rules = lock(&self.rules);
        for rule in new_rules {
            if !rules.contains(&(rule.clone(), RuleSource::Project)) {
                rules.push((rule.clone(), RuleSource::Project));
            }
        }
        drop(rules);
        self.store.as_ref().map_or(Ok(()), |store| store.add(new_rules))
    }

    /// Removes a rule of the project.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self, rule: &Rule) -> Result<(), String> {
        let project_rule = (rule.clone(), RuleSource::Project);
        if !lock(&self.rules).contains(&project_rule) {
            return Err(match lock(&self.rules).iter().find(|(other, _)| other == rule) {
                Some((_, source)) => format!("{rule} comes from {source}"),
                None => format!("there is no rule {rule}"),
            });
        }
        self.store.as_ref().map_or(Ok(()), |store| store.remove(rule))?;
        lock(&self.rules).retain(|rule| *rule != project_rule);
        Ok(())
    }

    /// Returns the rules that together allow a call; `None` if they do not.
    pub(crate) fn allowing(&self, context: CallContext<'_>) -> Option<Vec<String>> {
        let rules = lock(&self.rules);
        let tool = context.call.name.as_str();
        if let Some((rule, _)) = rules.iter().find(|(rule, _)| rule.allows_every(tool)) {
            return Some(vec![rule.to_string()]);
        }
        if let Some(file) = context.file {
            return Some(vec![find_for_file(&rules, tool, file, context.workspace.project())?]);
        }
        let line = command_line(context)?;
        let project = context.workspace.project();
        let mut keys: Vec<String> = Vec::new();
        let commands = line.commands.iter().map(|command| {
            let mut rules = rules.iter().map(|(rule, _)| rule);
            rules.find(|rule| rule.allows_command(command, project)).map(Rule::to_string)
        });
        let writes = line.writes.iter().map(|file| {
            let may_change = context.workspace.may_change(file);
            find_for_file(&rules, "file_write", file, project).filter(|_| may_change)
        });
        for rule in commands.chain(writes) {
            let rule = rule?;
            if !keys.contains(&rule) {
                keys.push(rule);
            }
        }
        Some(keys)
    }

    /// Returns the rules to offer to the user that would allow a call; none if there are no such rules.
    pub(crate) fn proposed(&self, context: CallContext<'_>) -> Vec<Rule> {
        let tool = context.call.name.as_str();
        let project = context.workspace.project();
        if tool.starts_with("mcp__") {
            return proposal::propose_for_mcp(context.call, context.facts).into_iter().collect();
        }
        if let Some(file) = context.file {
            return proposal::propose_for_file(tool, file, project).into_iter().collect();
        }
        let Some(line) = command_line(context).filter(|line| line.writes.is_empty()) else {
            return Vec::new();
        };
        let rules = lock(&self.rules);
        let is_new = |command: &&super::command_line::RunCommand| {
            !rules.iter().any(|(rule, _)| rule.allows_command(command, project))
        };
        proposal::propose_for_commands(line.commands.iter().filter(is_new), project)
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list()).finish()
    }
}

fn find_for_file(
    rules: &[(Rule, RuleSource)],
    tool: &str,
    file: &Path,
    project: &Path,
) -> Option<String> {
    let mut rules = rules.iter().map(|(rule, _)| rule);
    rules.find(|rule| rule.allows_file(tool, file, project)).map(Rule::to_string)
}

/// Returns whether a call is a command line that only reads: all its words are literal, and the table of known uses says so of each
/// program with these arguments. Everything that it reads in files is accessible.
pub(super) fn only_reads(context: CallContext<'_>) -> bool {
    command_line(context).is_some_and(|line| line.only_reads())
}

fn command_line(context: CallContext<'_>) -> Option<CommandLine> {
    let CallContext { call, facts, workspace, .. } = context;
    let text = call.input.get("command").and_then(Value::as_str).filter(|_| call.name == "bash")?;
    CommandLine::read(text, facts, workspace)
}

#[cfg(test)]
pub(super) mod testing {
    use serde_json::Value;
    use tenter_engine::inspect::CallSurroundings;
    use tenter_protocol::{Body, ToolCall};

    use super::CallContext;
    use crate::tools::testing::Bench;

    /// Returns the result of `decide` for a call in the project of `bench`.
    #[expect(clippy::needless_pass_by_value, reason = "so that a call reads as one line")]
    pub(in crate::permission) fn with<T>(
        bench: &Bench,
        tool: &str,
        input: serde_json::Value,
        decide: impl FnOnce(CallContext<'_>) -> T,
    ) -> T {
        let call = ToolCall::new("1", tool, input.as_object().unwrap().clone());
        let project = bench.workspace.project();
        let body = Body::BeforeTool(call.clone());
        let facts = CallSurroundings::new(project).facts(&body, None, project).facts.call;
        let file = call.input.get("file_path").and_then(Value::as_str);
        let file = file.and_then(|file| bench.workspace.resolve_to_read(file).ok());
        let workspace = &bench.workspace;
        decide(CallContext { call: &call, file: file.as_deref(), facts: &facts, workspace })
    }
}

#[cfg(test)]
mod tests;
