//! The system prompt: short, and the same for every provider.
//!
//! It says how to work, where, and what the project and the person want known (`AGENTS.md`). It names no provider, holds
//! nothing that changes within a conversation and a day, so that providers can cache it, and lists no tools: those are in every
//! request.

mod context;
mod repository;
mod section;

use std::path::{Path, PathBuf};

use jiff::civil::Date;
use tenter_protocol::{Diagnostic, Severity};

use context::Context;
use repository::Repository;

pub use section::SectionWriter;

/// What a system prompt is made from.
#[derive(Debug, Clone)]
pub struct PromptSources<'s> {
    /// The project root.
    pub project: &'s Path,
    /// The working folder; its `AGENTS.md` counts where it is in the project.
    pub cwd: &'s Path,
    /// The person's own context files; those that do not exist count for nothing.
    pub user_files: Vec<PathBuf>,
    /// The file that stands in the place of how to work.
    pub override_file: Option<PathBuf>,
    /// The day, in UTC.
    pub today: Date,
    /// The operating system.
    pub os: &'s str,
    /// The person's shell.
    pub shell: Option<&'s str>,
}

/// How to work, where no file says otherwise.
const HOW_TO_WORK: &str = "\
You are a coding agent.
Use the tools to look at the project before you answer and to do what is asked; do not guess what a file holds. Relative \
paths start from the working directory, where commands run. Call tools that do not need each other's results at once.
The person's hooks watch your tool calls. A hook may block a call, change its input or its output, or add a message. A \
blocked call says why: respect the reason and find another way, or say that you cannot go on.
Be brief. When the task is done, say what you did and stop calling tools.";

/// A system prompt before it is written for a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPrompt {
    how_to_work: String,
    sections: Vec<PromptSection>,
}

/// A part of the system prompt that is marked as a section.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PromptSection {
    kind: &'static str,
    /// The file that the text comes from.
    from: Option<String>,
    text: String,
}

impl SystemPrompt {
    /// The prompt as the model of one conversation reads it.
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

/// The system prompt, and a diagnostic for each file that cannot be read; such a file is left out.
pub fn system_prompt(sources: &PromptSources) -> (SystemPrompt, Vec<Diagnostic>) {
    let mut context = Context::default();
    let own = sources.override_file.as_deref().and_then(|file| how_to_work(file, &mut context));
    let mut sections = vec![environment(sources)];
    for file in &sources.user_files {
        sections.extend(context.of_person(file));
    }
    for folder in folders(sources) {
        sections.extend(context.of_project(&folder.join("AGENTS.md"), sources.project));
    }
    let how_to_work = own.unwrap_or_else(|| HOW_TO_WORK.to_owned());
    (SystemPrompt { how_to_work, sections }, context.findings)
}

fn how_to_work(file: &Path, context: &mut Context) -> Option<String> {
    let text = context.read(file);
    if text.is_none() && !file.exists() {
        let message = "the file for the system prompt does not exist; the usual one is used";
        context.findings.push(
            Diagnostic::new("system-prompt-missing", Severity::Error, message)
                .at(file)
                .help("write it, or take `system_prompt_file` out of the configuration"),
        );
    }
    text.map(|text| text.trim_end().to_owned())
}

fn environment(sources: &PromptSources) -> PromptSection {
    let mut lines = vec![
        format!("Project folder: {}", sources.project.display()),
        format!("Working directory: {}", working_directory(sources).display()),
        format!("Git: {}", Repository::of(sources.project)),
        format!("Operating system: {}", sources.os),
    ];
    lines.extend(sources.shell.map(|shell| format!("The person's shell: {shell}")));
    lines.push(format!("Today (UTC): {}", sources.today));
    PromptSection { kind: "environment", from: None, text: lines.join("\n") }
}

/// Where tools work: a working directory outside the project counts as the project.
fn working_directory<'s>(sources: &PromptSources<'s>) -> &'s Path {
    let inside = sources.cwd.starts_with(sources.project);
    if inside { sources.cwd } else { sources.project }
}

/// The folders whose files count, the nearest last: what it says is read last.
fn folders<'s>(sources: &PromptSources<'s>) -> Vec<&'s Path> {
    let inside = sources.cwd != sources.project && sources.cwd.starts_with(sources.project);
    std::iter::once(sources.project).chain(Some(sources.cwd).filter(|_| inside)).collect()
}

#[cfg(test)]
mod tests;
