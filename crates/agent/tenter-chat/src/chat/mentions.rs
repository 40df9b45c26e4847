//! `@FILE` in a message: the file is attached. Text files and listings of directories are added below the message, images as images.
//!
//! The user names the file, so it may be anywhere; what was attached is shown, and hooks see it as a part of the message.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tenter_agent::attachments::read_image;
use tenter_base::{excerpt, format_count, one_line, untrusted_file, visible};
use tenter_protocol::Block;
use tenter_terminal::{FAINT, NOTICE, styled, ui};

use super::words::{self, PathBases};

/// Maximum number of bytes of one attached file.
const FILE: usize = 64 * 1024;
/// Maximum number of bytes of all attached files of a message.
const ALL: usize = 256 * 1024;
/// Maximum number of files of a message.
const FILES: usize = 20;
/// Maximum number of entries of a directory's listing.
const ENTRIES: usize = 200;
/// Number of bytes in which a zero means that a file is not text.
const SNIFFED: usize = 8 * 1024;
/// Maximum number of characters shown of a path.
const SHOWN: usize = 200;
/// Punctuation that may follow a path in a sentence.
const PUNCTUATION: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', ']', '}'];

/// A word that begins with `@`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// The start of the word behind `@`, in bytes.
    pub(super) start: usize,
    /// The word, without quotes and backslashes.
    pub(super) path: String,
}

/// The files attached to a message.
#[derive(Default)]
pub(super) struct Attachments {
    /// The text to add below the message.
    text: String,
    pub(super) images: Vec<Block>,
    /// Lines for the user.
    notes: Vec<String>,
    files: Vec<PathBuf>,
}

/// Returns the mentions in a message. An `@` within a word, as in an email address, is none, nor is one in a block of code.
pub(super) fn mentions(message: &str) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut offset = 0;
    let mut is_code = false;
    for line in message.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        if !is_code && !is_fence {
            mentions.extend(
                find_in_line(line)
                    .map(|mention| Mention { start: offset + mention.start, ..mention }),
            );
        }
        is_code ^= is_fence;
        offset += line.len();
    }
    mentions
}

fn find_in_line(line: &str) -> impl Iterator<Item = Mention> {
    let starts = line.match_indices('@').map(|(at, _)| at);
    let starts = starts.filter(|at| is_boundary(line[..*at].chars().next_back()));
    starts.filter_map(|at| {
        let rest = &line[at + 1..];
        let word = words::split(rest).into_iter().next().filter(|word| word.start == 0)?;
        (!word.text.is_empty()).then_some(Mention { start: at + 1, path: word.text })
    })
}

/// Checks whether a mention may follow this character.
pub(super) fn is_boundary(before: Option<char>) -> bool {
    before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '{' | ',' | ';'))
}

/// Reads what a message mentions; `root` is the project's root.
pub(super) fn attach(message: &str, places: &PathBases, root: &Path) -> Attachments {
    let mut attachments = Attachments::default();
    for mention in mentions(message) {
        match existing(&mention.path, places) {
            Some((name, path)) => attachments.add(&name, &path, root),
            // What has no slash and no dot is a name rather than a file.
            None if mention.path.contains(['/', '.']) => {
                attachments.note(NOTICE, &mention.path, "is not attached: there is no such file");
            }
            None => {}
        }
    }
    attachments
}

/// Returns the file of a mention, without the punctuation that follows it.
fn existing(word: &str, places: &PathBases) -> Option<(String, PathBuf)> {
    let trimmed = word.trim_end_matches(PUNCTUATION);
    [word, trimmed].into_iter().filter(|name| !name.is_empty()).find_map(|name| {
        let path = places.resolve(name);
        path.exists().then(|| (name.to_owned(), path))
    })
}

impl Attachments {
    /// Returns `message` with the attached files below it, and the images. Shows what was attached.
    pub(super) fn below(self, message: &str) -> (String, Vec<Block>) {
        self.notes.iter().for_each(ui::note);
        (format!("{message}{}", self.text), self.images)
    }

    fn note(&mut self, style: anstyle::Style, name: &str, words: &str) {
        let name = one_line(&visible(name), SHOWN);
        self.notes.push(styled(style, format!("  @{name} {words}")));
    }

    fn add(&mut self, name: &str, path: &Path, root: &Path) {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if self.files.contains(&real) {
            return;
        }
        if self.files.len() == FILES || self.text.len() >= ALL {
            self.note(NOTICE, name, "is not attached: the message has too many files");
            return;
        }
        let content = if path.is_dir() { listing(path) } else { self.read(path) };
        match content {
            Ok(FileContent { text, about }) => {
                let real_root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
                let outside = if real.starts_with(real_root) {
                    String::new()
                } else {
                    format!(", outside of the project: {}", visible(&real.to_string_lossy()))
                };
                self.note(FAINT, name, &format!("is attached: {about}{outside}"));
                self.files.push(real);
                if let Some(text) = text {
                    let text = text.trim_end();
                    let _ = write!(self.text, "\n\n<file path={name:?}>\n{text}\n</file>");
                }
            }
            Err(why) => self.note(NOTICE, name, &format!("is not attached: {why}")),
        }
    }

