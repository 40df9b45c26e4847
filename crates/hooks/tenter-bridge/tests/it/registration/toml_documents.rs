//! TOML texts: realistic ones, and generated ones.

use std::fs;

use proptest::prelude::*;

use super::{NOW, User, host};

/// Configurations as users have them.
const CONFIGURATIONS: &[&str] = &[
    "",
    "\n",
    "# nothing yet",
    "# nothing yet\n\n",
    "default_model = \"k2\"",
    "default_model = \"k2\"\n",
    "default_model = \"k2\" # mine\r\n[models.k2]\r\nprovider = \"moonshot\"\r\n",
    "\u{feff}default_model = \"k2\"\n",
    "[providers.mock]\ntype = \"openai\"\n\n\n# last\n",
    "text = \"\"\"\n[[hooks]]\ncommand = \"tenter-hook kimi-code Stop\"\n\"\"\"\n",
    "list = [\n  1, # one\n  { a = [2] },\n]\n[a.'b.c'.\"d\\\"e\"]\nx = 1979-05-27\n",
    r#"# Kimi Code
default_model = "k2"

[[hooks]]
event = "Stop" # when it is done
command = "say done"

# Formats what was written.
[[hooks]]
event = "PostToolUse"
matcher = "Write"
command = '''prettier --write "$FILE"'''
timeout = 30

[services]
search = { base_url = "https://example.org" }
"#,
];

#[test]
fn removal_restores_the_bytes() {
    for text in CONFIGURATIONS {
        let user = User::with_file(host("kimi-code"), text);
        user.install().unwrap();
        assert_eq!(user.count(), user.target.host.events.len(), "{text:?}\n{}", user.text());
        let text_after = user.text();
        assert!(text_after.starts_with(text), "{text_after}");
        user.install().unwrap();
        assert_eq!(user.text(), text_after, "a second installation changes nothing");
        user.remove().unwrap();
        assert_eq!(user.text(), *text);
    }
}

#[test]
fn removal_without_the_record_leaves_at_most_whitespace() {
    for text in CONFIGURATIONS {
        let user = User::with_file(host("kimi-code"), text);
        user.install().unwrap();
        user.lose_record();
        user.remove().unwrap();
        assert_eq!(user.text().trim_end(), text.trim_end());
    }
}

#[test]
fn each_table_has_the_keys_that_the_host_reads() {
    let user = User::with_file(host("kimi-code"), "default_model = \"k2\"\n");
    user.install().unwrap();
    let (home, text) = (user.home.path().display().to_string(), user.text());
    let id = user.registry.registered(&user.target).unwrap()[0].command.id.clone().unwrap();
    let lines: Vec<String> = text.lines().take(6).map(|line| line.replace(&home, "~")).collect();
    let command = format!(
        r#"command = "'~/.local/share/tenter/bin/tenter-hook' kimi-code SessionStart --home '~' --id {id}""#
    );
    let expected = [
        "default_model = \"k2\"",
        "",
        "[[hooks]]",
        "event = \"SessionStart\"",
        &command.replace('\'', ""),
        "timeout = 600",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn the_users_edits_around_a_registration_stay() {
    let user = User::with_file(host("kimi-code"), "default_model = \"k2\"\n");
    user.install().unwrap();
    let edit = user
        .text()
        .replace("\"k2\"", "\"k3\" # better")
        .replace("event = \"Stop\"\n", "event = \"Stop\" # at the end\n")
        .replacen(
            "[[hooks]]\nevent = \"PreToolUse\"",
            "# Guards\n[[hooks]]\nevent = \"PreToolUse\"",
            1,
        )
        + "\n[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\"\n";
    fs::write(user.file(), edit).unwrap();
    user.remove().unwrap();
    let expected = "default_model = \"k3\" # better\n\n# Guards\n# at the end\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\"\n";
    assert_eq!(user.text(), expected);
}

#[test]
fn a_registration_that_was_edited_is_repaired() {
    let user = User::with_file(host("kimi-code"), "");
    user.install().unwrap();
    let text = user.text();
    fs::write(user.file(), text.replacen("timeout = 600", "timeout = 5", 1)).unwrap();
    let cut_short = |user: &User| {
        let handlers = user.registry.registered(&user.target).unwrap();
        handlers.iter().filter(|one| one.is_cut_short && !one.is_intact).count()
    };
    assert_eq!(cut_short(&user), 1);
    user.install().unwrap();
    assert_eq!(cut_short(&user), 0);
    assert_eq!(user.text().trim(), text.trim());
}

#[test]
fn texts_that_cannot_be_edited_are_located_and_left_alone() {
    for (text, line, column, message) in [
        ("a = 1\nb = \n", 2, 5, "not valid TOML"),
        ("a = 1\na = 2\n", 2, 1, "not valid TOML"),
        ("\nhooks = []\n", 2, 1, "no tables can be added to \"hooks\""),
        ("a = 1\n[hooks]\n", 2, 2, "no tables can be added to \"hooks\""),
        ("hooks = 1\n", 1, 1, "no tables can be added to \"hooks\""),
    ] {
        let user = User::with_file(host("kimi-code"), text);
        let error = user.install().unwrap_err();
        assert!(error.message.contains(message), "{text}: {error:?}");
        let span = error.span.unwrap();
        assert_eq!((span.line, span.column), (line, column), "{text}");
        assert_eq!(error.path.as_deref(), Some(user.file()));
        assert!(error.help.is_some());
        assert_eq!(user.text(), text);
    }
}

#[test]
fn deeply_nested_texts_are_rejected() {
    let text = format!("a = {}", "[".repeat(100_000));
    let user = User::with_file(host("kimi-code"), &text);
    assert!(user.install().is_err());
}

fn gap() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", "\n", "# note\n", "  # note\n\n", "\r\n"])
}

fn member() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "1",
        "\"x\"",
        "'''\n[[hooks]]\n'''",
        "[ # note\n 1,\n]",
        "{ a = { b = \"}\" } }",
        "1979-05-27T07:32:00Z",
    ]);
    (value, prop::sample::select(vec!["", " # note"]))
        .prop_map(|(value, end)| format!("{value}{end}\n"))
}

