//! Permission rules of Claude Code as matchers (B38). A rule never becomes weaker without a remark: what a matcher cannot express
//! exactly matches more, and a remark says what.

/// The tool calls to which a rule applies, as parts of a manifest's matcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleMatcher {
    /// The expression for the name of the tool.
    pub(crate) tool: String,
    /// The expression for the input.
    pub(crate) pattern: Option<String>,
    /// The difference from the rule.
    pub(crate) remark: Option<&'static str>,
}

/// The text before a command: the start, an operator, a quote or a parenthesis, with variables and programs that run another program.
const COMMAND_START: &str = r#"(?:^|[\n;&|(){}`"'!]|\$\()\s*(?:[A-Za-z_]\w*=\S*\s+)*(?:(?:sudo|doas|command|builtin|exec|env|nohup|nice|time|timeout|stdbuf|setsid|xargs)\s+(?:-\S+\s+)*(?:\d\S*\s+)?(?:[A-Za-z_]\w*=\S*\s+)*)*"#;
/// The text after a command.
const COMMAND_END: &str = r#"\s*(?:$|[\n;&|(){}`"'<>#])"#;
/// The text after a word of a command.
const WORD_END: &str = r#"(?:$|[\s;&|(){}`"'<>])"#;
/// Any text of one command: a line, with quoted texts and line breaks after a backslash.
const ANY: &str = r#"(?:"[^"]*"|'[^']*'|\\\n|[^\n])*"#;
/// The text before a relative path.
const PATH_START: &str = r"(?:^|[^\w.-])";
/// The text before an absolute path.
const ROOT_START: &str = r"(?:^|[^\w-])";
/// The text after a path. The files below it count as well.
const PATH_END: &str = r"(?:$|[^\w.-])";

const COMMAND_REMARK: &str = "it is matched as text, wherever a command may begin; a command in other words (a path, a variable, an alias) is not recognised";
const PATH_REMARK: &str =
    "it is matched as text: also in other directories, but not through a symlink";
const READ_REMARK: &str = "it is matched as text: also in other directories and in shell commands, but not through a symlink";
const DOMAIN_REMARK: &str = "subdomains count as well; shell commands that load pages do not";
const TEXT_REMARK: &str = "it is compared with every text of the input";

/// Returns the matcher for a rule such as `Bash(npm run test:*)`.
///
/// # Errors
/// No matcher can express it; the error is the reason, as a clause.
pub(crate) fn matcher(rule: &str) -> Result<RuleMatcher, String> {
    let rule = rule.trim();
    if has_several_rules(rule) {
        return Err("it has several rules, of which Claude Code reads none".to_owned());
    }
    let (tool, specifier) = match rule.split_once('(') {
        None => (rule, None),
        Some((tool, rest)) => {
            let specifier = rest.strip_suffix(')').ok_or("its parenthesis is not closed")?;
            (tool.trim_end(), Some(specifier.trim()))
        }
    };
    let specifier = specifier.filter(|text| !text.is_empty() && *text != "*");
    if tool.is_empty() || !tool.chars().all(|c| c.is_ascii_alphanumeric() || "_-*".contains(c)) {
        return Err("it names no tool".to_owned());
    }
    if tool.starts_with("mcp__") {
        return server_matcher(tool, specifier);
    }
    match (tool, specifier) {
        (_, None) => Ok(RuleMatcher { tool: every(tool), pattern: None, remark: None }),
        ("Bash", Some(command)) => Ok(command_matcher(command)),
        ("Read", Some(path)) => path_matcher("^(?:Read|Grep|Glob|Bash)$", path, READ_REMARK),
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", Some(path)) => {
            path_matcher("^(?:Edit|Write)$", path, PATH_REMARK)
        }
        ("WebFetch", Some(specifier)) => domain_matcher(specifier),
        ("Agent" | "Task" | "Skill", Some(name)) => Ok(text_matcher(tool, name)),
        _ => Err(format!("Tenter has no such condition for {tool}")),
    }
}

