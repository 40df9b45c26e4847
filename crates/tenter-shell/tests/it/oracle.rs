//! Real bash as an oracle: every command that it runs is a fact with the same arguments (C13).
//!
//! The texts are generated from harmless pieces. bash is restricted, without a network and with an empty `PATH`, so that only
//! builtins and the functions below run; these record their arguments.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use tenter_shell::{Surroundings, read};

/// Number of texts in an ordinary run.
const CASES: usize = 400;

/// Names of the recording functions. `fail` fails.
const PROGRAMS: [&str; 4] = ["alpha", "beta", "gamma", "fail"];

const DRIVER: &str = r#"
record() { local all; printf -v all '\001%s' "$@"; printf '%s\002' "$all" >&2; }
alpha() { record alpha "$@"; }
beta() { record beta "$@"; }
gamma() { record gamma "$@"; }
fail() { record fail "$@"; return 1; }
for text in "$@"; do
    printf '\003' >&2
    ( set --; eval "$text" )
done
"#;

/// A reproducible source of choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn word(&mut self) -> String {
        const WORDS: [&str; 44] = [
            "a",
            "-f",
            "--",
            "'a b'",
            "\"c d\"",
            "e\\ f",
            "\\\"",
            "\"\"",
            "''",
            "x'y'\"z\"",
            "$'t\\tb\\x41'",
            "{a,b}",
            "{1..3}",
            "p{q,r}s",
            "'{a,b}'",
            "{a}",
            "$v",
            "\"$v\"",
            "${v}w",
            "${u:-d}",
            "\"${u:-d e}\"",
            "${v:+y}",
            "$((1))",
            "\"$(printf p)\"",
            "$(printf 'q r')",
            "`echo s`",
            "\"`echo t`\"",
            "~",
            "~/x",
            "\"~\"",
            "*.none",
            "a#b",
            "$w",
            "\"$w\"",
            "${w%b}",
            "${w#a}",
            "${#v}",
            "x=$v",
            "{,z}",
            "\"$(echo \"n $v\")\"",
            "$(echo $(echo o))",
            "\\\n",
            "é",
            "\"a\\$b\\\\\"",
        ];
        self.of(&WORDS).to_owned()
    }

    fn simple(&mut self) -> String {
        let mut text = String::new();
        if self.below(6) == 0 {
            text.push_str("v=other ");
        }
        text.push_str(self.of(&PROGRAMS));
        for _ in 0..self.below(4) {
            let _ = write!(text, " {}", self.word());
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        let kind = if depth == 0 { 0 } else { self.below(20) };
        match kind {
            0..=6 => self.simple(),
            7 => format!("{} && {}", self.command(depth - 1), self.command(depth - 1)),
            8 => format!("{} || {}", self.command(depth - 1), self.command(depth - 1)),
            9 => format!("{}; {}", self.command(depth - 1), self.command(depth - 1)),
            10 => format!("( {} )", self.command(depth - 1)),
            11 => format!("{{ {}\n}}", self.command(depth - 1)),
            12 => format!(
                "if {}\nthen {}\nelse {}\nfi",
                self.simple(),
                self.command(depth - 1),
                self.command(depth - 1)
            ),
            13 => format!(
                "for v in {} {}\ndo {}\ndone",
                self.word(),
                self.word(),
                self.command(depth - 1)
            ),
            14 => format!(
                "case $v in a) {}\n;; *) {}\n;; esac",
                self.command(depth - 1),
                self.command(depth - 1)
            ),
            15 => format!("{} | {}", self.simple(), self.simple()),
            16 => format!("eval '{}'", self.command(depth - 1).replace('\'', "'\\''")),
            17 => format!("f() {{ {}\n}}; f {}", self.command(depth - 1), self.word()),
            18 => format!(
                "{} <<E\n$v `alpha heredoc`\n\"quoted\"\nE\n{}",
                self.simple(),
                self.command(depth - 1)
            ),
            _ => format!(
                "{} # {}\n{}",
                self.simple(),
                self.word().replace('\n', ""),
                self.command(depth - 1)
            ),
        }
    }

    fn text(&mut self) -> String {
        format!("v='{}'; w=ab\n{}", self.of(&["a", "a b", "x y  z"]), self.command(3))
    }
}

/// What bash ran for each text.
#[expect(clippy::disallowed_methods, reason = "tests start the programs of the machine")]
fn ran(texts: &[String], directory: &std::path::Path) -> Option<Vec<Vec<Vec<String>>>> {
    let mut bash = Command::new("unshare");
    bash.args(["--user", "--net", "--", "bash", "--norc", "--noprofile", "-c"]);
    // The driver restricts itself, so that no text can write a file or leave the directory.
    bash.arg(format!("PATH=\nset -r\n{DRIVER}")).arg("oracle").args(texts);
    bash.env_clear()
        .env("PATH", tenter_testkit::needs::search_path())
        .env("HOME", "/home/ann")
        .env("LC_ALL", "C.UTF-8");
    bash.current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = bash.output().ok()?;
    let record = String::from_utf8_lossy(&output.stderr).into_owned();
    if !record.contains('\u{3}') {
        return None;
    }
    let runs = record.split('\u{3}').skip(1).map(|case| {
        let records = case.split('\u{2}').filter_map(|record| record.split_once('\u{1}'));
        records.map(|(_, words)| words.split('\u{1}').map(str::to_owned).collect()).collect()
    });
    Some(runs.collect())
}

#[test]
fn every_command_that_bash_runs_is_a_fact() {
    if !tenter_testkit::needs::has("bash") || !tenter_testkit::needs::has("unshare") {
        return;
    }
    let mut choices = Choices(16);
    let texts: Vec<String> =
        (0..CASES * tenter_testkit::soak_factor()).map(|_| choices.text()).collect();
    let directory = tempfile::tempdir().unwrap();
    let Some(ran) = ran(&texts, directory.path()) else {
        tenter_testkit::needs::skipped("namespaces", "unshare cannot make a user namespace");
        return;
    };
    assert_eq!(ran.len(), texts.len());
    let surroundings = Surroundings {
        home: Some("/home/ann".to_owned()),
        cwd: Some("/empty".to_owned()),
        ..Surroundings::default()
    };
    let (mut certain, mut uncertain) = (0, 0);
    let mut wrong = String::new();
    for (text, ran) in texts.iter().zip(&ran) {
        let facts = read(text, &surroundings);
        let mut known: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let mut has_unknown = false;
        for command in &facts.commands {
            has_unknown |= !command.uncertain.is_empty();
            let words = std::iter::once(&command.program).chain(&command.args).cloned().collect();
            *known.entry(words).or_default() += 1;
        }
        for words in ran {
            match known.get_mut(words) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    certain += 1;
                }
                _ if has_unknown => uncertain += 1,
                _ => {
                    let _ = writeln!(
                        wrong,
                        "{text}\n  bash runs {words:?}\n  facts: {:?}",
                        known.keys()
                    );
                }
            }
        }
        if facts.unparsed {
            let _ = writeln!(wrong, "{text}\n  is unparsed");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(certain > 10 * uncertain, "{certain} certain, {uncertain} uncertain");
}
