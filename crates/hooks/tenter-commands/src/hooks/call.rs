//! Tool calls on the command line: a shell command, a file, or a tool with its input.

use std::path::Path;

use tenter_base::nearest;
use tenter_protocol::{Object, ToolCall, tool_fields, tool_names};
use tenter_terminal::Failure;

/// Tools with the field that each call of them has.
const REQUIRED: [(&str, &str); 6] = [
    ("bash", "command"),
    ("file_read", "file_path"),
    ("file_write", "file_path"),
    ("file_edit", "file_path"),
    ("grep", "pattern"),
    ("glob", "pattern"),
];

/// Returns the call that runs a shell command.
pub(super) fn command(text: &str) -> ToolCall {
    with_field("bash", "command", text)
}

/// Returns the call that reads a file.
pub(super) fn reading(file: &Path) -> ToolCall {
    with_field("file_read", "file_path", &file.to_string_lossy())
}

/// Returns the call that writes a file.
pub(super) fn writing(file: &Path) -> ToolCall {
    with_field("file_write", "file_path", &file.to_string_lossy())
}

fn with_field(name: &str, field: &str, text: &str) -> ToolCall {
    let input = [(field.to_owned(), text.into())].into_iter().collect();
    ToolCall { id: "call_1".to_owned(), name: name.to_owned(), input }
}

/// Returns the call of a tool, by any of its names. Without an input, it has no fields.
///
/// # Errors
/// The name or a field is probably misspelled, or the input is not a JSON object.
pub(super) fn build_call(name: &str, input: Option<&str>) -> Result<ToolCall, Failure> {
    let canonical = tool_names::canonical(name);
    if canonical.is_none()
        && let Some(near) = near_tool(name)
    {
        let failure = Failure::usage(format!("there is no known tool {name:?}"));
        return Err(failure.help(format!("did you mean `{near}`?")));
    }
    let name = canonical.unwrap_or(name);
    let has_input = input.is_some();
    let input = input.map_or(Ok(Object::new()), parse)?;
    // As in a run, hooks see the advertised names only (R63).
    let input = tool_fields::renamed(name, &input).map_err(Failure::usage)?;
    if has_input {
        check_fields(name, &input)?;
    }
    Ok(ToolCall { id: "call_1".to_owned(), name: name.to_owned(), input })
}

/// Returns the known tool that a name probably misspells. Tools of MCP servers have names of their own.
fn near_tool(name: &str) -> Option<&'static str> {
    let tools = REQUIRED.iter().map(|(tool, _)| *tool).chain(["todo", "subagent", "skill"]);
    let spellings = tools.flat_map(tool_names::spellings);
    nearest(name, spellings).filter(|_| !name.contains("__"))
}

/// Checks that a call of a known tool has the field that every call of it has.
fn check_fields(tool: &str, input: &Object) -> Result<(), Failure> {
    let Some((_, field)) = REQUIRED.iter().find(|(name, _)| *name == tool) else { return Ok(()) };
    let is_missing = !input.contains_key(*field) && !input.contains_key("notebook_path");
    // A patch names its files in its text.
    let is_patch = tool == "file_edit" && !input.contains_key("old_text");
    if !is_missing || is_patch {
        return Ok(());
    }
    let message = format!("the input of {tool} has no field {field:?}");
    let names: Vec<String> = input.keys().map(|name| format!("{name:?}")).collect();
    let help = format!("write {{{field:?}: …}} instead of {}", names.join(", "));
    Err(Failure::usage(message).help(help))
}

fn parse(text: &str) -> Result<Object, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure::usage(format!("the input is not a JSON object: {error}"))
            .help("write it as '{\"command\": \"ls\"}'")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(name: &str, input: &str) -> Option<String> {
        build_call(name, Some(input)).err().and_then(|failure| failure.help)
    }

    #[test]
    fn misspelled_tools_and_fields_are_errors() {
        assert_eq!(help("basj", "{}").as_deref(), Some("did you mean `bash`?"));
        let wrong = help("bash", r#"{"cmd": "ls"}"#);
        assert_eq!(wrong.as_deref(), Some(r#"write {"command": …} instead of "cmd""#));
        assert!(help("bash", "ls").is_some());
    }

    #[test]
    fn tools_have_any_of_their_names_and_unknown_ones_are_tools_of_others() {
        assert_eq!(build_call("Shell", Some(r#"{"command": "ls"}"#)).unwrap().name, "bash");
        assert_eq!(build_call("Read", Some(r#"{"path": "a"}"#)).unwrap().input["file_path"], "a");
        assert_eq!(build_call("mcp__db__query", Some("{}")).unwrap().name, "mcp__db__query");
    }
}
