//! Comma-separated values (RFC 4180).

/// Returns a line with these cells. A cell that a spreadsheet would take for a formula begins with an apostrophe.
pub fn line<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

fn cell(text: &str) -> String {
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    let is_plain = !text.contains(['"', ',', '\n', '\r']);
    if is_plain {
        return format!("{mark}{text}");
    }
    format!("\"{mark}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        let text = line(["a", "b, \"c\"", "d\ne", "=HYPERLINK(1)", ""]);
        assert_eq!(text, "a,\"b, \"\"c\"\"\",\"d\ne\",'=HYPERLINK(1),\r\n");
    }
}
