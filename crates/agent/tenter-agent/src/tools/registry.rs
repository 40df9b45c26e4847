//! The set of tools that an agent has.

use std::fmt;
use std::sync::Arc;

use tenter_base::nearest;
use tenter_protocol::tool_names;

use super::allowed_commands::{AllowedCommands, Restricted};
use super::bash::BashTool;
use super::file_edit::FileEditTool;
use super::file_read::FileReadTool;
use super::file_write::FileWriteTool;
use super::glob::GlobTool;
use super::grep::GrepTool;
use super::source::{FilteredSource, SourcedTools, ToolSource};
use super::subagent::SubagentTool;
use super::todo::TodoTool;
use super::tool::Tool;

/// The tools of an agent, in the order in which the model sees them.
#[derive(Default, Clone)]
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
    /// The source of further tools while the agent works.
    source: Option<FilteredSource>,
}

impl Registry {
    /// Returns the tools of this module.
    pub fn standard() -> Self {
        let tools: Vec<Arc<dyn Tool>> = vec![
            Arc::new(BashTool),
            Arc::new(FileReadTool),
            Arc::new(FileWriteTool),
            Arc::new(FileEditTool),
            Arc::new(GrepTool),
            Arc::new(GlobTool),
            Arc::new(TodoTool),
            Arc::new(SubagentTool),
        ];
        Self { tools, source: None }
    }

    /// Adds the tools of `source`, which come and go while the agent works. They follow all others.
    #[must_use]
    pub fn with_source(self, source: Arc<dyn ToolSource>) -> Self {
        Self { source: Some(FilteredSource::new(source)), ..self }
    }

    /// Returns the source of further tools, if there is one.
    pub(crate) fn source(&self) -> Option<&FilteredSource> {
        self.source.as_ref()
    }

    /// Returns these tools and the `sourced` ones. A sourced tool never replaces another one.
    #[must_use]
    pub(crate) fn with_source_tools(&self, sourced: &SourcedTools) -> Self {
        let mut tools = self.tools.clone();
        let is_new = |tool: &&Arc<dyn Tool>| self.get(tool.name()).is_none();
        tools.extend(sourced.tools.iter().filter(is_new).cloned());
        Self { tools, source: self.source.clone() }
    }

    /// Adds a tool, replacing one of the same name.
    pub fn push(&mut self, tool: Arc<dyn Tool>) {
        self.tools.retain(|other| other.name() != tool.name());
        self.tools.push(tool);
    }

    /// Returns the tool called `name`.
    pub fn get(&self, name: &str) -> Option<&dyn Tool> {
        self.iter().find(|tool| tool.name() == name)
    }

    /// Returns all tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Tool> {
        self.tools.iter().map(AsRef::as_ref)
    }

    /// Keeps only the tools with these names, in the registry's order; none for an empty list (R33). Names from other
    /// agents are accepted (R20), and so are names and patterns of tools that the source may provide.
    ///
    /// # Errors
    /// When a name is unknown.
    pub fn restrict(mut self, allowlist: &[String]) -> Result<Self, UnknownTools> {
        let own = |name: &str| match self.get(name) {
            Some(tool) => Some(tool.name()),
            None => self.get(tool_names::canonical(name)?).map(Tool::name),
        };
        let (source_names, own_names): (Vec<&String>, Vec<&String>) = allowlist
            .iter()
            .partition(|name| self.source.as_ref().is_some_and(|source| source.may_provide(name)));
        let is_unknown = |name: &&&String| own(name).is_none();
        let unknown: Vec<String> =
            own_names.iter().filter(is_unknown).map(|name| (*name).clone()).collect();
        if !unknown.is_empty() {
            let existing = self.iter().map(|tool| tool.name().to_owned()).collect();
            return Err(UnknownTools { unknown, existing });
        }
        let names: Vec<String> =
            own_names.iter().filter_map(|name| own(name)).map(str::to_owned).collect();
        let source_names: Vec<String> = source_names.into_iter().cloned().collect();
        self.source = self.source.and_then(|source| source.restrict(source_names));
        self.tools.retain(|tool| names.iter().any(|name| name == tool.name()));
        Ok(self)
    }

    /// Restricts `bash` to these commands, and removes it if there are none. Earlier restrictions remain.
    #[must_use]
    pub fn with_commands(mut self, commands: &AllowedCommands) -> Self {
        let Some(position) = self.tools.iter().position(|tool| tool.name() == "bash") else {
            return self;
        };
        let tool = self.tools.remove(position);
        if !commands.is_empty() {
            let restricted = Restricted { tool, allowed: commands.clone() };
            self.tools.insert(position, Arc::new(restricted));
        }
        self
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(Tool::name)).finish()
    }
}

