//! The system prompt: short, and the same for every provider.
//!
//! It contains instructions how to work, the environment, and context files of the project and the user (`AGENTS.md`). It
//! names no provider, does not change within a conversation and a day, so that providers can cache it, and lists no
//! tools: those are in every request.

mod context;
mod repository;
mod section;

use std::path::{Path, PathBuf};

use jiff::civil::Date;
use tenter_protocol::{Diagnostic, Severity};

use context::ContextFiles;
use repository::Repository;

pub use section::SectionWriter;

/// The inputs of a system prompt.
#[derive(Debug, Clone)]
pub struct PromptSources<'s> {
    /// The project root.
    pub project: &'s Path,
    /// The working directory; its `AGENTS.md` is included if it is inside the project.
    pub cwd: &'s Path,
    /// The user's own context files; those that do not exist are skipped.
    pub user_files: Vec<PathBuf>,
    /// A file that replaces the instructions how to work.
    pub override_file: Option<PathBuf>,
    /// The date, in UTC.
    pub today: Date,
    /// The operating system.
    pub os: &'s str,
    /// The user's shell.
    pub shell: Option<&'s str>,
}

/// The default instructions how to work.
const HOW_TO_WORK: &str = "\
You are a coding agent.
Use the tools to look at the project before you answer and to do what is asked; do not guess what a file contains. Relative \
paths start from the working directory, where commands run. Make independent tool calls in one response.
The user's hooks check your tool calls. A hook may block a call, change its input or its output, or add a message. A \
blocked call states the reason: respect it and find another way, or say that you cannot continue.
Be brief. When the task is done, say what you did and stop calling tools.";

/// A system prompt, not yet formatted for a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPrompt {
    how_to_work: String,
    sections: Vec<PromptSection>,
}

/// A part of the system prompt that is marked as a section.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PromptSection {
    kind: &'static str,
    /// The file that the text was read from.
    from: Option<String>,
    text: String,
}

impl SystemPrompt {
    /// Formats the prompt for one conversation.
    pub fn render(&self, writer: &SectionWriter) -> String {
        let mut parts = vec![self.how_to_work.clone()];
        if !self.sections.is_empty() {
            parts.push(writer.explanation());
        }
        parts.extend(self.sections.iter().map(|section| {
            let from: Vec<_> = section.from.iter().map(|from| ("from", from.as_str())).collect();
            writer.section(section.kind, &from, &section.text)
        }));
        parts.join("\n\n")
    }
}

/// A prompt without sections.
impl From<&str> for SystemPrompt {
    fn from(how_to_work: &str) -> Self {
        Self { how_to_work: how_to_work.to_owned(), sections: Vec::new() }
    }
}

/// Builds the system prompt, with a diagnostic for each file that cannot be read; such a file is omitted.
pub fn system_prompt(sources: &PromptSources) -> (SystemPrompt, Vec<Diagnostic>) {
    let mut context = ContextFiles::default();
    let own = sources.override_file.as_deref().and_then(|file| how_to_work(file, &mut context));
    let mut sections = vec![environment(sources)];
    for file in &sources.user_files {
        sections.extend(context.user_file(file));
    }
    for directory in directories(sources) {
        sections.extend(context.project_file(&directory.join("AGENTS.md"), sources.project));
    }
    let how_to_work = own.unwrap_or_else(|| HOW_TO_WORK.to_owned());
    (SystemPrompt { how_to_work, sections }, context.findings)
}

fn how_to_work(file: &Path, context: &mut ContextFiles) -> Option<String> {
    let text = context.read(file);
    if text.is_none() && !file.exists() {
        let message = "the file for the system prompt does not exist; the default prompt is used";
        context.findings.push(
            Diagnostic::new("system-prompt-missing", Severity::Error, message)
                .at(file)
                .help("create it, or remove `system_prompt_file` from the configuration"),
        );
    }
    text.map(|text| text.trim_end().to_owned())
}

fn environment(sources: &PromptSources) -> PromptSection {
    let mut lines = vec![
        format!("Project directory: {}", sources.project.display()),
        format!("Working directory: {}", working_directory(sources).display()),
        format!("Git: {}", Repository::read(sources.project)),
        format!("Operating system: {}", sources.os),
    ];
    lines.extend(sources.shell.map(|shell| format!("The user's shell: {shell}")));
    lines.push(format!("Today (UTC): {}", sources.today));
    PromptSection { kind: "environment", from: None, text: lines.join("\n") }
}

/// Returns the directory in which tools work: the project root if the working directory is outside the project.
fn working_directory<'s>(sources: &PromptSources<'s>) -> &'s Path {
    let inside = sources.cwd.starts_with(sources.project);
    if inside { sources.cwd } else { sources.project }
}

/// Returns the directories whose context files are included; the nearest is last, so that the model reads it last.
fn directories<'s>(sources: &PromptSources<'s>) -> Vec<&'s Path> {
    let inside = sources.cwd != sources.project && sources.cwd.starts_with(sources.project);
    std::iter::once(sources.project).chain(Some(sources.cwd).filter(|_| inside)).collect()
}

#[cfg(test)]
mod tests;
