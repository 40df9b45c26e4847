//! The names that other agents use for Tenter's tools (R20). Hooks are written for the names of one agent; with this table, a
//! matcher for `Shell` or `WriteFile` also matches `bash` and `file_write`.
//!
//! Inputs are not translated: a hook reads the fields of Tenter's tools.

use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

use tenter_shell::PathOp;

use crate::patch::Patch;
use crate::tool_effects::{ToolEffects, last_segment, tool_effects};
use crate::{Object, ToolCall};

/// A tool of Tenter and its aliases in other agents.
struct Names {
    own: &'static str,
    /// Names in other agents. If several match, a payload contains the first.
    aliases: &'static [&'static str],
}

const FILE_EDIT: &str = "file_edit";
const FILE_WRITE: &str = "file_write";

/// Every tool with aliases. Names are case-sensitive.
const TABLE: [Names; 9] = [
    Names {
        own: "bash",
        aliases: tenter_base::words!(
            "Bash Shell shell run_shell_command run_terminal_cmd run_in_terminal execute_command
             run_command exec_command local_shell Execute run_commands developer__shell"
        ),
    },
    Names {
        own: "file_read",
        aliases: &["Read", "ReadFile", "read_file", "readFile", "read", "view", "view_file"],
    },
    Names {
        own: FILE_WRITE,
        aliases: tenter_base::words!(
            "Write WriteFile write_file writeFile write create_file createFile write_to_file
             Create create"
        ),
    },
    Names {
        own: FILE_EDIT,
        aliases: tenter_base::words!(
            "Edit EditFile StrReplaceFile MultiEdit edit_file editFile edit replace str_replace
             replace_in_file replace_string_in_file apply_patch editor NotebookEdit"
        ),
    },
    Names {
        own: "grep",
        aliases: tenter_base::words!(
            "Grep grep_tool grep_search search_file_content search_files Search"
        ),
    },
    Names { own: "glob", aliases: &["Glob", "glob_tool", "file_search", "find_files"] },
    Names {
        own: "todo",
        aliases: tenter_base::words!(
            "TodoWrite SetTodoList todo_write todowrite write_todos update_plan TodoRead todo_read"
        ),
    },
    Names {
        own: "subagent",
        aliases: &["Task", "Agent", "task", "agent", "invoke_agent", "spawn_agent"],
    },
    Names { own: "skill", aliases: &["Skill", "use_skill", "activate_skill", "load_skill"] },
];

/// Returns every spelling of the tool `name`: its own name, then its aliases. A tool that is not Tenter's has no aliases.
pub fn spellings(name: &str) -> impl Iterator<Item = &str> {
    let row = TABLE.iter().find(|row| row.own == name);
    iter::once(name).chain(row.into_iter().flat_map(|row| row.aliases).copied())
}

/// Returns the tool of Tenter with this name or alias.
pub fn canonical(spelling: &str) -> Option<&'static str> {
    TABLE
        .iter()
        .find(|row| row.own == spelling || row.aliases.contains(&spelling))
        .map(|row| row.own)
}

/// Returns true if a tool of this name runs text for a shell that is not like bash.
pub fn is_other_shell(name: &str) -> bool {
    ["powershell", "pwsh", "cmd"].iter().any(|shell| name.eq_ignore_ascii_case(shell))
}

/// Returns true if a tool of this name runs text for PowerShell.
pub fn is_powershell(name: &str) -> bool {
    is_other_shell(name) && !name.eq_ignore_ascii_case("cmd")
}

/// Returns Tenter's tool that an unknown tool seems to be: by its name after a namespace, else by the fields of its input. Tools of
/// MCP servers and other shells than bash seem to be none (B51).
fn similar_tool(name: &str, input: &Object) -> Option<&'static str> {
    let own_name = last_segment(name);
    if name.starts_with("mcp__") || is_other_shell(own_name) {
        return None;
    }
    canonical(own_name).or_else(|| {
        let ToolEffects { scripts, paths, .. } = tool_effects(name, input);
        let has = |reads: fn(PathOp) -> bool| paths.iter().any(|path| reads(path.op));
        match () {
            () if !scripts.is_empty() => Some("bash"),
            () if has(PathOp::changes) => Some("file_write"),
            () if has(|op| op == PathOp::Read) => Some("file_read"),
            () => None,
        }
    })
}

/// The names that the tools of an agent go by: the table above, and what an embedder adds for tools of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames(Arc<BTreeMap<String, String>>);

impl ToolNames {
    /// Returns the same names, and the agent's tool `name` for Tenter's tool `standard` (or any other name of it).
    #[must_use]
    pub fn with_alias(mut self, name: impl Into<String>, standard: impl Into<String>) -> Self {
        let standard = standard.into();
        let standard = canonical(&standard).map_or(standard, str::to_owned);
        Arc::make_mut(&mut self.0).insert(name.into(), standard);
        self
    }