/// Returns whether a text is several rules, such as `Write(*.md)|Edit(*.md)`, where Claude Code reads one.
pub(crate) fn has_several_rules(rule: &str) -> bool {
    if rule.starts_with("Bash(") {
        return false; // a command may have such text
    }
    let is_rule = |text: &str| {
        let (tool, condition) = text.trim().split_once('(').unwrap_or((text.trim(), ")"));
        let is_name = tool.starts_with(|c: char| c.is_ascii_uppercase())
            && tool.chars().all(|c| c.is_ascii_alphanumeric());
        is_name && condition.ends_with(')')
    };
    let parts: Vec<&str> =
        rule.split(['|', '&', ',']).filter(|part| !part.trim().is_empty()).collect();
    parts.len() > 1 && parts.into_iter().all(is_rule)
}

/// Returns the expression for every call of a tool. Tools that Tenter does not have are named differently in other agents.
fn every(tool: &str) -> String {
    match tool {
        "WebFetch" => WEB_FETCH.to_owned(),
        "WebSearch" => "^(?i:web_?search|google_web_search)$".to_owned(),
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => "^(?:Edit|Write)$".to_owned(),
        tool => format!("^{}$", tool.replace('*', ".*")),
    }
}

const WEB_FETCH: &str = "^(?i:web_?fetch|fetch_?(?:url|web)?)$";

fn server_matcher(tool: &str, specifier: Option<&str>) -> Result<RuleMatcher, String> {
    if specifier.is_some() {
        return Err("rules for MCP tools have no conditions".to_owned());
    }
    let is_server = tool.matches("__").count() == 1;
    let name = tool.replace('*', ".*");
    let tool = if is_server { format!("^{name}__") } else { format!("^{name}$") };
    Ok(RuleMatcher { tool, pattern: None, remark: None })
}

fn command_matcher(command: &str) -> RuleMatcher {
    let pattern = Some(CommandPattern::from_rule(command).anywhere);
    RuleMatcher { tool: "^Bash$".to_owned(), pattern, remark: Some(COMMAND_REMARK) }
}

/// The expressions for a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    /// For a text that is one command and nothing else.
    pub(crate) whole: String,
    /// For a text in which the command may begin anywhere.
    pub(crate) anywhere: String,
}

impl CommandPattern {
    /// Returns the expressions for the command of a rule: exactly it, a beginning (`git push:*`), or with `*` for any text.
    pub(crate) fn from_rule(command: &str) -> Self {
        let (body, end, end_of_whole) = if let Some(prefix) = command.strip_suffix(":*") {
            (prefix, "", r"(?:$|\s)")
        } else if let Some(prefix) = command.strip_suffix(" *") {
            (prefix, WORD_END, r"(?:$|\s)")
        } else if let Some(prefix) = command.strip_suffix('*') {
            (prefix, "", "")
        } else {
            (command, COMMAND_END, "$")
        };
        let parts: Vec<String> = body.split('*').map(words).collect();
        Self {
            whole: format!("^{}{end_of_whole}", parts.join("(?s:.*)")),
            anywhere: format!("{COMMAND_START}{}{end}", parts.join(ANY)),
        }
    }

    /// Returns the expressions for a command that begins with these words. Each word has alternatives.
    pub(crate) fn from_words(alternatives: &[Vec<&str>]) -> Self {
        let word = |one: &Vec<&str>| {
            let literals: Vec<String> = one.iter().map(|word| words(word)).collect();
            format!("(?:{})", literals.join("|"))
        };
        let body = alternatives.iter().map(word).collect::<Vec<_>>().join(r"\s+");
        Self {
            whole: format!(r"^{body}(?:$|\s)"),
            anywhere: format!("{COMMAND_START}{body}{WORD_END}"),
        }
    }

