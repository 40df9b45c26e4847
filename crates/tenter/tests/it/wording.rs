//! The words of the project: patterns that make a reader stumble do not come back.
//!
//! Phrases are checked in every text; the patterns of names and doc comments in Rust sources.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use regex::Regex;

use crate::architecture::{root, sources};

/// Phrases that have a plain replacement, as expressions over words. They match across line breaks, ignoring case, and in the
/// parts of identifiers that underscores separate.
const PHRASES: &[(&str, &str)] = &[
    ("nobodys?|somebody|whoever", "name the actor: the user, the caller, another process"),
    ("stranger", "untrusted, unknown"),
    ("the persons?|a person", "the user, a user"),
    ("(is|are|be) told", "receives, is notified, reads"),
    ("(is|are) held to", "is limited by, must satisfy"),
    ("in vain", "without success, after N attempts"),
    ("(go|goes|went|gone) on", "continues"),
    ("(stands?|lies?) in", "is in, replaces"),
    ("mend(s|ed)?", "fixes"),
    ("lesser", "smaller, cheaper"),
    ("displaced", "shadowed"),
    ("unawaited", "asynchronous, not awaited"),
    ("(takes?|in) the place of", "replaces, instead of"),
    ("what there is of|has to do with|comes about|what came of", "name it"),
    ("does it", "delete the comment, or say what the item does"),
    ("folders?", "directory"),
    ("anybody", "name the actor: the user, the caller, another process"),
    ("all the same", "anyway"),
    ("and nor", "nor"),
    ("(in|of) whose", "repeat the noun"),
];

/// Texts that contain a phrase and stay: machine-read names, and names that others chose.
const ALLOWED: &[&str] = &[
    "nobody to ask",        // a value in the journal and the JSON stream
    "starts in own folder", // a field of cached manifests
    "folder scratch root",  // a key of the demo's JSON
    "hooks folder unreadable",
    "plugins folder failed",
    "plugins folder unreadable",
    "plugin no folder",
    "manifest folder name",
    "recipe folder missing",
    "trust folder",         // an option of Copilot CLI
    "trusted folders toml", // a file of another agent
    "directory dir folder", // fields of tools
];

/// Participles, which name no thing: fields do not have these names. Others are words of payloads and files.
const FIELD_PARTICIPLES: &str =
    "_?(asked|changed|found|given|held|kept|known|left|meant|named|said|seen|shown|told|wanted)";

/// Participles that name no variable and no argument either.
const PARTICIPLES: &str = "_?(asked|changed|found|given|held|kept|known|left|meant|named|said|seen|shown|told|wanted|\
    added|allowed|answered|blocked|called|checked|chosen|closed|compiled|configured|copied|counted|created|deleted|\
    denied|dropped|edited|ended|expanded|exported|failed|finished|fired|gone|hidden|imported|installed|linked|listed|\
    loaded|locked|lost|made|marked|masked|moved|offered|opened|parsed|passed|printed|quoted|ran|received|recorded|\
    refused|rejected|remembered|removed|renamed|rendered|replaced|reported|requested|resolved|rewritten|saved|sealed|\
    selected|sent|skipped|sorted|spent|started|stated|stopped|stored|streamed|taken|tested|trusted|typed|updated|\
    used|verified|visited|written)";

/// Patterns in lines of Rust, each with what to write instead. `PARTICIPLE` is one of [`PARTICIPLES`], `FIELD_NAME` one of
/// [`FIELD_PARTICIPLES`].
const PATTERNS: &[(&str, &str)] = &[
    (
        r"^\s*//[/!] (Whether|What|How|Why|Who|Where|Which)\b",
        "begin with a verb (a function) or a noun (anything else)",
    ),
    (r"\blet (mut )?PARTICIPLE\b", "name the variable by a noun"),
    (r"(\bfor |\bSome\(|\|)PARTICIPLE( in\b|\)|\|)", "name the variable by a noun"),
    (
        r"(\blet \([^=]*|\b(Ok|Err)\()\b(found|kept|known|made|meant|taken|told)\b[^=]*\) =",
        "name the variable by a noun",
    ),
    (r"\bfn of([(<]|_\w+[(<][^)])|\bof_[a-z_]+([,:)|]| =)", "name it by a verb or a noun"),
    (
        r"//.*\b((that|those) of\b|(is|are) about( [^t]| t[^o]|$))",
        "repeat the noun; write `applies to`",
    ),
    (r"\bconst (LONGEST|LOOK|MOST|PATIENCE|REST|TOLD)\b", "add the noun: MAX_ENTRIES"),
];

