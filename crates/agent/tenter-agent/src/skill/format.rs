//! The file of a skill: Markdown with front matter.
//!
//! Skills are written for many agents. A violation with an obvious reading is a warning, and the skill is used; only a skill
//! without a description, or with invalid YAML, is rejected.

use std::path::{Path, PathBuf};

use tenter_base::{nearest, or_list};
use tenter_engine::Layer;
use tenter_protocol::front_matter::{
    self, Code, Document, Field, Format, Node, Report, Strictness, find,
};
use tenter_protocol::{Diagnostic, resource_name};

/// The file that makes a directory a skill.
pub const SKILL_FILE: &str = "SKILL.md";
/// Maximum size of a skill's file, in bytes.
pub const MAX_FILE_SIZE: usize = 256 * 1024;
/// Maximum number of characters in a description.
pub const MAX_DESCRIPTION_LENGTH: usize = 1024;
/// Maximum number of characters in `compatibility`.
pub const MAX_COMPATIBILITY_LENGTH: usize = 500;

const KEYS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

const FORMAT: Format = Format {
    max_file_size: MAX_FILE_SIZE,
    too_large_help: "move what is not always needed to other files of its directory",
    file_too_large: Code::error("skill-too-large"),
    encoding: Code::error("skill-encoding"),
    ..Format::GENERIC
};
const NAME: Code = Code::lenient("skill-name");
const DESCRIPTION: Code = Code::error("skill-description");
const EMPTY: Code = Code::warning("skill-empty");
const FIELD_IGNORED: Code = Code::lenient("skill-field-ignored");
const FIELD_TOO_LONG: Code = Code::lenient("skill-field-too-long");
const FIELD_MISSPELLED: Code = Code::lenient("skill-field-unknown");
const FIELD_UNKNOWN: Code = Code::info("skill-field-unknown");

/// A skill that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its full name and its file.
    pub origin: SkillOrigin,
    /// Its purpose, and when to use it.
    pub description: String,
    /// Its licence.
    pub license: Option<String>,
    /// Its requirements.
    pub compatibility: Option<String>,
    /// Further information, in the order of the file.
    pub metadata: Vec<(String, String)>,
    /// The tools that it is written for. They are shown and grant nothing.
    pub allowed_tools: Vec<String>,
    /// The text for the model.
    pub instructions: String,
}

/// The name, layer and file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillOrigin {
    /// The name of its directory; the name of a plugin's skill begins with `org/repo/`.
    pub name: String,
    /// The layer that it belongs to.
    pub layer: Layer,
    /// Its `SKILL.md`.
    pub path: PathBuf,
}

impl SkillOrigin {
    /// Returns its directory.
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

impl Skill {
    /// Reads the bytes of a skill's file. There is a skill exactly when no diagnostic is an error.
    pub fn read(
        origin: SkillOrigin,
        bytes: &[u8],
        strictness: Strictness,
    ) -> (Option<Self>, Vec<Diagnostic>) {
        let path = origin.path.clone();
        let mut report = Report::new(&path, bytes, strictness, &FORMAT);
        let skill = Self::parse(origin, &mut report);
        report.finish(skill)
    }

