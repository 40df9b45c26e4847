//! The parser reads every byte a fixed number of times (C5).

use crate::limits::{MAX_BYTES, MAX_DEPTH};
use crate::syntax::parse;

/// Texts that open something, or are read in a special way, and stay open when they are repeated.
const OPENERS: [&str; 92] = [
    "(",
    "{ ",
    "$(",
    "\"$(",
    "`",
    "<<A ",
    "<<A\n",
    "<<-'A'\n",
    "if ",
    "if a; then ",
    "case x in ",
    "case a in b) ",
    "'",
    "\"",
    "\\",
    "${",
    "${x:-",
    "\"${x:-",
    "${x#",
    "${#",
    "${!",
    "$((",
    "$[",
    "((",
    "[[ ",
    "[[ a == ",
    "[ ",
    "a|",
    "a|&",
    "a&&",
    "a||",
    "a;",
    "a&",
    "a\n",
    ">",
    ">>",
    "<",
    "<>",
    "1>",
    "{fd}>x ",
    "2>&1 ",
    "&>a ",
    "<(",
    ">(",
    "f() ",
    "f(){ ",
    "function ",
    "coproc ",
    "coproc a ",
    "time ",
    "! ",
    "!",
    "x=",
    "x+=",
    "x=(",
    "x=( ",
    "x[",
    "a=b ",
    "{a,b}",
    "{a,",
    "{1..9}",
    "{,}",
    "}",
    ")",
    "))",
    "fi ",
    "done ",
    "esac ",
    "then ",
    "do ",
    ";;",
    "\n",
    "#",
    "# c\n",
    "\0",
    "é",
    "for i in ",
    "for i in a; do ",
    "while ",
    "until a; do ",
    "select ",
    "<<<",
    "<<<a ",
    "$'",
    "$\"",
    "$",
    "~",
    "*",
    "?(",
    "@(",
    "cat <<E\nE\n",
    "\r\n",
];

#[test]
fn every_byte_is_read_a_fixed_number_of_times() {
    for opener in OPENERS {
        let text = opener.repeat(MAX_BYTES / 8 / opener.len());
        let work = parse(&text, 0).work;
        assert!(work <= 12 * text.len(), "{opener:?}: {work} for {} bytes", text.len());
    }
}

/// Texts in texts are read once for each level.
#[test]
fn nested_backticks_are_read_once_for_each_level() {
    let text = "a `b \\`c \\\\\\`d".repeat(MAX_BYTES / 64);
    assert!(parse(&text, 0).work <= 2 * MAX_DEPTH * text.len());
}
