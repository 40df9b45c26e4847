//! The `.rules` files of Codex: `prefix_rule(pattern = […], decision = "…")` as permission rules.

use super::{Import, permissions};
use crate::user_rules::{Effect, codex_rules};

/// Maximum number of rules that the alternatives of one rule become.
const MAX_ALTERNATIVES: usize = 64;

/// Reads the rules of a file. What is no plain `prefix_rule` is named.
pub(super) fn read(text: &str, import: &mut Import) {
    let Some(rules) = codex_rules(text) else {
        let why = "the file has more than calls with literal arguments";
        return import.left_out.push(format!("its rules: {why}"));
    };
    for rule in rules {
        match rule {
            Ok((Effect::Allow, words)) => {
                let text = place(&words);
                import.left_out.push(format!("{text}: {}", permissions::ALLOWED));
            }
            Ok((effect, words)) => add(effect, &words, import),
            Err(name) => import.left_out.push(format!("{name}: it is no rule about a command")),
        }
    }
}

fn add(effect: Effect, words: &[Vec<String>], import: &mut Import) {
    let place = place(words);
    let action = if effect == Effect::Deny { "deny" } else { "ask" };
    let mut commands = vec![String::new()];
    for alternatives in words {
        commands = commands
            .iter()
            .flat_map(|start| alternatives.iter().map(move |word| format!("{start} {word}")))
            .collect();
        if commands.len() > MAX_ALTERNATIVES {
            return import.left_out.push(format!("{place}: it has too many alternatives"));
        }
    }
    for command in commands {
        let rule = format!("Bash({}:*)", command.trim_start());
        permissions::add("codex", action, (&rule, &place), import);
    }
}

fn place(words: &[Vec<String>]) -> String {
    let words: Vec<String> = words.iter().map(|alternatives| alternatives.join("|")).collect();
    format!("prefix_rule {}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_imported_or_named() {
        let mut import = Import::default();
        let text = r#"
prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "prompt")
prefix_rule(pattern = ["rm", "-rf"], decision = "forbidden")
prefix_rule(pattern = ["ls"])
network_rule(host = "example.com", protocol = "https", decision = "allow")
"#;
        read(text, &mut import);
        let names: Vec<&str> = import.hooks.iter().map(|hook| hook.names[0].as_str()).collect();
        assert_eq!(
            names,
            ["codex-ask-bash-git-push", "codex-ask-bash-git-fetch", "codex-deny-bash-rm-rf"]
        );
        assert_eq!(import.left_out.len(), 2, "{:?}", import.left_out);
        let mut import = Import::default();
        read("x = 1", &mut import);
        assert_eq!((import.hooks.len(), import.left_out.len()), (0, 1));
    }
}