/// Unknown tool names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTools {
    /// The unknown names.
    pub unknown: Vec<String>,
    /// The existing names.
    pub existing: Vec<String>,
}

impl UnknownTools {
    /// Returns the tool that was probably meant by `name`.
    pub fn suggestion(&self, name: &str) -> Option<&str> {
        let names = || self.existing.iter().map(String::as_str).filter(|_| !name.is_empty());
        nearest(name, names())
            .or_else(|| names().find(|other| name.starts_with(other) || other.starts_with(name)))
    }
}

impl fmt::Display for UnknownTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.unknown {
            write!(f, "there is no tool {name:?}")?;
            if let Some(suggestion) = self.suggestion(name) {
                write!(f, " (did you mean {suggestion:?}?)")?;
            }
            f.write_str("; ")?;
        }
        write!(f, "the tools are {}", self.existing.join(", "))
    }
}

impl std::error::Error for UnknownTools {}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(registry: &Registry) -> Vec<&str> {
        registry.iter().map(Tool::name).collect()
    }

    fn restrict(names: &[&str]) -> Result<Registry, UnknownTools> {
        let commands: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Registry::standard().restrict(&commands)
    }

    #[test]
    fn the_standard_tools_are_found_by_name() {
        let registry = Registry::standard();
        assert_eq!(
            names(&registry),
            ["bash", "file_read", "file_write", "file_edit", "grep", "glob", "todo", "subagent"]
        );
        assert_eq!(registry.get("grep").map(Tool::name), Some("grep"));
        assert!(registry.get("Grep").is_none());
    }

    #[test]
    fn a_restriction_keeps_only_what_it_names() {
        assert_eq!(names(&restrict(&["grep", "bash"]).unwrap()), ["bash", "grep"]);
        assert_eq!(names(&restrict(&[]).unwrap()), Vec::<&str>::new());
    }

    #[test]
    fn a_restriction_accepts_names_from_other_agents() {
        assert_eq!(
            names(&restrict(&["Grep", "Shell", "Read"]).unwrap()),
            ["bash", "file_read", "grep"]
        );
        let without = restrict(&["grep"]).unwrap().restrict(&["Bash".to_owned()]);
        assert_eq!(without.unwrap_err().unknown, ["Bash"]);
    }

    #[test]
    fn all_unknown_names_are_reported_with_a_suggestion() {
        let error = restrict(&["bsah", "grep_tol", "quantum", "file_read"]).unwrap_err();
        assert_eq!(error.unknown, ["bsah", "grep_tol", "quantum"]);
        assert_eq!(error.suggestion("bsah"), Some("bash"));
        assert_eq!(error.suggestion("file_raed"), Some("file_read"));
        assert_eq!(error.suggestion("quantum"), None);
        let text = error.to_string();
        assert!(text.contains(r#"there is no tool "bsah" (did you mean "bash"?)"#), "{text}");
        assert!(
            text.contains(r#"there is no tool "quantum"; the tools are bash, file_read"#),
            "{text}"
        );
    }

    #[test]
    fn a_tool_of_the_same_name_is_replaced() {
        let mut registry = Registry::standard();
        registry.push(Arc::new(BashTool));
        assert_eq!(names(&registry).iter().filter(|name| **name == "bash").count(), 1);
    }
}