    /// Returns Tenter's tool that the agent's tool `name` stands for; `name` itself if it stands for no other.
    pub fn standard<'n>(&'n self, name: &'n str) -> &'n str {
        self.0.get(name).map_or(name, String::as_str)
    }

    /// Returns every spelling of the agent's tool `name`, its own first.
    pub fn spellings<'n>(&'n self, name: &'n str) -> impl Iterator<Item = &'n str> {
        let standard = self.standard(name);
        iter::once(name).chain(spellings(standard).filter(move |spelling| *spelling != name))
    }

    /// Returns every spelling of the tool of `call`, its own first. A patch that may add a file is also a call of `file_write` (B10),
    /// and an unknown tool is also the one that its input shows it to be (B51).
    pub fn spellings_of<'n>(&'n self, call: &'n ToolCall) -> impl Iterator<Item = &'n str> {
        let writes = self.adds_file(call).then_some(FILE_WRITE);
        let others = writes.into_iter().chain(self.similar_tool(call));
        self.spellings(&call.name).chain(others.flat_map(spellings))
    }

    /// Returns the tool of Tenter that the input of an unknown tool shows it to be; `None` if the tool is known.
    pub fn similar_tool(&self, call: &ToolCall) -> Option<&'static str> {
        match canonical(self.standard(&call.name)) {
            Some(_) => None,
            None => similar_tool(&call.name, &call.input),
        }
    }

    /// Returns true if `call` is a `file_edit` by a patch that may add a file.
    pub fn adds_file(&self, call: &ToolCall) -> bool {
        self.standard(&call.name) == FILE_EDIT
            && Patch::from_input(&call.input).is_some_and(|patch| patch.may_add_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn spellings_are_unique() {
        let mut names = BTreeSet::new();
        for spelling in TABLE.iter().flat_map(|row| spellings(row.own)) {
            assert!(names.insert(spelling), "{spelling} is listed twice");
        }
    }

    #[test]
    fn every_spelling_resolves_to_its_tool() {
        for row in &TABLE {
            assert_eq!(spellings(row.own).next(), Some(row.own));
            for spelling in spellings(row.own) {
                assert_eq!(canonical(spelling), Some(row.own), "{spelling}");
            }
        }
    }

    #[test]
    fn names_of_the_specification_resolve() {
        assert_eq!(canonical("Shell"), Some("bash"));
        assert_eq!(canonical("WriteFile"), Some("file_write"));
        assert_eq!(canonical("ReadFile"), Some("file_read"));
    }

    #[test]
    fn a_tool_with_an_alias_has_every_name_of_the_aliased_tool() {
        let names = ToolNames::default().with_alias("run", "Bash").with_alias("Edit", "file_edit");
        let first = |name| names.spellings(name).take(3).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(first("run"), ["run", "bash", "Bash"]);
        assert_eq!(first("Edit"), ["Edit", "file_edit", "EditFile"]);
        assert_eq!(first("other"), ["other"]);
        assert_eq!((names.standard("run"), names.standard("other")), ("bash", "other"));
        assert_eq!(first("bash"), ["bash", "Bash", "Shell"]);
    }

    #[test]
    fn a_patch_that_adds_a_file_also_has_the_names_of_file_write() {
        let has_write = |tool: &str, header: &str| {
            let patch = format!("*** Begin Patch\n{header}: a\n*** End Patch").into();
            let call = ToolCall::new("1", tool, [("patch".to_owned(), patch)]);
            ToolNames::default().spellings_of(&call).any(|name| name == "Write")
        };
        assert!(has_write("file_edit", "*** Add File"));
        assert!(!has_write("file_edit", "*** Delete File"));
        assert!(!has_write("bash", "*** Add File"));
    }

    #[test]
    fn an_unknown_tool_has_the_names_of_the_tool_that_its_input_shows() {
        let has = |tool: &str, field: &str, name: &str| {
            let call = ToolCall::new("1", tool, [(field.to_owned(), "a".into())]);
            let names = ToolNames::default();
            assert_eq!(names.spellings_of(&call).next(), Some(tool));
            names.spellings_of(&call).any(|spelling| spelling == name)
        };
        assert!(has("system.exec2", "command", "Bash"));
        assert!(has("save_text", "path", "Write"));
        assert!(has("change", "path", "Write"), "without a word that says so, it may write");
        assert!(has("view_image", "path", "Read"));
        assert!(has("ns.run_command", "cmdline", "Bash"), "a known name after a namespace");
        assert!(!has("view_image", "path", "Write"));
        assert!(
            !has("mcp__server__exec2", "command", "Bash"),
            "tools of servers have names of their own"
        );
        assert!(!has("PowerShell", "command", "Bash"));
        assert!(!has("list_things", "path", "Read"));
        assert!(!has("Write", "command", "Bash"), "a known tool is what its name says");
    }

    #[test]
    fn other_tools_have_no_aliases() {
        assert_eq!(spellings("PowerShell").collect::<Vec<_>>(), ["PowerShell"]);
        assert_eq!(canonical("PowerShell"), None);
        assert_eq!(canonical("BASH"), None);
    }
}
