//! Rules of Copilot CLI: only options such as `--deny-tool 'shell(git push:*)'`.

use super::{Effect, Places, RuleCheck, RuleMaker, UserRule, UserRules, command_line};

const DENIES: &str = "--deny-tool";

impl RuleCheck {
    pub(crate) const COPILOT: Self = Self {
        checks: super::Checks::Rewritten,
        where_read: "Its rules are options of its command line (`--deny-tool`), which Tenter reads on Linux only. A hook's `allow` hides a call from them, too.",
        read,
    };
}

fn read(_: &Places) -> UserRules {
    let options = command_line::host_options(&[DENIES]);
    let values = options.iter().flat_map(|option| &option.values);
    UserRules::strictest(values.flat_map(|value| value.split(", ")).map(rule).collect())
}

/// Reads a permission pattern: `shell(git:*)`, `write(PATH)`, `SERVER(TOOL)`.
fn rule(pattern: &str) -> UserRule {
    let maker = RuleMaker::new("the command line");
    let (kind, argument) = match pattern.split_once('(') {
        Some((kind, rest)) => (kind, rest.trim_end_matches(')')),
        None => (pattern, ""),
    };
    let claude = |tool: &str| match argument {
        "" => maker.claude(Effect::Deny, tool),
        argument => maker.claude(Effect::Deny, &format!("{tool}({argument})")),
    };
    match kind {
        // Without a wildcard it is a program with any arguments, or one and its subcommand.
        "shell" if !argument.is_empty() && !argument.contains('*') => {
            maker.claude(Effect::Deny, &format!("Bash({argument}:*)"))
        }
        "shell" => claude("Bash"),
        "write" => claude("Edit"),
        _ => maker.unknown(pattern, Some("(?:web_?fetch|mcp__.*|.*-.*)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_rules() {
        for (pattern, description) in [
            ("shell(git push)", "`Bash(git push:*)` of the command line"),
            ("shell(git:*)", "`Bash(git:*)` of the command line"),
            ("shell", "`Bash` of the command line"),
            ("write(.env)", "`Edit(.env)` of the command line"),
            ("server(tool)", "`server(tool)` of the command line, which Tenter cannot read"),
        ] {
            assert_eq!(rule(pattern).describe(), description);
        }
    }
}