    /// Returns the expressions for a whole command in which `*` is any text and `?` any character; ` *` at the end is optional.
    pub(crate) fn from_wildcards(command: &str) -> Self {
        let (body, end) = match command.strip_suffix(" *") {
            Some(body) => (body, r"(?:\s(?s:.*))?"),
            None => (command, ""),
        };
        let mut expression = String::new();
        for c in body.chars() {
            match c {
                '*' => expression.push_str("(?s:.*)"),
                '?' => expression.push_str("(?s:.)"),
                c => push_literal(&mut expression, c),
            }
        }
        Self {
            whole: format!("^{expression}{end}$"),
            anywhere: format!("{COMMAND_START}{expression}"),
        }
    }

    /// Returns the expressions for a command that begins with a match of an expression.
    pub(crate) fn from_expression(expression: &str) -> Self {
        Self { whole: format!("^(?:{expression})"), anywhere: expression.to_owned() }
    }
}

/// Returns the command in a rule such as `Bash(git push:*)`; `None` for other rules, and for a rule that applies to every command.
pub(crate) fn command_of(rule: &str) -> Option<&str> {
    let command = rule.trim().strip_prefix("Bash(")?.strip_suffix(')')?.trim();
    (!command.is_empty() && command != "*").then_some(command)
}

/// Returns the expression for a text. Every space in it matches any number of spaces.
fn words(text: &str) -> String {
    let mut expression = String::new();
    let mut in_space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            if !in_space {
                expression.push_str(r"\s+");
            }
        } else {
            push_literal(&mut expression, c);
        }
        in_space = c.is_whitespace();
    }
    expression
}

fn push_literal(expression: &mut String, c: char) {
    if !c.is_alphanumeric() && c.is_ascii() && !"_- /:=,@%~<>\"'`!&#".contains(c) {
        expression.push('\\');
    }
    expression.push(c);
}

/// Returns the matcher for a path with wildcards, as in a `.gitignore`. A matcher does not know the base of a relative path, so it
/// matches in any directory.
fn path_matcher(tool: &str, path: &str, remark: &'static str) -> Result<RuleMatcher, String> {
    if path.contains(['[', ']', '{', '}', '!', '\\']) {
        return Err("its wildcards are not supported".to_owned());
    }
    let (start, relative) = if let Some(absolute) = path.strip_prefix("//") {
        (format!("{ROOT_START}/+"), absolute)
    } else {
        let path = path.strip_prefix("~/").or_else(|| path.strip_prefix("./")).unwrap_or(path);
        (PATH_START.to_owned(), path.trim_start_matches('/'))
    };
    let relative = relative.strip_prefix("**/").unwrap_or(relative);
    if relative.chars().all(|c| "*/?.".contains(c)) {
        return Ok(RuleMatcher { tool: tool.to_owned(), pattern: None, remark: Some(remark) });
    }
    let body = relative.strip_suffix("/**").unwrap_or(relative).trim_end_matches('/');
    let pattern = format!("{start}{}{PATH_END}", wildcards(body));
    Ok(RuleMatcher { tool: tool.to_owned(), pattern: Some(pattern), remark: Some(remark) })
}

