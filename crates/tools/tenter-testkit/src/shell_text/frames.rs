//! Texts around a command that run it, or only contain it.

use super::quote;
use crate::choices::Choices;

/// Texts that run the command `{}`; `{q}` is the command in quotes, `{d}` a delimiter. A command with several lines ends with a
/// line feed, so these do not have anything behind it.
const ONE_LINE: [&str; 23] = [
    "{}; true",
    "{} && true",
    "{} || true",
    "{} & wait",
    "( {} )",
    "{ {}; }",
    "if true; then {}; fi",
    "if {}; then true; fi",
    "while {}; do break; done",
    "for i in 1; do {}; done",
    "case x in x) {};; esac",
    "f{d}() { {}; }; f{d}",
    "function f{d} { {}; }; f{d} x",
    "echo \"$( {})\"",
    "X=$( {})",
    "echo ${X:-$( {})}",
    "cat <({})",
    "{} | cat",
    "{} # as above",
    "coproc { {}; }; wait",
    "[[ -n $( {}) ]]",
    "read -r V <<< {q}; eval \"$V\"",
    "while read -r V; do eval \"$V\"; done <<< {q}",
];

/// As [`ONE_LINE`], for any command.
const ANY: [&str; 45] = [
    "true; {}",
    "true && {}",
    "false || {}",
    "! { {}\n}",
    "time {}",
    "echo x | { {}\n}",
    "pwd && {}",
    "set -e; {}",
    "# as below\n{}",
    "\n\n{}",
    "( {}\n)",
    "{ {}\n}",
    "if true\nthen {}\nfi",
    "X=$(\n{}\n)",
    "bash -c {q}",
    "sh -c {q}",
    "bash -ec {q}",
    "env bash -c {q}",
    "eval {q}",
    "bash <<'{d}'\n{}\n{d}\n",
    "cat <<'{d}' | bash\n{}\n{d}\n",
    "bash <<< {q}",
    "printf '%s\\n' {q} | bash",
    "V={q}; eval \"$V\"",
    "V={q}; bash -c \"$V\"",
    "bash -c 'eval \"$1\"' x {q}",
    "eval \"$(printf %s {q})\"",
    "bash -c \"$(cat <<'{d}'\n{}\n{d}\n)\"",
    "find . -maxdepth 0 -exec bash -c {q} \\;",
    "timeout 5 bash -c {q}",
    "nohup sh -c {q}",
    "printf %s {q} | xargs -0 bash -c",
    "( {}\n) | cat",
    "if ! { {}\n}; then true; fi",
    "export V={q}; bash -c 'eval \"$V\"'",
    "V={q} bash -c 'eval \"$V\"'",
    "declare -x V={q}; sh -c \"$V\"",
    "printf -v V %s {q}; eval \"$V\"",
    "V=$(cat <<'{d}'\n{}\n{d}\n); eval \"$V\"",
    "set -- {q}; eval \"$1\"",
    "f{d}() { eval \"$1\"; }; f{d} {q}",
    "for c in {q}; do eval \"$c\"; done",
    "case x in x) {}\n;; esac",
    "trap {q} EXIT",
    "bash -s <<'{d}'\n{}\n{d}\n",
];

/// Texts that contain a command, but do not run it.
const DATA: [&str; 31] = [
    "echo {q}",
    "printf '%s\\n' {q}",
    "echo {q} | grep x",
    "echo {q} > notes.md",
    "echo {q} >> notes.md",
    "grep -n {q} notes.md",
    "grep -rn -e {q} src",
    "rg -- {q}",
    "git commit -m {q}",
    "git commit -am {q}",
    "git commit -q --message={q}",
    "git log --grep={q}",
    "git log -S {q}",
    "git tag -a v1 -m {q}",
    "gh pr create --title x --body {q}",
    "gh issue create --title {q}",
    "cat <<'{d}'\n{}\n{d}\n",
    "cat > notes.md <<'{d}'\n{}\n{d}\n",
    "tee notes.md <<'{d}'\n{}\n{d}\n",
    "git commit -F - <<'{d}'\n{}\n{d}\n",
    ": <<'{d}'\n{}\n{d}\n",
    "wc -c <<< {q}",
    "V={q}",
    "V={q}; ls",
    "export V={q}",
    "V={q} ls",
    "V={q}; echo \"$V\"",
    "[[ x == {q} ]]",
    "[ -n {q} ]",
    "case {q} in x) ls;; esac",
    "jq -n --arg x {q} '$x'",
];

/// As [`DATA`], for commands of one line.
const COMMENTS: [&str; 3] = ["# {}", "ls # {}", "ls\n  # {}\nls"];

/// Returns the command within a text that runs it, with the frame that was chosen. `depth` keeps here-documents apart that are
/// within each other.
pub fn frame(command: &str, depth: usize, choices: &mut Choices) -> String {
    let is_one_line = !command.contains('\n') && !command.contains('#');
    let at = choices.below(if is_one_line { ANY.len() + ONE_LINE.len() } else { ANY.len() });
    let frame = ANY.get(at).copied().unwrap_or_else(|| ONE_LINE[at - ANY.len()]);
    // `find` would replace the `{}` of an inner `xargs`.
    let is_changed = frame.starts_with("find ") && command.contains("{}");
    let frame = if is_changed { "eval {q}" } else { frame };
    fill(frame, command, depth)
}

/// Returns every text that contains the command as data.
pub fn as_data(command: &str) -> Vec<String> {
    let comments = COMMENTS.iter().filter(|_| !command.contains('\n'));
    DATA.iter().chain(comments).map(|frame| fill(frame, command, 0)).collect()
}

fn fill(frame: &str, command: &str, depth: usize) -> String {
    let fill =
        |part: &str| part.replace("{d}", &format!("END{depth}")).replace("{q}", &quote(command));
    match frame.split_once("{}") {
        Some((before, after)) => format!("{}{command}{}", fill(before), fill(after)),
        None => fill(frame),
    }
}
