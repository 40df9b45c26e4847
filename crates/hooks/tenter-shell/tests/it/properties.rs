//! Properties of every text: no panic, the same facts again, facts that refer to each other, and limits.

use proptest::prelude::*;
use tenter_shell::{Class, Facts, FlowRole, FlowSource, PathOp, Stdin, limits, read};
use tenter_testkit::{Choices, soak_factor};

use crate::cases::{ALL, cases};
use crate::surroundings;

/// Pieces of which texts are made that are nearly commands.
const PIECES: [&str; 66] = [
    "rm",
    " -rf ",
    "/",
    "~",
    "git ",
    "push ",
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "${",
    "}",
    "$x",
    "${x:-",
    "((",
    "))",
    "[[ ",
    " ]]",
    "{ ",
    "{a,b}",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "<<E",
    "<<-'E'",
    "\nE\n",
    "<<<",
    "<(",
    ">(",
    ">",
    "2>&1",
    "<",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "case x in ",
    "a) ",
    ";;",
    "esac",
    "f() ",
    "function ",
    "coproc ",
    "time ",
    "sudo ",
    "env A=b ",
    "bash -c ",
    "eval ",
    "xargs ",
    "find . -exec ",
    "\\",
    "#",
    "é",
    "\0",
    "x=",
    "x+=(",
    " ",
    "*",
    "python -c ",
    "os.system('",
];

/// Uses of the variables `x` and `y`, the function `f` and the file `s`, of which their own values are made.
const USES: [&str; 44] = [
    "$x ",
    "$y ",
    "${x@P}",
    "${y@P}",
    "${!x}",
    "${x/a/$y}",
    "${x:-${y@P}}",
    "$((x))",
    "$((y + x))",
    "$((x[y]))",
    "a[$x]",
    "a[$((y))]",
    "$(eval \"$x\")",
    "$(echo ${y@P})",
    "`$y`",
    "eval \"$y\"",
    "eval $x",
    "f $x",
    "\"$@\"",
    "echo \"$x\" | sh",
    "yes \"$y\" | sh",
    "python3 -c \"$x\" | sh",
    "bash -c \"$x\"",
    "trap \"$x\" EXIT",
    "source s",
    "echo \"$x\" > s",
    "sh s",
    "make -f s",
    "alias f=\"$y\"",
    "x=$y",
    "x=\"$x$x\"",
    "y+=$x",
    "(( x ))",
    "[[ $x -gt y ]]",
    "let x",
    "printf -v x %s \"$y\"",
    "set -- $x",
    "declare -n x=y",
    "ln -s x s",
    "coproc eval $x",
    "\n",
    "; ",
    " | ",
    "rm a",
];

fn check(text: &str) -> Facts {
    let facts = read(text, &surroundings());
    assert_eq!(facts, read(text, &surroundings()));
    let count = facts.commands.len();
    assert!(count <= limits::MAX_COMMANDS);
    assert!(facts.paths.iter().all(|path| path.command.is_none_or(|command| command < count)));
    assert!(facts.code.iter().all(|code| code.command < count));
    for flow in &facts.flows {
        let is_own = flow.from == FlowSource::Command(flow.into);
        // A program can run what it decodes itself, and send what it writes.
        let sends = |command: usize| facts.commands[command].classes.contains(&Class::Network);
        assert!(flow.into < count);
        assert!(!is_own || flow.role == FlowRole::Code || sends(flow.into));
    }
    for command in &facts.commands {
        assert!(command.via.len() <= limits::MAX_DEPTH);
        assert_eq!(command.flags.len(), command.flag_args.len());
        assert_eq!(command.operands.len(), command.operand_args.len());
        if let Some(Stdin::Commands(from)) = &command.stdin_from {
            assert!(from.iter().all(|from| *from < count));
        }
    }
    serde_json::to_string(&facts).unwrap();
    facts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_facts(text in "\\PC{0,200}") {
        check(&text);
    }

    #[test]
    fn any_text_of_pieces_has_facts(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)) {
        check(&pieces.concat());
    }

    /// A command before a broken text is still a fact.
    #[test]
    fn what_is_before_a_broken_text_counts(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..20)) {
        let facts = check(&format!("rm -rf /etc\n{}", pieces.concat()));
        prop_assert_eq!(&facts.commands[0].program, "rm");
        prop_assert_eq!(&facts.commands[0].operands, &["/etc"]);
    }
}

