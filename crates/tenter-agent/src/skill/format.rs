//! One skill's file: Markdown with front matter.
//!
//! Skills are written for many agents. What has an obvious reading is a warning, and the skill is used; only a skill that
//! nobody could tell the use of, or whose front matter is no YAML, is none.

use std::ops::Range;
use std::path::{Path, PathBuf};

use tenter_base::{nearest, or_list};
use tenter_engine::hook::Layer;
use tenter_protocol::manifest::front_matter::{Field, Rules, Written, document, name_faults};
use tenter_protocol::{Diagnostic, Severity, SourceText};

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";
/// The longest file that is read, in bytes.
pub const LONGEST_FILE: usize = 256 * 1024;
/// Characters of a description at most.
pub const LONGEST_DESCRIPTION: usize = 1024;
/// Characters of what is said about compatibility at most.
pub const LONGEST_COMPATIBILITY: usize = 500;

const KEYS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// A skill that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Where it comes from, and what it is called by.
    pub origin: SkillOrigin,
    /// What it is for and when to use it.
    pub description: String,
    /// The licence that it comes under.
    pub license: Option<String>,
    /// What it needs to work.
    pub compatibility: Option<String>,
    /// Whatever else its author wants known, in the order of the file.
    pub metadata: Vec<(String, String)>,
    /// The tools that it is written for. They are shown and grant nothing.
    pub allowed_tools: Vec<String>,
    /// What the model reads.
    pub instructions: String,
}

/// Where a skill comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillOrigin {
    /// What it is called by: its folder's name; a plugin's begins with `org/repo/`.
    pub name: String,
    /// Whose it is.
    pub layer: Layer,
    /// Its `SKILL.md`.
    pub path: PathBuf,
}

