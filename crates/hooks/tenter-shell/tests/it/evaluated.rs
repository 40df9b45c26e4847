//! Words that bash evaluates although they are quoted, with real bash as the judge (R84).

use tenter_shell::{Surroundings, plain, read};
use tenter_testkit::Choices;
use tenter_testkit::shell_text::commands_run;

/// Number of generated texts in an ordinary run.
const CASES: usize = 1200;

/// A word that runs `alpha` where bash evaluates it.
const PAYLOADS: [&str; 6] = *tenter_base::words!(
    "'a[$(alpha)]' 'a[`alpha`]' 'a[$(alpha)]=1' 'x=a[$(alpha)]' '$(alpha)' 'alpha'"
);

/// The builtins of bash, without those that stop or end the shell: `suspend`, `exit`, `kill 0`.
const BUILTINS: [&str; 59] = *tenter_base::phrases!(
    "., :, [, alias, bg, bind, break, builtin, caller, cd, command, compgen, complete, compopt,
     continue, declare, dirs, disown, echo, enable, eval, export, false, fc, fg, getopts, hash,
     help, history, jobs, let, local, logout, mapfile, popd, printf, pushd, pwd, read, readarray,
     readonly, return, set, shift, shopt, source, test, times, trap, true, type, typeset, ulimit,
     umask, unalias, unset, wait, command printf, builtin test"
);

/// Returns for each text whether bash runs `alpha`. `None` if that cannot be tried here.
fn evaluated(texts: &[String]) -> Option<Vec<bool>> {
    let programs = commands_run(texts, &["alpha"])?;
    Some(programs.iter().map(|commands| commands.iter().any(|argv| argv[0] == "alpha")).collect())
}

/// Checks whether the facts have the command `alpha`, or mark that a command is not known.
fn is_fact(text: &str) -> bool {
    let facts = read(text, &Surroundings::default());
    facts.commands.iter().any(|command| command.program == "alpha")
}

#[test]
fn what_bash_evaluates_in_a_quoted_word_is_a_fact_and_not_plain() {
    let texts: Vec<String> = [
        "printf -v 'a[$(alpha)]' x",
        "printf -v'a[$(alpha)]' x",
        "builtin printf -v 'a[$(alpha)]' x",
        "command printf -v 'a[$(alpha)]' x",
        "test -v 'a[$(alpha)]'",
        "test ! -v 'a[$(alpha)]'",
        "test x -a -v 'a[$(alpha)]'",
        "[ -v 'a[$(alpha)]' ]",
        "[[ -v 'a[$(alpha)]' ]]",
        "[[ 'a[$(alpha)]' -eq 0 ]]",
        "true & wait -n -p 'a[$(alpha)]'",
        "true & wait -np'a[$(alpha)]'",
        "jobs -x alpha",
        "compgen -W '$(alpha)'",
        "compgen -C 'alpha;' x",
        "read 'a[$(alpha)]' <<< x",
        "mapfile -C 'alpha;' -c 1 x <<< x",
        "let 'a[$(alpha)]'",
        "let 'b=a[$(alpha)]'",
        "declare 'a[$(alpha)]=1'",
        "declare -i 'x=a[$(alpha)]'",
        "typeset 'a[$(alpha)]=1'",
        "f() { local 'a[$(alpha)]=1'; }; f",
        "a=(1 2); unset 'a[$(alpha)]'",
        "eval 'alpha'",
        "trap 'alpha' EXIT",
        "x='a[$(alpha)]'; echo $((x))",
        "x='a[$(alpha)]'; (( x ))",
        "x='a[$(alpha)]'; [[ x -eq 0 ]]",
        "x='a[$(alpha)]'; y=x; let y",
    ]
    .map(str::to_owned)
    .to_vec();
    let Some(evaluated) = evaluated(&texts) else { return };
    for (text, is_evaluated) in texts.iter().zip(evaluated) {
        assert!(is_evaluated, "this bash does not evaluate {text}");
        assert_eq!(plain(text), None, "{text}");
        assert!(is_fact(text), "{text}");
    }
}

#[test]
fn nothing_but_its_words_happens_in_a_plain_text() {
    let mut choices = Choices::new(84);
    let option = |choices: &mut Choices| match choices.below(6) {
        0 => "x".to_owned(),
        1 => choices.one_of(&["--", "!", "-a", "-eq", "=", "-o", "]", "0", "+1"]).to_owned(),
        2 | 3 => choices.one_of(&PAYLOADS).to_owned(),
        4 => {
            let letter = char::from(b'a' + u8::try_from(choices.below(26)).unwrap());
            format!("-{letter}{}", choices.one_of(&PAYLOADS))
        }
        _ => format!("-{}", char::from(choices.one_of(b"abcdefghijklmnopqrstuvwxyzACDEFGNOPRSWX"))),
    };
    let text = |choices: &mut Choices| {
        let before = choices.one_of(&["", "", "true & ", "a=(1 2); "]);
        let mut text = format!("{before}{}", choices.one_of(&BUILTINS));
        for _ in 0..=choices.below(4) {
            text.push(' ');
            text.push_str(&option(choices));
        }
        format!("{text}{}", choices.one_of(&["", " <<< x", "; alpha=1"]))
    };
    let count = CASES * tenter_testkit::soak_factor();
    let texts: Vec<String> = (0..count).map(|_| text(&mut choices)).collect();
    let Some(evaluated) = evaluated(&texts) else { return };
    let (mut program_runs, mut are_plain) = (0, 0);
    for (text, is_evaluated) in texts.iter().zip(evaluated) {
        let is_plain = plain(text).is_some();
        assert!(!(is_plain && is_evaluated), "{text}");
        program_runs += usize::from(is_evaluated);
        are_plain += usize::from(is_plain);
    }
    assert!(program_runs > 10 && are_plain > 80, "{program_runs} evaluated, {are_plain} plain");
}