/// Fields of structs, and arguments of functions and closures.
const DECLARATIONS: &[(&str, &str)] = &[
    (
        r"(^\s*(pub(\([a-z: ]+\))? )?|\bfn .*[(, ])(mut )?FIELD_NAME: (&|\(|\[|[A-Z]|(bool|char|[iuf]\d+|[iu]size|impl|dyn)\b)",
        "name it by a noun, or by `is_` or `has_` if it is a bool",
    ),
    (r"\bfn .*[(, ](mut )?PARTICIPLE: ", "name the argument by a noun"),
    (r"(\(|, |= |move |^\s*)\|[^|]*\bPARTICIPLE\b[^|]*\|", "name the argument by a noun"),
];

/// Fields whose name is the name in a payload, a tool's result or a JSON output.
const WIRE_FIELDS: &[&str] = &[
    "pub kept: Vec<String>,",             // how a call was confined
    "pub changed: Option<ChangedFiles>,", // the result of a command
    "changed: None,",
    "changed: Some(tenter_protocol::tool_metadata::ChangedFiles::default()),",
    "pub changed: u64,",  // `tenter hooks backtest --json`
    "asked: usize,",      // `tenter hooks stats --json`
    "pub given: String,", // a path in the payload
    "given: text.to_owned(),",
];

/// Type names that could mean several things: each needs its noun (`CatalogEntry`, `StopReason`).
const VAGUE_TYPES: &[&str] = &[
    "Answer", "Around", "Beside", "Concern", "Concerns", "Ended", "Ending", "Entry", "Found",
    "Given", "Item", "Leaving", "Listed", "Place", "Said", "Seen", "Shelf", "Standing", "Stop",
    "Told", "Trouble", "Wish",
];

/// Type names with one meaning in the workspace.
const SINGLE_TYPES: &[&str] = tenter_base::words!(
    "Change Failure FileChange Layer Layout Outcome Owner Reply Scope SessionChange SessionEnd
     SessionState State ToolEnd Verdict"
);

/// The first words of a function's doc comment: a verb in the third person, or a reference to a function that does the same.
const VERB: &str = r"^\s*/// ([A-Z][a-z]+s\b|(As|Like|See) \[)";

/// First words that end like a verb and are none.
const NO_VERBS: &[&str] = tenter_base::words!(
    "Arguments As Characters Choices Columns Commands Conditions Events Fields Files Findings Has
     Hooks Indices Its Keys Letters Lines Literals Models Modules Objects Options Pages Paths
     Permissions Pieces Plugins Problems Rules Snapshots Texts This Tools Values Warnings Words"
);

/// This file, which lists what is not to be written.
const THIS_FILE: &str = "crates/tenter/tests/it/wording.rs";

/// Extensions of files beside Rust sources whose words users read.
const TEXT_EXTENSIONS: &[&str] = &["md", "sh", "py", "mjs", "toml"];

/// The words of a text in lower case with one space between them, and the line of each.
struct Words {
    text: String,
    /// The position of each word in `text`, and its line.
    starts: Vec<(usize, usize)>,
}

impl Words {
    fn new(text: &str) -> Self {
        let mut words = Self { text: String::new(), starts: Vec::new() };
        for (index, line) in text.lines().enumerate() {
            let parts = line.split(|c: char| !c.is_alphabetic());
            for word in parts.filter(|word| !word.is_empty()) {
                words.starts.push((words.text.len(), index + 1));
                words.text.push_str(&word.to_lowercase());
                words.text.push(' ');
            }
        }
        for allowed in ALLOWED {
            words.text = words.text.replace(allowed, &"-".repeat(allowed.len()));
        }
        words
    }

    /// Returns the lines on which a phrase begins.
    fn lines_with(&self, phrase: &Regex) -> Vec<usize> {
        let line = |position| {
            let index = self.starts.partition_point(|(start, _)| *start <= position);
            self.starts[index - 1].1
        };
        phrase.find_iter(&self.text).map(|phrase| line(phrase.start())).collect()
    }
}

