//! The results of Gemini CLI's tools, whose form Qwen Code shares.

use serde_json::Value;

/// The result of a shell command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShellSections {
    /// The output of the command.
    pub(super) output: String,
    /// Its exit code, if the text has one.
    pub(super) exit_code: Option<i32>,
}

/// Returns the text of `llmContent`: a string, or parts.
pub(super) fn content_text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// Reads the sections of a command's result; `None` if the text has another form, such as for a command in the background.
///
/// Only the lines that the host writes after the output count, since the output may contain lines of the same form.
pub(super) fn shell_sections(text: &str) -> Option<ShellSections> {
    let text = match text.split_once("<untrusted_context>\n") {
        Some((_, rest)) => {
            rest.rsplit_once("\n</untrusted_context>").map_or(rest, |(body, _)| body)
        }
        None => text,
    };
    let text = match text.strip_prefix("Command: ") {
        Some(rest) => rest.split_once("\nDirectory: ")?.1.split_once('\n')?.1,
        None => text,
    };
    let mut rest = text.strip_prefix("Output: ")?;
    for label in ["Process Group PGID: ", "Background PIDs: ", "Signal: "] {
        rest = last_line(rest, label).map_or(rest, |(before, _)| before);
    }
    let exit_code = last_line(rest, "Exit Code: ");
    let rest = exit_code.map_or(rest, |(before, _)| before);
    let output = rest.strip_suffix("\nError: (none)").unwrap_or(rest);
    Some(ShellSections {
        output: if output == "(empty)" { String::new() } else { output.to_owned() },
        exit_code: exit_code.and_then(|(_, code)| code.parse().ok()),
    })
}

/// Splits off the last line, if it has this label. Returns the text before it and the rest of the line.
fn last_line<'t>(text: &'t str, label: &str) -> Option<(&'t str, &'t str)> {
    let (before, line) = text.rsplit_once('\n')?;
    Some((before, line.strip_prefix(label)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(text: &str) -> (String, Option<i32>) {
        let sections = shell_sections(text).unwrap();
        (sections.output, sections.exit_code)
    }

    #[test]
    fn the_exit_code_is_in_a_line_after_the_output() {
        let wrap = |text: &str| format!("<untrusted_context>\n{text}\n</untrusted_context>");
        let text = wrap("Output: out\noops\nExit Code: 3\nProcess Group PGID: 3765");
        assert_eq!(sections(&text), ("out\noops".to_owned(), Some(3)));
        let text = wrap("Output: Exit Code: 3\nmore\nProcess Group PGID: 3765");
        assert_eq!(sections(&text), ("Exit Code: 3\nmore".to_owned(), None));
        let text = format!("{}\n\n[System] changed by a hook", wrap("Output: (empty)"));
        assert_eq!(sections(&text), (String::new(), None));
    }

    #[test]
    fn the_older_form_names_every_section() {
        let text = "Command: x\nDirectory: (root)\nOutput: oops\nError: (none)\nExit Code: 3\nSignal: (none)\nProcess Group PGID: (none)";
        assert_eq!(sections(text), ("oops".to_owned(), Some(3)));
        let killed = text.replace("Code: 3", "Code: (none)");
        assert_eq!(sections(&killed), ("oops".to_owned(), None));
    }

    #[test]
    fn other_texts_have_no_sections() {
        assert_eq!(shell_sections("Command moved to background (PID: 7)."), None);
        assert_eq!(shell_sections("Command: x"), None);
        assert_eq!(shell_sections(""), None);
    }
}