    fn parse(origin: SkillOrigin, report: &mut Report<'_>) -> Option<Self> {
        let text = report.text_of_file()?;
        let document = front_matter::parse(report)?;
        let fields = &document.fields;
        check_name(&document, report);
        let description = description(&document, report);
        let skill = Self {
            origin,
            description: description.unwrap_or_default(),
            license: text_of(fields, "license", report),
            compatibility: find(fields, "compatibility")
                .and_then(|field| limited_text(field, MAX_COMPATIBILITY_LENGTH, report)),
            metadata: metadata(fields, report),
            allowed_tools: find(fields, "allowed-tools")
                .map(|field| words(field, report))
                .unwrap_or_default(),
            instructions: instructions(text, document.body, report),
        };
        report_unknown(fields, report);
        Some(skill)
    }
}

/// Checks the name of the directory, whatever the file says: no two skills in a directory can have the same.
fn check_name(document: &Document, report: &mut Report<'_>) {
    let directory = report.path().parent().and_then(Path::file_name);
    let directory = directory.unwrap_or_default().to_string_lossy().into_owned();
    for fault in resource_name::faults(&directory) {
        let message = format!("the name {directory:?} {fault}");
        let help =
            "rename the directory: lower-case letters and digits, separated by single hyphens";
        report.add(&NAME, None, message, help);
    }
    let expected = format!("`name: {directory}`, or rename the directory");
    let field = find(&document.fields, "name");
    match field.and_then(|field| Some((field, report.optional_text(field, &FIELD_IGNORED)?))) {
        None => {
            let message = "the field `name` is missing";
            report.add(&NAME, None, message, format!("write {expected}"));
        }
        Some((field, name)) if name.trim() != directory => {
            let what = format!("is `{}`, but the directory is `{directory}`", name.trim());
            report.invalid(field, &NAME, &what, &expected);
        }
        Some(_) => {}
    }
}

fn description(document: &Document, report: &mut Report<'_>) -> Option<String> {
    let field = find(&document.fields, "description");
    let text = field.and_then(|field| limited_text(field, MAX_DESCRIPTION_LENGTH, report));
    let text = text.filter(|text| !text.is_empty());
    if text.is_none() {
        let message = "a skill needs a `description`, by which the model selects it";
        let help = "begin the file with `---`, `name: …`, `description: …` and `---`, a line each";
        report.add(&DESCRIPTION, None, message, help);
    }
    text
}

fn instructions(text: &str, body: usize, report: &mut Report<'_>) -> String {
    let text = text.get(body..).unwrap_or_default();
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        let message = "the skill has no instructions below the front matter";
        let help = "write what the model is to do below the second `---`";
        report.add(&EMPTY, None, message, help);
    }
    text.to_owned()
}

fn text(field: &Field, report: &mut Report<'_>) -> Option<String> {
    report.optional_text(field, &FIELD_IGNORED).map(|text| text.trim().to_owned())
}

fn text_of(fields: &[Field], key: &str, report: &mut Report<'_>) -> Option<String> {
    find(fields, key).and_then(|field| text(field, report))
}

fn limited_text(field: &Field, max_length: usize, report: &mut Report<'_>) -> Option<String> {
    let text = text(field, report)?;
    let length = text.chars().count();
    if length > max_length {
        let what = format!("has {length} characters; the maximum is {max_length}");
        report.invalid(field, &FIELD_TOO_LONG, &what, "the rest below the front matter");
    }
    Some(text)
}

fn metadata(fields: &[Field], report: &mut Report<'_>) -> Vec<(String, String)> {
    let Some(field) = find(fields, "metadata") else { return Vec::new() };
    let fields = report.optional_mapping(field, &FIELD_IGNORED).iter();
    fields.filter_map(|field| Some((field.key.clone(), text(field, report)?))).collect()
}

/// Returns words separated by spaces or commas, or a list of words. `Bash(git add *)` is one word.
fn words(field: &Field, report: &mut Report<'_>) -> Vec<String> {
    if let Some(items) = field.value.as_list() {
        return items.iter().filter_map(Node::as_text).map(|text| text.trim().to_owned()).collect();
    }
    let text = report.optional_text(field, &FIELD_IGNORED).unwrap_or_default();
    split_words(text)
}