fn wildcards(path: &str) -> String {
    let mut expression = String::new();
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            expression.push_str("(?:.*/)?");
            rest = after;
        } else if let Some(after) = rest.strip_prefix("**") {
            expression.push_str(".*");
            rest = after;
        } else {
            match c {
                '*' => expression.push_str("[^/]*"),
                '?' => expression.push_str("[^/]"),
                '/' => expression.push_str("/+"),
                c => push_literal(&mut expression, c),
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    expression
}

fn domain_matcher(specifier: &str) -> Result<RuleMatcher, String> {
    let domain = specifier.strip_prefix("domain:").ok_or("its condition is no domain")?;
    if domain == "*" {
        return Ok(RuleMatcher { tool: WEB_FETCH.to_owned(), pattern: None, remark: None });
    }
    let domain = domain.strip_prefix("*.").unwrap_or(domain);
    if domain.is_empty() || !domain.chars().all(|c| c.is_alphanumeric() || ".-".contains(c)) {
        return Err("its domain has wildcards that are not supported".to_owned());
    }
    let mut literal = String::new();
    domain.chars().for_each(|c| push_literal(&mut literal, c));
    let pattern = format!(r#"(?i)(?:^|[/@.\s"'])(?:{literal})\.?(?:$|[:/?#\s"'\\])"#);
    Ok(RuleMatcher {
        tool: WEB_FETCH.to_owned(),
        pattern: Some(pattern),
        remark: Some(DOMAIN_REMARK),
    })
}

fn text_matcher(tool: &str, name: &str) -> RuleMatcher {
    let (name, end) = match name.strip_suffix(" *").or_else(|| name.strip_suffix(":*")) {
        Some(name) => (name, r"(?:$|\s)"),
        None => (name, "$"),
    };
    let parts: Vec<String> = name.split('*').map(words).collect();
    let pattern = format!("^{}{end}", parts.join(".*"));
    RuleMatcher { tool: every(tool), pattern: Some(pattern), remark: Some(TEXT_REMARK) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tenter_engine::inspect::{Matcher, check_pattern, check_tool};
    use tenter_protocol::ToolCall;
    use tenter_protocol::manifest::MatcherText;

    use super::*;

    fn matches(rule: &str, tool: &str, input: &Value) -> bool {
        let RuleMatcher { tool: name, pattern, .. } = matcher(rule).unwrap();
        assert_eq!(check_tool(&name), Ok(None), "{rule}");
        let advice = pattern.as_deref().map(check_pattern);
        assert!(advice.is_none_or(|advice| advice == Ok(None)), "{rule}: {pattern:?}");
        let matcher = Matcher::new(&MatcherText { tool: Some(name), pattern });
        let call = ToolCall::new("1", tool, input.as_object().unwrap().clone());
        matcher.matches(&call).unwrap().is_some()
    }

    fn runs(rule: &str, command: &str) -> bool {
        matches(rule, "bash", &json!({"command": command}))
    }

    #[test]
    fn a_command_rule_matches_what_claude_code_matches_wherever_a_command_begins() {
        let prefix = "Bash(npm run test:*)";
        for command in [
            "npm run test",
            "npm run test -- --watch",
            "npm  run test",
            "cd x && npm run test",
            "CI=1 npm run test",
            "timeout 5 npm run test",
            "(npm run test)",
            "sh -c 'npm run test'",
            "echo $(npm run test)",
            "true\nnpm run test",
        ] {
            assert!(runs(prefix, command), "{command}");
        }
        for command in ["npm run build", "echo npm run test", "xnpm run test"] {
            assert!(!runs(prefix, command), "{command}");
        }
        assert!(runs("Bash(git push)", "git push; ls") && !runs("Bash(git push)", "git push -f"));
        assert!(
            runs("Bash(ls *)", "ls -la") && runs("Bash(ls *)", "ls") && !runs("Bash(ls *)", "lsof")
        );
        assert!(runs("Bash(ls*)", "lsof"));
        assert!(runs("Bash(git * main)", "git push origin main"));
        assert!(!runs("Bash(git * main)", "git push origin maintenance"));
        for (rule, command) in [
            ("Bash(*--force*)", "git push --force"),
            ("Bash(git push*--force*)", "git push origin main --force-with-lease"),
            ("Bash(git push*--force*)", "git push \\\n  --force"),
            ("Bash(git config*core.hooksPath*)", "git config --global core.hooksPath x"),
            ("Bash(kubectl * delete *)", "kubectl -n x delete pod y"),
            ("Bash(python -c*environ*)", "python -c 'import os\nprint(os.environ)'"),
            ("Bash(curl *-X POST*)", "curl -s -X POST a"),
        ] {
            assert!(runs(rule, command), "{rule}: {command}");
        }
        assert!(!runs("Bash(git push*--force*)", "git push; npm i"));
        assert!(runs("Bash(curl https://a.b/c?d:*)", "curl https://a.b/c?d=1"));
        assert!(!runs("Bash(curl https://a.b/:*)", "curl https://aXb/"));
        assert!(runs("Bash", "anything") && runs("Bash(*)", "anything"));
    }

    #[test]
    fn a_path_rule_matches_the_file_however_its_path_is_written() {
        let reads =
            |rule: &str, path: &str| matches(rule, "file_read", &json!({"file_path": path}));
        for path in ["secrets/a", "./secrets/a/b", "/work/shop/secrets/a", "x/../secrets/a"] {
            assert!(reads("Read(./secrets/**)", path), "{path}");
        }
        assert!(
            !reads("Read(./secrets/**)", "mysecrets/a")
                && !reads("Read(./secrets/**)", "secrets.md")
        );
        assert!(matches("Read(./secrets/**)", "grep", &json!({"pattern": "x", "path": "secrets"})));
        assert!(runs("Read(./secrets/**)", "cat secrets/a") && runs("Read(./.env)", "cat ./.env"));
        assert!(!runs("Read(./secrets/**)", "cat notes"));
        assert!(reads("Read(.env)", "a/.env") && !reads("Read(.env)", ".env.example"));
        assert!(reads("Read(.env.*)", ".env.local") && !reads("Read(*.pem)", "a.pems"));
        assert!(reads("Read(**/*.pem)", "keys/a.pem"));
        assert!(
            reads("Read(~/.ssh/**)", "/home/ada/.ssh/id")
                && runs("Read(~/.ssh/**)", "cat $HOME/.ssh/id")
        );
        assert!(
            reads("Read(//etc/passwd)", "/etc/passwd")
                && reads("Read(//etc/passwd)", "../../etc/passwd")
        );
        assert!(!reads("Read(//etc/passwd)", "my/etc/passwd"));
        let edits =
            |rule: &str, tool: &str, path: &str| matches(rule, tool, &json!({"file_path": path}));
        assert!(
            edits("Edit(src/*.rs)", "file_write", "src/a.rs")
                && edits("Write(src/*.rs)", "file_edit", "src/a.rs")
        );
        assert!(!edits("Edit(src/*.rs)", "file_edit", "src/a/b.rs"));
        assert!(
            edits("Edit(src/**/x)", "file_edit", "src/a/b/x")
                && edits("Edit(src/**/x)", "file_edit", "src/x")
        );
        assert!(!edits("Edit(src/x)", "file_read", "src/x"));
        let patch = "*** Begin Patch\n*** Update File: src/x\n@@\n+a\n*** End Patch";
        assert!(matches("Edit(src/x)", "file_edit", &json!({"patch": patch})));
    }

    #[test]
    fn other_rules_match_their_tools() {
        let fetch =
            |url: &str| matches("WebFetch(domain:example.com)", "web_fetch", &json!({"url": url}));
        assert!(
            fetch("https://example.com/a")
                && fetch("http://ada@docs.example.com:80")
                && fetch("HTTPS://EXAMPLE.COM")
        );
        assert!(!fetch("https://example.com.evil.org") && !fetch("https://myexample.com"));
        assert!(matches("WebFetch", "WebFetch", &json!({})));
        assert!(matches("mcp__github", "mcp__github__push", &json!({})));
        assert!(matches("mcp__github__*", "mcp__github__push", &json!({})));
        assert!(matches("mcp__github__push", "mcp__github__push", &json!({})));
        assert!(!matches("mcp__github__push", "mcp__github__push_all", &json!({})));
        assert!(matches("Agent(Explore)", "subagent", &json!({"subagent_type": "Explore"})));
        assert!(!matches("Agent(Explore)", "subagent", &json!({"question": "Explore this"})));
        assert!(matches("Skill(deploy *)", "skill", &json!({"name": "deploy"})));
        assert!(matches("Write", "file_edit", &json!({})));
    }

    #[test]
    fn what_cannot_be_expressed_is_said() {
        for (rule, why) in [
            ("Read([ab].txt)", "its wildcards are not supported"),
            ("Bash(ls", "its parenthesis is not closed"),
            ("PowerShell(ls)", "Tenter has no such condition for PowerShell"),
            ("WebFetch(x)", "its condition is no domain"),
            ("", "it names no tool"),
        ] {
            assert_eq!(matcher(rule).unwrap_err(), why, "{rule}");
        }
    }
}