/// Values, functions and files that contain themselves: the shell would never end, and neither the stack nor the time may.
#[test]
fn what_contains_itself_has_facts() {
    let loops = ["x='${x@P}'; echo ${x@P}", "x='$((x))'; echo $((x))", "x='a[$((x))]'; (( x ))"];
    for text in loops {
        assert!(check(&format!("{text}; rm a")).over_limit, "{text}");
    }
    let names: Vec<String> = (0..20).map(|at| format!("x{at}=x{}", at + 1)).collect();
    assert!(check(&format!("{}; x20='a[$(rm a)]'; echo $((x0))", names.join("; "))).over_limit);
    let mut choices = Choices::new(11);
    for _ in 0..300 * soak_factor() {
        let mut uses = || {
            let count = choices.below(4) + 1;
            (0..count).map(|_| choices.one_of(&USES)).collect::<String>()
        };
        let (x, y, f, last) = (uses(), uses(), uses(), uses());
        check(&format!("x='{x}'; y='{y}'; f() {{ {f}; }}; {last}"));
    }
}

/// Every case with a few bytes changed, removed or added: texts that are nearly what agents write.
#[test]
fn changed_cases_have_facts() {
    const BYTES: &[u8] = b"'\"`$(){}<>|&;\n\\#=*?[]!~-/ \0";
    let mut choices = Choices::new(5);
    let all: Vec<String> =
        ALL.iter().flat_map(|file| cases(file)).map(|case| case.command).collect();
    for _ in 0..2000 * soak_factor() {
        let mut bytes = all[choices.below(all.len())].clone().into_bytes();
        for _ in 0..=choices.below(5) {
            let at = choices.below(bytes.len() + 1);
            match choices.below(3) {
                0 if at < bytes.len() => drop(bytes.remove(at)),
                1 => drop(bytes.splice(at..at, choices.one_of(&PIECES).bytes())),
                _ => bytes.insert(at, choices.one_of(BYTES)),
            }
        }
        check(&String::from_utf8_lossy(&bytes));
    }
}

/// Every prefix of every case, as it is while an agent still writes it.
#[test]
fn every_prefix_of_a_case_has_facts() {
    for file in ALL {
        for case in cases(file) {
            for end in
                (0..case.command.len()).step_by(3).filter(|end| case.command.is_char_boundary(*end))
            {
                check(&case.command[..end]);
            }
        }
    }
}

#[test]
fn limits_are_counts_and_visible() {
    let long = "ls\n".repeat(limits::MAX_COMMANDS + 1);
    let facts = check(&long);
    assert_eq!(facts.commands.len(), limits::MAX_COMMANDS);
    assert!(facts.unparsed);
    assert!(check(&format!("a {}", "b".repeat(limits::MAX_BYTES))).unparsed);
    assert!(check(&"<<E ".repeat(limits::MAX_HEREDOCS + 1)).unparsed);
    assert!(check(&"(".repeat(limits::MAX_DEPTH + 2)).unparsed);
    assert!(
        !check(&format!(
            "{}a{}",
            "(".repeat(limits::MAX_DEPTH - 1),
            ")".repeat(limits::MAX_DEPTH - 1)
        ))
        .unparsed
    );
    assert!(check("echo {1..65}").unparsed);
    let text = "b".repeat(10_000);
    assert!(
        check(&format!("echo {text} > s; echo {text} >> s; echo 'rm a' >> s; sh s")).over_limit
    );
}