/// Splits at spaces and commas that are not in parentheses.
fn split_words(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (letter.is_whitespace() || letter == ',')
    });
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Reports unknown keys. Other agents may have them, so only one that is nearly a known key is more than information.
fn report_unknown(fields: &[Field], report: &mut Report<'_>) {
    for field in fields.iter().filter(|field| !KEYS.contains(&field.key.as_str())) {
        let (code, help) = match nearest(&field.key, &KEYS) {
            Some(near) => (FIELD_MISSPELLED, format!("did you mean `{near}`?")),
            None => {
                (FIELD_UNKNOWN, format!("keys are {}; put others below `metadata`", or_list(&KEYS)))
            }
        };
        report.unknown_field(field, &code, "a skill", help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_protocol::Severity;

    fn read(text: &str, strictness: Strictness) -> (Option<Skill>, Vec<(&'static str, Severity)>) {
        let path = PathBuf::from("/skills/pdf/SKILL.md");
        let origin = SkillOrigin { name: "pdf".to_owned(), layer: Layer::Project, path };
        let (skill, diagnostics) = Skill::read(origin, text.as_bytes(), strictness);
        (skill, diagnostics.iter().map(|diagnostic| (diagnostic.id, diagnostic.severity)).collect())
    }

    #[test]
    fn reads_every_field_of_the_convention() {
        let (skill, diagnostics) = read(
            "---\nname: pdf\ndescription: >\n  Reads PDFs.\n  Use it for forms.\nlicense: MIT\ncompatibility: Needs python3\n\
             metadata:\n  author: ada\n  version: 1.0\nallowed-tools: Bash(git add *) Read,Grep\n---\n\n# PDF\n\nRead it.\n",
            Strictness::Strict,
        );
        assert_eq!(diagnostics, []);
        let skill = skill.unwrap();
        assert_eq!(skill.description, "Reads PDFs. Use it for forms.");
        assert_eq!(skill.license.as_deref(), Some("MIT"));
        assert_eq!(skill.compatibility.as_deref(), Some("Needs python3"));
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(skill.metadata, [pair("author", "ada"), pair("version", "1.0")]);
        assert_eq!(skill.allowed_tools, ["Bash(git add *)", "Read", "Grep"]);
        assert_eq!(skill.instructions, "# PDF\n\nRead it.");
    }

    #[test]
    fn violations_with_an_obvious_reading_are_warnings_unless_rules_are_strict() {
        let long = "x".repeat(MAX_DESCRIPTION_LENGTH + 1);
        for (front, id) in [
            ("description: d".to_owned(), "skill-name"),
            ("name: PDF\ndescription: d".to_owned(), "skill-name"),
            (format!("name: pdf\ndescription: {long}"), "skill-field-too-long"),
            ("name: pdf\ndescription: d\nlicense: [MIT]".to_owned(), "skill-field-ignored"),
            ("name: pdf\ndescription: d\nmetadata: 7".to_owned(), "skill-field-ignored"),
            ("name: pdf\ndescription: d\nallowed_tools: Read".to_owned(), "skill-field-unknown"),
        ] {
            let text = format!("---\n{front}\n---\nDo it.");
            let (skill, diagnostics) = read(&text, Strictness::Tolerant);
            assert!(skill.is_some(), "{front}");
            assert_eq!(diagnostics, [(id, Severity::Warning)], "{front}");
            let (skill, diagnostics) = read(&text, Strictness::Strict);
            assert!(skill.is_none(), "{front}");
            assert_eq!(diagnostics, [(id, Severity::Error)], "{front}");
        }
    }

    #[test]
    fn unknown_keys_are_information() {
        let text = "---\nname: pdf\ndescription: d\nuser-invocable: true\n---\nDo it.";
        let (skill, diagnostics) = read(text, Strictness::Strict);
        assert!(skill.is_some());
        assert_eq!(diagnostics, [("skill-field-unknown", Severity::Info)]);
    }

    #[test]
    fn a_description_is_required() {
        for text in [
            "",
            "Do it.",
            "---\nname: pdf\n---\nDo it.",
            "---\nname: pdf\ndescription: ' '\n---\nx",
        ] {
            let (skill, diagnostics) = read(text, Strictness::Tolerant);
            assert!(skill.is_none(), "{text:?}");
            assert!(
                diagnostics.contains(&("skill-description", Severity::Error)),
                "{text:?} {diagnostics:?}"
            );
        }
    }

    #[test]
    fn rejects_files_that_are_too_large_or_not_utf8() {
        let origin = || SkillOrigin {
            name: "pdf".to_owned(),
            layer: Layer::User,
            path: "/skills/pdf/SKILL.md".into(),
        };
        let (skill, diagnostics) =
            Skill::read(origin(), &vec![b'x'; MAX_FILE_SIZE + 1], Strictness::Tolerant);
        assert_eq!((skill, diagnostics[0].id), (None, "skill-too-large"));
        let (skill, diagnostics) =
            Skill::read(origin(), b"---\nname: pdf\n\xff---\n", Strictness::Tolerant);
        assert_eq!((skill, diagnostics[0].id), (None, "skill-encoding"));
        assert_eq!(diagnostics[0].span.as_ref().map(|place| place.line), Some(3));
    }

    #[test]
    fn accepts_a_byte_order_mark_and_windows_line_endings() {
        let (skill, diagnostics) = read(
            "\u{feff}---\r\nname: pdf\r\ndescription: d\r\n---\r\nDo it.\r\n",
            Strictness::Strict,
        );
        assert_eq!((skill.unwrap().instructions.as_str(), diagnostics), ("Do it.", vec![]));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let origin = SkillOrigin { name: "a".to_owned(), layer: Layer::User, path: "/a/SKILL.md".into() };
            let (skill, diagnostics) = Skill::read(origin, &bytes, Strictness::Tolerant);
            let is_broken = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
            proptest::prop_assert_eq!(skill.is_some(), !is_broken);
        }
    }
}
