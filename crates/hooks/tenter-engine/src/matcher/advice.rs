//! Diagnostics for the author of a matcher: whether its expressions are valid, and whether they mean something else than
//! what was probably intended. Authors often expect globs or the permission rules of other agents.

use regex_syntax::ast::{Ast, GroupKind, parse};
use tenter_protocol::manifest::format::Advice;

use super::expression;

/// Checks a matcher's `tool`.
///
/// # Errors
/// It is invalid, or it is a permission rule and not an expression.
pub fn check_tool(text: &str) -> Result<Option<Advice>, Advice> {
    if let Some(rule) = permission_rule(text) {
        return Err(rule);
    }
    let result = expression::check(text).map_err(|advice| match text {
        "*" => advise(&advice.message, "remove `tool`: the hook then applies to every tool"),
        _ => advice,
    })?;
    Ok(result.or_else(|| meant_otherwise(text)).or_else(|| never_a_name(text)))
}

/// Checks a matcher's `pattern`.
///
/// # Errors
/// The reason why it is invalid.
pub fn check_pattern(text: &str) -> Result<Option<Advice>, Advice> {
    Ok(expression::check(text)?.or_else(|| meant_otherwise(text)))
}

fn advise(message: &str, help: &str) -> Advice {
    Advice { message: message.to_owned(), help: help.to_owned() }
}

/// Advises on `Bash(rm:*)` and the like: as an expression it means the name `Bashrm:`, which no tool has.
fn permission_rule(text: &str) -> Option<Advice> {
    let (tool, rule) = text.strip_suffix(')')?.split_once('(')?;
    let is_name = !tool.is_empty() && tool.bytes().all(|byte| byte.is_ascii_alphanumeric());
    // No tool's name contains any of these.
    if !is_name || !rule.contains([':', '/', '~', ' ']) {
        return None;
    }
    let words = rule.trim_end_matches(['*', ':', ' ']).replace(':', " ");
    let help = format!(
        "write `tool: '^{tool}$'`, and `pattern: '{}'` for what its input must contain",
        regex_syntax::escape(&words)
    );
    Some(advise("it is a permission rule, and `matcher.tool` is a regular expression", &help))
}

/// Advises on characters that no tool's name contains.
fn never_a_name(text: &str) -> Option<Advice> {
    let (message, help) = if text.contains(',') && !text.contains('{') {
        (
            "no tool's name has a comma, so this matches none",
            "write `|` between names: `Edit|Write`",
        )
    } else if text.contains(' ') {
        ("no tool's name has a space, so a part of this matches none", "remove the spaces")
    } else {
        return None;
    };
    Some(advise(message, help))
}

/// Advises on valid expressions with an unexpected meaning.
fn meant_otherwise(text: &str) -> Option<Advice> {
    let ast = parse::Parser::new().parse(text).ok()?;
    if let Ast::Alternation(alternation) = &ast
        && alternation.asts.iter().any(is_empty)
    {
        let message = "an alternative is empty, so this matches everything";
        return Some(advise(message, "remove the `|` without an alternative next to it"));
    }
    has_empty_group(&ast).then(|| {
        let message = "`()` is an empty group: the parentheses are not searched for";
        advise(message, r"write `\(\)` for parentheses")
    })
}

fn is_empty(ast: &Ast) -> bool {
    matches!(ast, Ast::Empty(_))
}

fn has_empty_group(ast: &Ast) -> bool {
    let parts = match ast {
        Ast::Concat(concat) => &concat.asts,
        Ast::Alternation(alternation) => &alternation.asts,
        _ => std::slice::from_ref(ast),
    };
    parts.iter().any(|part| match part {
        Ast::Group(group) => {
            matches!(group.kind, GroupKind::CaptureIndex(_)) && is_empty(&group.ast)
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool_error(text: &str) -> (String, String) {
        let Advice { message, help } = check_tool(text).unwrap_err();
        (message, help)
    }

    fn remark(result: Result<Option<Advice>, Advice>) -> String {
        let Advice { message, help } = result.unwrap().unwrap();
        format!("{message} | {help}")
    }

    #[test]
    fn a_star_alone_is_advised_against() {
        let (message, help) = tool_error("*");
        assert_eq!(
            message,
            "it is not a regular expression: `*` has nothing before it to repeat (at character 1)"
        );
        assert_eq!(help, "remove `tool`: the hook then applies to every tool");
        assert_eq!(
            check_pattern("*.py").unwrap_err().help,
            r"write `.*` for any text, or a backslash before a character that is meant as itself"
        );
    }

    #[test]
    fn a_permission_rule_gets_a_suggestion() {
        for (rule, help) in [
            (
                "Bash(rm:*)",
                "write `tool: '^Bash$'`, and `pattern: 'rm'` for what its input must contain",
            ),
            (
                "Bash(git push:*)",
                "write `tool: '^Bash$'`, and `pattern: 'git push'` for what its input must contain",
            ),
            (
                "Read(./.env)",
                r"write `tool: '^Read$'`, and `pattern: '\./\.env'` for what its input must contain",
            ),
        ] {
            assert_eq!(tool_error(rule).1, help, "{rule}");
        }
        for expression in ["Bash(Output)", "Bash(Output|Kill)", "mcp__(a|b)__.*", "(Edit|Write)"] {
            assert_eq!(check_tool(expression), Ok(None), "{expression}");
        }
    }

    #[test]
    fn an_empty_alternative_matches_everything_and_is_reported() {
        for text in ["Edit|Write|", "|Edit", "Edit||Write"] {
            assert!(remark(check_tool(text)).starts_with("an alternative is empty"), "{text}");
            assert!(remark(check_pattern(text)).starts_with("an alternative is empty"), "{text}");
        }
        assert_eq!(check_pattern("git( push|)$"), Ok(None));
    }

    #[test]
    fn names_with_commas_or_spaces_match_no_tool() {
        assert!(remark(check_tool("Edit,Write")).contains("comma"));
        assert!(remark(check_tool("Edit | Write")).contains("space"));
        assert_eq!(check_tool("[a-z]{1,2}"), Ok(None));
        assert_eq!(check_pattern("a, b"), Ok(None));
    }

    #[test]
    fn an_empty_group_is_reported() {
        assert_eq!(
            remark(check_pattern("main() x")),
            r"`()` is an empty group: the parentheses are not searched for | write `\(\)` for parentheses"
        );
        assert_eq!(check_pattern(r"main\(\) {"), Ok(None));
    }
}