    fn read(&mut self, path: &Path) -> Result<FileContent, String> {
        if let Ok(image) = read_image(&path.to_string_lossy(), Path::new("/")) {
            self.images.push(image);
            return Ok(FileContent { text: None, about: "an image".to_owned() });
        }
        let room = FILE.min(ALL.saturating_sub(self.text.len()));
        let content = untrusted_file::read_prefix(path, room as u64 + 1);
        let bytes = content.map_err(|error| error.to_string())?;
        if bytes[..bytes.len().min(SNIFFED)].contains(&0) {
            return Err("it is not a text file".to_owned());
        }
        let all = String::from_utf8_lossy(&bytes);
        let lines = all.lines().count();
        if bytes.len() <= room {
            let about = format_count(lines, "line", "lines");
            return Ok(FileContent { text: Some(all.into_owned()), about });
        }
        let beginning = excerpt::prefix(&all, room);
        let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
        let cut = format!("the first {room} of {size} bytes");
        Ok(FileContent { text: Some(format!("{beginning}\n[{cut}]")), about: cut })
    }
}

/// The content of a file.
struct FileContent {
    /// `None` for an image.
    text: Option<String>,
    about: String,
}

fn listing(directory: &Path) -> Result<FileContent, String> {
    let entries = fs::read_dir(directory).map_err(|error| error.to_string())?;
    let mut names: Vec<String> = entries
        .flatten()
        .take(10 * ENTRIES)
        .map(|entry| {
            let end = if entry.path().is_dir() { "/" } else { "" };
            format!("{}{end}", entry.file_name().to_string_lossy())
        })
        .collect();
    names.sort();
    let count = names.len();
    if count > ENTRIES {
        names.truncate(ENTRIES);
        names.push("…".to_owned());
    }
    Ok(FileContent {
        text: Some(names.join("\n")),
        about: format!("a directory with {count} entries"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(message: &str) -> Vec<String> {
        mentions(message).into_iter().map(|mention| mention.path).collect()
    }

    #[test]
    fn a_mention_is_a_word_that_begins_with_an_at_sign() {
        assert_eq!(
            paths("see @src/a.rs, (@b.rs) and @\"my notes.md\" or @my\\ notes.md"),
            ["src/a.rs,", "b.rs)", "my notes.md", "my notes.md"]
        );
        assert_eq!(paths("ada@example.com a@b @ alone @"), [] as [&str; 0]);
        assert_eq!(paths("@a\n```\n@code\n```\n@b"), ["a", "b"]);
        assert_eq!(mentions("é @x")[0].start, 4);
    }

    #[test]
    fn files_images_and_directories_are_attached_and_others_noted() {
        let scratch = tempfile::tempdir().unwrap();
        let cwd = scratch.path().join("project");
        fs::create_dir_all(cwd.join("dir/sub")).unwrap();
        let write = |name: &str, bytes: &[u8]| fs::write(cwd.join(name), bytes).unwrap();
        write("a.txt", b"one\ntwo\n");
        write("dir/x", b"");
        write("blob.bin", b"a\0b");
        write("cat.png", b"\x89PNG\r\n\x1a\n...");
        write("long.txt", &b"line\n".repeat(FILE));
        fs::write(scratch.path().join("secret"), "key").unwrap();
        let places = PathBases { cwd: cwd.clone(), home: scratch.path().to_owned() };
        let attached = |message: &str| attach(message, &places, &cwd);
        let some = attached("@a.txt. @a.txt @dir @cat.png @blob.bin @no/such @ada ~/secret");
        assert_eq!(
            some.text,
            "\n\n<file path=\"a.txt\">\none\ntwo\n</file>\n\n<file path=\"dir\">\nsub/\nx\n</file>"
        );
        assert_eq!(some.images.len(), 1);
        let notes = some.notes.join("\n");
        for words in [
            "@a.txt is attached: 2 lines",
            "@dir is attached: a directory with 2 entries",
            "@cat.png is attached: an image",
            "@blob.bin is not attached: it is not a text file",
            "@no/such is not attached: there is no such file",
        ] {
            assert!(notes.contains(words), "{words}\n{notes}");
        }
        assert_eq!(some.notes.len(), 5, "{notes}");
        let long = attached("@long.txt");
        assert!(
            long.text.len() < FILE + 200 && long.text.contains("[the first 65536 of 327680 bytes]")
        );
        let outside = attached("@~/secret");
        assert!(outside.notes[0].contains("outside of the project: "), "{:?}", outside.notes);
        let many: Vec<String> = (0..30)
            .map(|n| {
                write(&format!("f{n}.txt"), b"x");
                format!("@f{n}.txt")
            })
            .collect();
        assert_eq!(attached(&many.join(" ")).files.len(), FILES);
    }

    #[test]
    fn a_pipe_does_not_block() {
        let scratch = tempfile::tempdir().unwrap();
        let pipe = scratch.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        let places = PathBases { cwd: scratch.path().to_owned(), home: "/".into() };
        let attached = attach("@./pipe", &places, scratch.path());
        assert!(attached.notes[0].contains("is not attached"), "{:?}", attached.notes);
    }
}