impl SkillOrigin {
    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

impl Skill {
    /// Reads the bytes of a skill's file. There is a skill exactly when no finding is an error.
    pub fn read(
        origin: SkillOrigin,
        bytes: &[u8],
        rules: Rules,
    ) -> (Option<Self>, Vec<Diagnostic>) {
        let text = match text(&origin.path, bytes) {
            Ok(text) => text,
            Err(finding) => return (None, vec![finding]),
        };
        let (document, mut found) = document(&origin.path, bytes);
        let Some(document) = document else { return (None, found) };
        let instructions = text.get(document.body..).unwrap_or_default();
        let instructions = instructions.trim_start_matches('\u{feff}').trim().to_owned();
        let mut skill = Self {
            origin,
            description: String::new(),
            license: None,
            compatibility: None,
            metadata: Vec::new(),
            allowed_tools: Vec::new(),
            instructions,
        };
        let path = skill.origin.path.clone();
        let mut reader = Reader { path: &path, bytes, rules, found: &mut found };
        reader.front_matter(&document.fields, &mut skill);
        let is_broken = found.iter().any(|finding| finding.severity == Severity::Error);
        ((!is_broken).then_some(skill), found)
    }
}

fn text<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b str, Diagnostic> {
    if bytes.len() > LONGEST_FILE {
        let message = format!("the file is longer than {} KiB", LONGEST_FILE / 1024);
        let finding = Diagnostic::new("skill-too-large", Severity::Error, message).at(path);
        return Err(finding.help("move what is not always needed to other files of its folder"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let first = error.valid_up_to();
        Diagnostic::new("skill-encoding", Severity::Error, "this is not UTF-8")
            .at(path)
            .with_span(SourceText::new(bytes).span(&(first..first)))
            .help("save the file as UTF-8")
    })
}

/// Reads the fields of one file.
struct Reader<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    rules: Rules,
    found: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn front_matter(&mut self, fields: &[Field], skill: &mut Skill) {
        let field = |key: &str| fields.iter().find(|field| field.key == key);
        self.name(field("name"));
        skill.description = field("description")
            .and_then(|field| self.limited(field, LONGEST_DESCRIPTION))
            .unwrap_or_default();
        if skill.description.is_empty() {
            let message = "a skill needs a `description`: the model uses it by that";
            let help =
                "begin the file with `---`, `name: …`, `description: …` and `---`, a line each";
            let finding = Diagnostic::new("skill-description", Severity::Error, message).help(help);
            self.add(None, finding);
        }
        skill.license = field("license").and_then(|field| self.text(field));
        skill.compatibility =
            field("compatibility").and_then(|field| self.limited(field, LONGEST_COMPATIBILITY));
        skill.metadata = field("metadata").map(|field| self.pairs(field)).unwrap_or_default();
        skill.allowed_tools =
            field("allowed-tools").map(|field| self.words(field)).unwrap_or_default();
        fields.iter().filter(|field| !KEYS.contains(&field.key.as_str())).for_each(|field| {
            self.unknown(field);
        });
        if skill.instructions.is_empty() {
            let message = "there is nothing below the front matter, so the skill says nothing";
            let help = "write what the model is to do below the second `---`";
            let finding = Diagnostic::new("skill-empty", Severity::Warning, message).help(help);
            self.add(None, finding);
        }
    }

    /// The folder's name counts, whatever is written: no two skills of one folder can have the same.
    fn name(&mut self, field: Option<&Field>) {
        let folder = self.path.parent().and_then(Path::file_name);
        let folder = folder.unwrap_or_default().to_string_lossy().into_owned();
        for fault in name_faults(&folder) {
            let message = format!("the name {folder:?} {fault}");
            let help = "give the folder a name of lower-case letters and digits, with single hyphens between them";
            let finding = Diagnostic::new("skill-name", self.ruled(), message).help(help);
            self.add(None, finding);
        }
        let written = field.and_then(|field| Some((field, self.text(field)?)));
        let help = format!("write `name: {folder}`, or rename the folder");
        match written {
            None => {
                let message = "a skill says its `name`, which is its folder's".to_owned();
                let finding = Diagnostic::new("skill-name", self.ruled(), message).help(help);
                self.add(None, finding);
            }
            Some((field, name)) if name != folder => {
                let message = format!("the skill is called `{name}` but its folder `{folder}`");
                let finding = Diagnostic::new("skill-name", self.ruled(), message).help(help);
                self.add(Some(&field.value.at), finding);
            }
            Some(_) => {}
        }
    }

    /// How bad it is not to be as the convention wants it.
    fn ruled(&self) -> Severity {
        match self.rules {
            Rules::Strict => Severity::Error,
            Rules::Tolerant => Severity::Warning,
        }
    }

    fn add(&mut self, at: Option<&Range<usize>>, finding: Diagnostic) {
        let finding = finding.at(self.path);
        self.found.push(match at {
            Some(at) => finding.with_span(SourceText::new(self.bytes).span(at)),
            None => finding,
        });
    }

    fn ignored(&mut self, at: &Range<usize>, message: String, help: &str) {
        let finding = Diagnostic::new("skill-field-ignored", self.ruled(), message).help(help);
        self.add(Some(at), finding);
    }

    fn text(&mut self, field: &Field) -> Option<String> {
        match &field.value.value {
            Written::Text(text) => Some(text.trim().to_owned()),
            Written::Nothing => None,
            Written::List(_) | Written::Fields(_) => {
                let message = format!("`{}` is text; this is ignored", field.key);
                self.ignored(&field.value.at, message, "write it behind the colon");
                None
            }
        }
    }

    fn limited(&mut self, field: &Field, most: usize) -> Option<String> {
        let text = self.text(field)?;
        let length = text.chars().count();
        if length > most {
            let message = format!("`{}` has {length} characters; {most} are the most", field.key);
            let help = "say it shorter: the rest belongs below the front matter";
            let finding = Diagnostic::new("skill-field-too-long", self.ruled(), message).help(help);
            self.add(Some(&field.value.at), finding);
        }
        Some(text)
    }

    fn pairs(&mut self, field: &Field) -> Vec<(String, String)> {
        let fields = match &field.value.value {
            Written::Fields(fields) => fields.as_slice(),
            Written::Nothing => &[],
            Written::Text(_) | Written::List(_) => {
                let message = format!("`{}` is a mapping; this is ignored", field.key);
                self.ignored(&field.value.at, message, "write `key: text` lines below it");
                &[]
            }
        };
        let pairs = fields.iter().filter_map(|field| Some((field.key.clone(), self.text(field)?)));
        pairs.collect()
    }

    /// Words with spaces or commas between them, or a list of words. `Bash(git add *)` is one word.
    fn words(&mut self, field: &Field) -> Vec<String> {
        match &field.value.value {
            Written::Text(text) => words(text),
            Written::Nothing => Vec::new(),
            Written::List(items) => {
                let texts = items.iter().filter_map(|item| match &item.value {
                    Written::Text(text) => Some(text.trim().to_owned()),
                    _ => None,
                });
                texts.collect()
            }
            Written::Fields(_) => {
                let message = format!("`{}` is a list; this is ignored", field.key);
                self.ignored(&field.value.at, message, "write `allowed-tools: Read Grep`");
                Vec::new()
            }
        }
    }

    /// A key that this agent does not know may be for another one. One that is nearly known is a slip.
    fn unknown(&mut self, field: &Field) {
        let message = format!("`{}` means nothing here; it is ignored", field.key);
        let (severity, help) = match nearest(&field.key, &KEYS) {
            Some(near) => (self.ruled(), format!("did you mean `{near}`?")),
            None => (
                Severity::Info,
                format!("keys are {}; put others below `metadata`", or_list(&KEYS)),
            ),
        };
        let finding = Diagnostic::new("skill-field-unknown", severity, message).help(help);
        self.add(Some(&field.key_at), finding);
    }
}

/// Splits at spaces and commas that are not in parentheses.
fn words(text: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, rules: Rules) -> (Option<Skill>, Vec<(&'static str, Severity)>) {
        let path = PathBuf::from("/skills/pdf/SKILL.md");
        let origin = SkillOrigin { name: "pdf".to_owned(), layer: Layer::Project, path };
        let (skill, found) = Skill::read(origin, text.as_bytes(), rules);
        (skill, found.iter().map(|finding| (finding.id, finding.severity)).collect())
    }

    #[test]
    fn everything_that_the_convention_knows_is_read() {
        let (skill, found) = read(
            "---\nname: pdf\ndescription: >\n  Reads PDFs.\n  Use it for forms.\nlicense: MIT\ncompatibility: Needs python3\n\
             metadata:\n  author: ada\n  version: 1.0\nallowed-tools: Bash(git add *) Read,Grep\n---\n\n# PDF\n\nRead it.\n",
            Rules::Strict,
        );
        assert_eq!(found, []);
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
    fn what_has_an_obvious_reading_is_a_warning_in_a_run_and_an_error_in_a_check() {
        let long = "x".repeat(LONGEST_DESCRIPTION + 1);
        for (front, id) in [
            ("description: d".to_owned(), "skill-name"),
            ("name: PDF\ndescription: d".to_owned(), "skill-name"),
            (format!("name: pdf\ndescription: {long}"), "skill-field-too-long"),
            ("name: pdf\ndescription: d\nlicense: [MIT]".to_owned(), "skill-field-ignored"),
            ("name: pdf\ndescription: d\nmetadata: 7".to_owned(), "skill-field-ignored"),
            ("name: pdf\ndescription: d\nallowed_tools: Read".to_owned(), "skill-field-unknown"),
        ] {
            let text = format!("---\n{front}\n---\nDo it.");
            let (skill, found) = read(&text, Rules::Tolerant);
            assert!(skill.is_some(), "{front}");
            assert_eq!(found, [(id, Severity::Warning)], "{front}");
            let (skill, found) = read(&text, Rules::Strict);
            assert!(skill.is_none(), "{front}");
            assert_eq!(found, [(id, Severity::Error)], "{front}");
        }
    }

    #[test]
    fn keys_of_other_agents_are_only_worth_knowing() {
        let text = "---\nname: pdf\ndescription: d\nuser-invocable: true\n---\nDo it.";
        let (skill, found) = read(text, Rules::Strict);
        assert!(skill.is_some());
        assert_eq!(found, [("skill-field-unknown", Severity::Info)]);
    }

    #[test]
    fn without_a_description_there_is_no_skill() {
        for text in [
            "",
            "Do it.",
            "---\nname: pdf\n---\nDo it.",
            "---\nname: pdf\ndescription: ' '\n---\nx",
        ] {
            let (skill, found) = read(text, Rules::Tolerant);
            assert!(skill.is_none(), "{text:?}");
            assert!(found.contains(&("skill-description", Severity::Error)), "{text:?} {found:?}");
        }
    }

    #[test]
    fn what_is_no_text_or_too_long_is_no_skill() {
        let origin = || SkillOrigin {
            name: "pdf".to_owned(),
            layer: Layer::User,
            path: "/skills/pdf/SKILL.md".into(),
        };
        let (skill, found) = Skill::read(origin(), &vec![b'x'; LONGEST_FILE + 1], Rules::Tolerant);
        assert_eq!((skill, found[0].id), (None, "skill-too-large"));
        let (skill, found) = Skill::read(origin(), b"---\nname: pdf\n\xff---\n", Rules::Tolerant);
        assert_eq!((skill, found[0].id), (None, "skill-encoding"));
        assert_eq!(found[0].span.as_ref().map(|place| place.line), Some(3));
    }

    #[test]
    fn a_mark_at_the_beginning_and_windows_line_ends_are_fine() {
        let (skill, found) =
            read("\u{feff}---\r\nname: pdf\r\ndescription: d\r\n---\r\nDo it.\r\n", Rules::Strict);
        assert_eq!((skill.unwrap().instructions.as_str(), found), ("Do it.", vec![]));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_are_too_odd_to_be_read(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let origin = SkillOrigin { name: "a".to_owned(), layer: Layer::User, path: "/a/SKILL.md".into() };
            let (skill, found) = Skill::read(origin, &bytes, Rules::Tolerant);
            let is_broken = found.iter().any(|finding| finding.severity == Severity::Error);
            proptest::prop_assert_eq!(skill.is_some(), !is_broken);
        }
    }
}