fn configuration() -> impl Strategy<Value = String> {
    let members = || prop::collection::vec((gap(), member()), 0..3);
    let header = prop::sample::select(vec!["[t.'#']", "[[hooks]]", "[[other]]"]);
    let tables = prop::collection::vec((gap(), header, members()), 0..4);
    let lines = |members: Vec<(&str, String)>| -> String {
        let members = members.into_iter().enumerate();
        let lines = members.map(|(index, (gap, value))| format!("{gap}m{index} = {value}"));
        lines.collect::<Vec<_>>().concat()
    };
    (members(), tables, gap(), any::<bool>()).prop_map(move |(root, tables, end, is_cut)| {
        let mut text = lines(root);
        for (index, (gap, header, members)) in tables.into_iter().enumerate() {
            let header = header.replace("t.", &format!("t{index}."));
            text.extend([gap, &header, "\n", &lines(members)]);
        }
        text += end;
        if is_cut { text.trim_end().to_owned() } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_configuration_is_restored(text in configuration()) {
        let user = User::with_file(host("kimi-code"), &text);
        user.install().unwrap();
        prop_assert_eq!(user.count(), user.target.host.events.len());
        user.lose_record();
        prop_assert!(!user.plan(super::Options::default()).unwrap().is_change());
        user.remove().unwrap();
        let remaining = user.text();
        prop_assert_eq!(remaining.trim_end(), text.trim_end());

        fs::write(user.file(), &text).unwrap();
        let plan = user.plan(super::Options::default()).unwrap();
        user.registry.install(&plan, &user.program(), NOW).unwrap();
        user.remove().unwrap();
        prop_assert_eq!(user.text(), text);
    }

    #[test]
    fn a_comment_anywhere_survives_removal(text in configuration(), at in any::<prop::sample::Index>()) {
        let user = User::with_file(host("kimi-code"), &text);
        user.install().unwrap();
        let text_after = user.text();
        // Not in the texts and lists of the user.
        let own = text_after.len() - text_after[text.len()..].len();
        let ends: Vec<usize> = text_after.match_indices('\n').map(|(at, _)| at).filter(|at| *at > own).collect();
        let at = ends[at.index(ends.len())];
        let at = if text_after[..at].ends_with('\r') { at - 1 } else { at };
        let (before, after) = text_after.split_at(at);
        fs::write(user.file(), format!("{before} # the user's{after}")).unwrap();
        user.remove().unwrap();
        prop_assert_eq!(user.count(), 0);
        prop_assert_eq!(user.text().matches("the user's").count(), 1);
        prop_assert!(user.text().parse::<toml::Table>().is_ok());
        prop_assert!(user.text().starts_with(text.trim_end()));
    }
}