#[test]
fn the_lines_of_here_documents_do_not_count_as_text() {
    let lines = "a line of text\n".repeat(100 * 1024 / 15);
    for start in ["cat > x <<E", "cat > x <<'E'"] {
        let facts = check(&format!("{start}\n{lines}E\nrm y"));
        assert!(!facts.unparsed && !facts.over_limit, "{start}");
        assert_eq!(facts.commands.last().unwrap().program, "rm");
    }
    assert!(check(&format!("cat <<E\n{lines}$(rm x)\nE\n")).over_limit);
    assert!(check(&format!("cat <<'E'\n{}E\n", lines.repeat(11))).over_limit);
    assert!(check(&format!("cat <<'E'\nE\n{lines}")).over_limit);
}

#[test]
fn many_paths_that_are_not_known_are_over_the_limit() {
    let words = |start: &str, count: usize| {
        (0..count).fold(String::new(), |text, index| text + &format!("{start}{index}* "))
    };
    assert!(!check(&format!("rm {}", words("a", limits::MAX_OPEN_PATHS))).over_limit);
    assert!(check(&format!("rm {}", words("a", limits::MAX_OPEN_PATHS + 1))).over_limit);
    // The same argument many times is one path.
    assert!(!check(&format!("mv {} x", "a* ".repeat(limits::MAX_WORDS - 2))).over_limit);
    assert!(check(&format!("mv {} x", "a* ".repeat(limits::MAX_WORDS))).over_limit);
}

#[test]
fn what_follows_a_limit_is_seen_or_is_a_limit() {
    let list = |count: usize, item: &dyn Fn(usize) -> String| -> String {
        (0..count).map(item).collect::<Vec<_>>().join(" ")
    };
    let long = "# a\n".repeat(5000);
    let texts = [
        format!("cat > s <<'E'\n{long}rm /x\nE\nsh s"),
        format!("cat <<'E' | sh\n{long}rm /x\nE"),
        format!("{{ cat <<'E'; echo 'rm /x'; }} | sh\n{long}\nE"),
        format!("cat > build.rs <<'E'\n{long}fs::remove_dir_all(\"/x\")\nE\ncargo build"),
        format!("a='{}'; a+=' ; rm /x'; eval \"$a\"", "x".repeat(limits::MAX_BYTES / 4)),
        format!("{}; e='rm /x'; eval \"$e\"", list(1100, &|at| format!("a{at}=x;"))),
        format!("for a in {} /x; do rm \"$a\"; done", list(100, &|at| format!("n{at}"))),
        format!("for a in {} /x; do rm \"$a\"; done", list(100, &|at| format!("/n{at}"))),
        format!("find {} /x -exec rm {{}} \\;", list(20, &|at| format!("n{at}"))),
        format!("a=({} rm /x); \"${{a[@]:300}}\"", list(300, &|at| format!("n{at}"))),
        format!("parallel rm ::: {} /x", list(100, &|at| format!("n{at}"))),
        format!("gcc {} /x.c", list(100, &|at| format!("n{at}.c"))),
        format!("python3 -c '{} print(\"rm /x\")' | sh", "print(\"a\");".repeat(600)),
        format!("sed '{}1e rm /x' a", "p;".repeat(100)),
        format!("rm {}{{/x,y}}", "{".repeat(70)),
    ];
    for text in texts {
        let program = format!("echo 'int main() {{ system(\"rm /x\"); }}' > /x.c; {text}");
        let facts = read(&program, &surroundings());
        let is_seen =
            facts.paths.iter().any(|path| path.path.starts_with("/x") && path.op == PathOp::Delete);
        assert!(is_seen || facts.over_limit, "{text:.60}");
    }
    // A file that is long, and that nothing runs, is none.
    for text in [
        format!("cat > a.ts <<'E'\n{long}E\ncat >> a.ts <<'E'\n{long}E\nnpm test"),
        format!("for a in {}; do rm \"$a\"; done", list(100, &|at| format!("n{at}"))),
        format!("psql a <<'E'\n{}E", "insert into a values (1);\n".repeat(3000)),
    ] {
        assert!(!read(&text, &surroundings()).over_limit, "{text:.60}");
    }
}