/// Collects the files below `directory` that have one of the extensions, with their paths from the root.
fn texts_below(directory: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts_below(&path, texts);
        } else if path
            .extension()
            .is_some_and(|end| TEXT_EXTENSIONS.iter().any(|text| end == *text))
        {
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            texts.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Reads all texts that readers of the project and users of the program see.
fn all_texts() -> Vec<(String, String)> {
    let mut texts = sources();
    texts_below(&root().join("crates"), &mut texts);
    texts_below(&root().join("docs"), &mut texts);
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        texts.push((name.to_owned(), fs::read_to_string(root().join(name)).unwrap()));
    }
    texts.retain(|(name, _)| name != THIS_FILE);
    texts
}

/// Reads the Rust sources that follow the patterns.
fn conforming_sources() -> impl Iterator<Item = (String, String)> {
    sources().into_iter().filter(|(name, _)| name != THIS_FILE)
}

/// Returns the first line of each function's doc comment, with its index. The comment of a test may be a sentence about what it shows.
fn function_docs(text: &str) -> Vec<(usize, &str)> {
    let function = Regex::new(r"^(pub(\([a-z: ]+\))? )?(const |unsafe )*fn \w").unwrap();
    let (mut docs, mut first, mut is_in_attribute) = (Vec::new(), None, false);
    for (index, line) in text.lines().enumerate() {
        let code = line.trim();
        if code.starts_with("///") {
            first = first.or(Some((index, line)));
        } else if is_in_attribute || code.starts_with("#[") {
            is_in_attribute = !code.ends_with(']');
            first = first.filter(|_| code != "#[test]");
        } else {
            let is_function = function.is_match(code);
            docs.extend(first.take().filter(|_| is_function));
        }
    }
    docs
}

/// Compiles expressions, each after `prefix` and before `suffix`.
fn compile(
    table: &'static [(&str, &str)],
    prefix: &str,
    suffix: &str,
) -> Vec<(Regex, &'static str)> {
    let expression = |pattern: &str| {
        let pattern =
            pattern.replace("FIELD_NAME", FIELD_PARTICIPLES).replace("PARTICIPLE", PARTICIPLES);
        Regex::new(&format!("{prefix}{pattern}{suffix}")).unwrap()
    };
    table.iter().map(|(pattern, instead)| (expression(pattern), *instead)).collect()
}

/// Returns the types that a source declares, each with its line.
fn declared_types(text: &str) -> Vec<(String, usize)> {
    let declaration = Regex::new(
        r"^(\s*(pub(\([a-z: ]+\))? )?(struct|enum|trait)|(pub(\([a-z: ]+\))? )?type) (?<name>\w+)",
    )
    .unwrap();
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(index, line)| {
            Some((declaration.captures(line)?["name"].to_owned(), index + 1))
        })
        .collect()
}

#[test]
fn phrases_with_a_plain_replacement_do_not_occur() {
    let phrases = compile(PHRASES, r"\b(", r")\b");
    let mut flaws = Vec::new();
    for (name, text) in all_texts() {
        let words = Words::new(&text);
        for (phrase, instead) in &phrases {
            let lines = words.lines_with(phrase).into_iter();
            flaws.extend(lines.map(|line| format!("{name}:{line}: {phrase}; write: {instead}")));
        }
    }
    assert!(flaws.is_empty(), "{} odd phrases:\n{}", flaws.len(), flaws.join("\n"));
}

#[test]
fn names_and_doc_comments_follow_the_patterns() {
    let patterns = compile(PATTERNS, "", "");
    let declarations = compile(DECLARATIONS, "", "");
    let mut flaws = Vec::new();
    for (name, text) in conforming_sources() {
        for (index, line) in text.lines().enumerate() {
            let is_checked = !WIRE_FIELDS.contains(&line.trim());
            let patterns = patterns.iter().chain(declarations.iter().filter(|_| is_checked));
            let matching = patterns.filter(|(pattern, _)| pattern.is_match(line));
            flaws.extend(matching.map(|(_, instead)| {
                format!("{name}:{}: {}\n    {instead}", index + 1, line.trim())
            }));
        }
    }
    assert!(flaws.is_empty(), "{} flaws:\n{}", flaws.len(), flaws.join("\n"));
}

