//! `${NAME}` and `${NAME:-default}` in the settings of servers.

use std::ffi::OsStr;

use tenter_engine::inspect::Environment;

/// Returns `text` with the values of these variables.
///
/// # Errors
/// A variable is not set and has no default, its value is not UTF-8, or a `${` is not closed.
pub(super) fn expand(text: &str, variables: &Environment) -> Result<String, String> {
    let mut output = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inner, after)) = after.split_once('}') else {
            return Err(format!("a ${{ has no closing brace in {text:?}"));
        };
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        output.push_str(before);
        match (value(name, variables), default) {
            (Some(value), _) => {
                let text =
                    value.to_str().ok_or_else(|| format!("the variable {name} is not UTF-8"))?;
                output.push_str(text);
            }
            (None, Some(default)) => output.push_str(default),
            (None, None) => {
                return Err(format!(
                    "the variable {name} is not set, or it holds a model key and is not in `pass_env`"
                ));
            }
        }
        rest = after;
    }
    output.push_str(rest);
    Ok(output)
}

fn value<'v>(name: &str, variables: &'v Environment) -> Option<&'v OsStr> {
    let (_, value) = variables.iter().rfind(|(one, _)| one == name)?;
    Some(value.as_os_str()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_defaults_are_filled_in() {
        let variables: Environment = vec![("A".into(), "one".into()), ("EMPTY".into(), "".into())];
        let expand = |text| expand(text, &variables);
        assert_eq!(expand("no variable, $A and a }").unwrap(), "no variable, $A and a }");
        assert_eq!(expand("${A}/${B:-two}/${EMPTY:-three}").unwrap(), "one/two/three");
        assert_eq!(expand("${B:-}").unwrap(), "");
        assert!(expand("${B}").unwrap_err().contains("the variable B is not set"));
        assert!(expand("x${A").unwrap_err().contains("no closing brace"));
    }
}
