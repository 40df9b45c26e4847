//! Rules of Codex: `prefix_rule(pattern = […], decision = "…")` in files of the configuration language Starlark.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::places::{files, text, toml};
use super::{Effect, Places, RuleCheck, RuleMaker, UserRule, UserRules, unreadable};
use crate::rule_matcher::CommandPattern;

/// The settings of a machine.
const MACHINE: &str = "/etc/codex";

impl RuleCheck {
    pub(crate) const CODEX: Self = Self {
        checks: super::Checks::Rewritten,
        where_read: "Rules are read from the `.rules` files of the user, the project and the machine; one that is not a plain `prefix_rule` counts as a rule that asks about every command.",
        read,
    };
}

fn read(places: &Places) -> UserRules {
    let mut layers = vec![PathBuf::from(MACHINE), places.directory("CODEX_HOME", ".codex")];
    layers.extend(places.project_directories().iter().map(|one| one.join(".codex")));
    let mut rules: Vec<UserRule> = layers.iter().flat_map(|layer| layer_rules(layer)).collect();
    rules.extend(requirement_rule(&Path::new(MACHINE).join("requirements.toml")));
    UserRules::strictest(rules)
}

fn layer_rules(layer: &Path) -> Vec<UserRule> {
    match files(&layer.join("rules"), "rules") {
        Ok(files) => files.iter().flat_map(|file| file_rules(file)).collect(),
        Err(rule) => vec![rule],
    }
}

fn file_rules(file: &Path) -> Vec<UserRule> {
    match text(file) {
        Ok(text) => {
            text.map_or_else(Vec::new, |text| text_rules(&text, &file.display().to_string()))
        }
        Err(rule) => vec![rule],
    }
}

/// Reads the requirements of an administrator. Their rules are not supported.
fn requirement_rule(file: &Path) -> Option<UserRule> {
    match toml(file) {
        Ok(Some(table)) if table.contains_key("rules") => {
            Some(unreadable(file, "its rules are not read"))
        }
        Ok(_) => None,
        Err(rule) => Some(rule),
    }
}

fn text_rules(text: &str, file: &str) -> Vec<UserRule> {
    let maker = RuleMaker::new(file);
    let unknown = |what: &str| maker.unknown(what, Some("bash"));
    let Some(calls) = RulesReader::new(text).calls() else { return vec![unknown("its rules")] };
    let rules = calls.into_iter().filter_map(|call| match call.name.as_str() {
        "prefix_rule" => match prefix_rule(&call, &maker) {
            Some(rule) => (rule.effect > Effect::Allow).then_some(rule),
            None => Some(unknown("prefix_rule")),
        },
        // They apply to hosts of networks, and to paths of programs.
        "network_rule" | "host_executable" => None,
        other => Some(unknown(other)),
    });
    rules.collect()
}

/// The effect of a rule and the alternatives of each word of its command; or the name of a call that is no such rule.
pub(crate) type CommandRule = Result<(Effect, Vec<Vec<String>>), String>;

/// Reads the rules of a `.rules` file; `None` if it has more than calls with literal arguments.
pub(crate) fn codex_rules(text: &str) -> Option<Vec<CommandRule>> {
    let calls = RulesReader::new(text).calls()?;
    let rules = calls.iter().map(|call| {
        let (effect, words) =
            parts(call).filter(|_| call.name == "prefix_rule").ok_or_else(|| call.name.clone())?;
        let to_strings = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        Ok((effect, words.into_iter().map(to_strings).collect()))
    });
    Some(rules.collect())
}

/// Reads the rule of a call; `None` if it cannot be read.
fn prefix_rule(call: &Call, maker: &RuleMaker) -> Option<UserRule> {
    let (effect, words) = parts(call)?;
    let text = words.iter().map(|one| one.join("|")).collect::<Vec<_>>().join(" ");
    Some(maker.command(effect, &text, CommandPattern::from_words(&words)))
}

/// Reads the effect of a rule, and the alternatives of each word of its command; `None` if they cannot be read.
fn parts(call: &Call) -> Option<(Effect, Vec<Vec<&str>>)> {
    let decision = call.argument("decision").map_or(Some("allow"), Value::as_str)?;
    let effect = Effect::from_word(decision)?;
    let pattern = call.argument("pattern")?.as_array()?;
    let words: Option<Vec<Vec<&str>>> = pattern
        .iter()
        .map(|word| match word {
            Value::String(word) => Some(vec![word.as_str()]),
            Value::Array(words) => words.iter().map(Value::as_str).collect(),
            _ => None,
        })
        .collect();
    let words =
        words.filter(|words| !words.is_empty() && words.iter().all(|one| !one.is_empty()))?;
    Some((effect, words))
}