#[test]
fn doc_comments_of_functions_begin_with_a_verb() {
    let verb = Regex::new(VERB).unwrap();
    let mut flaws = Vec::new();
    for (name, text) in conforming_sources() {
        for (index, line) in function_docs(&text) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_noun = NO_VERBS.contains(&words[1].trim_end_matches([',', '.', ':', ';']));
            if !verb.is_match(line) || (is_noun && !line.contains("/// As [")) {
                flaws.push(format!("{name}:{}: {}", index + 1, line.trim()));
            }
        }
    }
    assert!(flaws.is_empty(), "{} flaws:\n{}", flaws.len(), flaws.join("\n"));
}

#[test]
fn the_doc_comments_of_functions_are_found() {
    let text = "/// Reads it.\n/// All.\n#[must_use]\nfn f() {}\n\n/// It reads.\n#[test]\nfn g() {}\n/// A type.\nstruct S;\nfn h() {}";
    assert_eq!(function_docs(text), [(0, "/// Reads it.")]);
}

#[test]
fn types_have_names_that_mean_one_thing() {
    let mut flaws = Vec::new();
    let mut single: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, text) in conforming_sources() {
        for (declared, line) in declared_types(&text) {
            if VAGUE_TYPES.contains(&declared.as_str()) {
                flaws.push(format!("{name}:{line}: the type {declared} needs a noun"));
            }
            if let Some(single_type) = SINGLE_TYPES.iter().find(|single| **single == declared) {
                single.entry(single_type).or_default().push(format!("{name}:{line}"));
            }
        }
    }
    single.retain(|_, places| places.len() > 1);
    assert!(flaws.is_empty() && single.is_empty(), "{}\n{single:#?}", flaws.join("\n"));
}

#[test]
fn a_phrase_is_found_across_lines_and_in_identifiers() {
    let words =
        Words::new("fn it_goes_on() {}\n// It Goes\n// on.\nlet ongoing = \"nobody to ask\";");
    let lines = |phrase: &str| words.lines_with(&Regex::new(phrase).unwrap());
    assert_eq!(lines(r"\b(goes) on\b"), [1, 2]);
    assert!(lines("nobody").is_empty());
}

#[test]
fn the_patterns_match_what_they_forbid() {
    let lines = [
        "    /// Whether the file exists.",
        "    let mut installed = Vec::new();",
        "    names.iter().any(|known| known == name)",
        "    let (name, mut found) = read(path);",
        "    pub fn of(text: &str) -> Self {",
        "// It is about the limit.",
        "const MOST: usize = 10;",
        "fn shorten(text: &str, mut left: usize) {",
        "fn lines(listed: &[String]) -> Lines {",
        "    pairs.find(|(known, _)| known == name)",
    ];
    let patterns = compile(PATTERNS, "", "").into_iter().chain(compile(DECLARATIONS, "", ""));
    for (line, (pattern, _)) in lines.iter().zip(patterns) {
        assert!(pattern.is_match(line), "{line}");
        assert!(!pattern.is_match("/// Returns whether it is what was found."), "{pattern}");
    }
    let (field, _) = &compile(DECLARATIONS, "", "")[0];
    let lines =
        ["    pub kept: Vec<u8>,", "    is_kept: bool,", "    kept: kept.iter().collect(),"];
    assert_eq!(lines.map(|line| field.is_match(line)), [true, false, false]);
    assert_eq!(declared_types("pub(crate) struct Outcome {"), [("Outcome".to_owned(), 1)]);
}

/// Changes are added by merging both sides, which can leave a line or a group twice.
#[test]
fn the_changelog_says_everything_once() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let unreleased = text.split("\n## ").nth(1).unwrap();
    let (mut section, mut lines) = ("", HashSet::new());
    for line in unreleased.lines().filter(|line| line.starts_with(['#', '-'])) {
        if line.starts_with("### ") {
            section = line;
        }
        let key = if line.starts_with("####") { (section, line) } else { ("", line) };
        assert!(lines.insert(key), "twice in CHANGELOG.md: {line}");
    }
}
