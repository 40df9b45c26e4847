/// The example: the model does not get to read access keys.
fn answer(event: &str) -> Option<Answer> {
    // tool_output is the last field, and quotes inside of texts are escaped: this is the whole object.
    let (_, rest) = event.split_once("\"tool_output\": ")?;
    let output = rest.trim_end().strip_suffix('}')?;
    let redacted = without_keys(output);
    (redacted != output).then(|| Answer::Says(format!("{{\"modified_output\": {redacted}}}")))
}

/// `output` with every access key (AKIA and 16 capitals or digits) taken out.
fn without_keys(output: &str) -> String {
    let mut redacted = String::new();
    let mut rest = output;
    while let Some(at) = rest.find("AKIA") {
        redacted.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_of_key = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        let is_key = rest.len() >= 20 && rest.as_bytes()[..20].iter().all(is_of_key);
        redacted.push_str(if is_key { "[redacted]" } else { "AKIA" });
        rest = &rest[if is_key { 20 } else { 4 }..];
    }
    redacted + rest
}