/// A call with literal arguments.
#[derive(Debug, PartialEq)]
struct Call {
    name: String,
    arguments: Vec<(String, Value)>,
}

impl Call {
    fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

/// Reads texts that consist of calls with literal arguments.
struct RulesReader<'t> {
    rest: &'t str,
}

/// Maximum nesting of lists.
const MAX_DEPTH: u32 = 8;

impl<'t> RulesReader<'t> {
    fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    /// Reads all calls; `None` if the text has anything else.
    fn calls(mut self) -> Option<Vec<Call>> {
        let mut calls = Vec::new();
        while !self.is_at_end() {
            calls.push(self.call()?);
        }
        Some(calls)
    }

    fn call(&mut self) -> Option<Call> {
        let name = self.name()?;
        self.expect('(')?;
        let mut arguments = Vec::new();
        while !self.takes(')') {
            let name = self.name()?;
            self.expect('=')?;
            arguments.push((name, self.value(0)?));
            if !self.takes(',') {
                self.expect(')')?;
                break;
            }
        }
        Some(Call { name, arguments })
    }

    fn value(&mut self, depth: u32) -> Option<Value> {
        if self.takes('[') {
            return self.list(depth);
        }
        self.skip();
        match self.rest.chars().next()? {
            '"' | '\'' => self.string().map(Value::String),
            _ => match self.name()?.as_str() {
                "None" => Some(Value::Null),
                "True" => Some(Value::Bool(true)),
                "False" => Some(Value::Bool(false)),
                _ => None,
            },
        }
    }

    fn list(&mut self, depth: u32) -> Option<Value> {
        let mut values = Vec::new();
        while !self.takes(']') {
            values.push((depth < MAX_DEPTH).then(|| self.value(depth + 1))??);
            if !self.takes(',') {
                self.expect(']')?;
                break;
            }
        }
        Some(Value::Array(values))
    }

    /// Reads a text in quotes. Escapes that JSON does not have are not supported.
    fn string(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let triple = [quote; 3].iter().collect::<String>();
        let quotes = if self.rest.starts_with(&triple) { triple } else { quote.to_string() };
        let body = &self.rest[quotes.len()..];
        let mut output = String::new();
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next() {
            if body[at..].starts_with(&quotes) {
                self.rest = &body[at + quotes.len()..];
                return Some(output);
            }
            match c {
                '\\' => output.push(match chars.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    c @ ('\\' | '"' | '\'') => c,
                    _ => return None,
                }),
                '\n' if quotes.len() == 1 => return None,
                c => output.push(c),
            }
        }
        None
    }

    fn name(&mut self) -> Option<String> {
        self.skip();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        (!name.is_empty()).then(|| name.to_owned())
    }

    fn takes(&mut self, c: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, c: char) -> Option<()> {
        self.takes(c).then_some(())
    }

    fn is_at_end(&mut self) -> bool {
        self.skip();
        self.rest.is_empty()
    }

    /// Skips whitespace and comments.
    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let Some(comment) = self.rest.strip_prefix('#') else { return };
            self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_with_literal_arguments_are_read_and_nothing_else() {
        let text = r#"
# A comment.
prefix_rule(
    pattern = ["git", ["push", 'fetch']], # another
    decision = "prompt",
    justification = """a "long"
text""",
)
"#;
        let calls = RulesReader::new(text).calls().unwrap();
        assert_eq!(
            calls[0].argument("pattern").unwrap().to_string(),
            r#"["git",["push","fetch"]]"#
        );
        for text in
            ["x = 1", "f(a = b)", "f(a = [\"b\"] + c)", "f(\"a\")", "f(a = \"b)", "def f():"]
        {
            assert_eq!(RulesReader::new(text).calls(), None, "{text}");
        }
        assert_eq!(RulesReader::new("# nothing").calls(), Some(Vec::new()));
        assert_eq!(RulesReader::new(&"f(a=[".repeat(100)).calls(), None);
    }

    #[test]
    fn what_cannot_be_read_counts_as_a_rule() {
        let effects = |text: &str| {
            text_rules(text, "f")
                .iter()
                .map(|rule| (rule.effect, rule.describe()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            effects(r#"prefix_rule(pattern=["rm", "-rf"], decision="forbidden")"#),
            [(Effect::Deny, "`rm -rf` of f".to_owned())]
        );
        assert_eq!(effects(r#"prefix_rule(pattern=["ls"])"#), []);
        for text in
            ["x = 1", "prefix_rule(pattern=[])", r#"prefix_rule(pattern=["a"], decision="no")"#]
        {
            let rules = effects(text);
            assert!(rules[0].0 == Effect::Ask && rules[0].1.ends_with("cannot read"), "{rules:?}");
        }
    }
}
