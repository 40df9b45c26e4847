//! Real bash as an oracle: every command that it runs is a fact with the same arguments (C13).
//!
//! The texts are generated from harmless pieces, and run where they can do no harm. The guards' examples are compared in the tests
//! of the program.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tenter_shell::{Surroundings, read};
use tenter_testkit::Choices;
use tenter_testkit::shell_text::commands_run;

/// Number of texts in an ordinary run.
const CASES: usize = 400;

/// Names of the recording programs. `fail` fails.
const PROGRAMS: [&str; 4] = ["alpha", "beta", "gamma", "fail"];

/// Generates texts.
struct Texts(Choices);

impl Texts {
    fn word(&mut self) -> String {
        const WORDS: [&str; 78] = [
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
            "of=~/x",
            "--file=~/x",
            "a=~/x:~/y",
            "a=x:~:z=~/y",
            "a:~/x",
            "~:/x",
            "a=b=~/x",
            "1a=~/x",
            "a+=~",
            "a[1]=~/x",
            "a.b=~/x",
            "'a'=~/x",
            "a=''~/x",
            "a='~'/x",
            "a=\\~/x",
            "a=~'/x'",
            "a=~/'x':~/y",
            "a='b:'~/y",
            "a=\"b\":~/y",
            "a=$v:~/y",
            "a=$v~/y",
            "$v=~/x",
            "a=~/{x,y}",
            "{a=~/x,~/y}",
            "a=~/*.none",
            "a=\\\n~/x",
            "a=x:\\\n~/y",
            "~root/x",
            "a=~root:~",
            "~ann/x",
            "a=~ann/x",
            "${u:-~/x}",
            "${u:-a=~/x}",
            "a=${u:-x:~/y}",
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
        self.0.one_of(&WORDS).to_owned()
    }

    fn simple(&mut self) -> String {
        let mut text = String::new();
        if self.0.below(6) == 0 {
            text.push_str(self.0.one_of(&[
                "v=other ",
                "v=~/a:b:~/c; ",
                "export v=~/a:~/b; ",
                "v='~/a'; ",
            ]));
        }
        text.push_str(self.0.one_of(&PROGRAMS));
        for _ in 0..self.0.below(4) {
            let _ = write!(text, " {}", self.word());
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        let kind = if depth == 0 { 0 } else { self.0.below(20) };
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
        format!("v='{}'; w=ab\n{}", self.0.one_of(&["a", "a b", "x y  z"]), self.command(3))
    }
}

#[test]
fn every_command_that_bash_runs_is_a_fact() {
    let mut generated = Texts(Choices::new(16));
    let count = CASES * tenter_testkit::soak_factor();
    let texts: Vec<String> = (0..count).map(|_| generated.text()).collect();
    let Some(programs) = commands_run(&texts, &PROGRAMS) else { return };
    let surroundings = Surroundings {
        home: Some("/home/ann".to_owned()),
        cwd: Some("/empty".to_owned()),
        ..Surroundings::default()
    };
    let (mut certain, mut uncertain) = (0, 0);
    let mut wrong = String::new();
    for (text, programs) in texts.iter().zip(&programs) {
        let facts = read(text, &surroundings);
        let mut commands: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let mut has_unknown = false;
        for command in &facts.commands {
            has_unknown |= !command.uncertain.is_empty();
            let words = std::iter::once(&command.program).chain(&command.args).cloned().collect();
            *commands.entry(words).or_default() += 1;
        }
        for words in programs {
            match commands.get_mut(words) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    certain += 1;
                }
                _ if has_unknown => uncertain += 1,
                _ => {
                    let _ = writeln!(
                        wrong,
                        "{text}\n  bash runs {words:?}\n  facts: {:?}",
                        commands.keys()
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
