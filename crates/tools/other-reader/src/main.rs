//! Prints the tool calls in a transcript as the library `agent-sessions` reads them, for a comparison with Tenter's own readers
//! (`.ci/compare-readers`): one JSON array `[id, tool]` a line.

use std::error::Error;
use std::path::Path;

use agent_sessions::{
    Agent, CodexContentMode, Event, ReadOptions, SessionFile, import_database, import_session,
    list_database_sessions, read,
};
use serde_json::json;

type AnyError = Box<dyn Error>;

fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [agent, path] = arguments.as_slice() else {
        return Err("usage: other-reader AGENT TRANSCRIPT|DATABASE".into());
    };
    let agent = agent_by_id(agent).ok_or("the library has no reader for this agent")?;
    // Recorded transcripts of Codex are shortened: the copies of calls in events have no content.
    let codex_content = CodexContentMode::ResponseItems;
    let options = ReadOptions { codex_content, ..ReadOptions::default() };
    let path = Path::new(path);
    if path.extension().is_some_and(|extension| extension == "db") {
        return print_database(agent, path, &options);
    }
    print_transcript(&SessionFile::inspect(agent, path)?, &options)
}

fn agent_by_id(id: &str) -> Option<Agent> {
    Some(match id {
        "claude-code" => Agent::ClaudeCode,
        "codex" => Agent::Codex,
        "gemini" => Agent::GeminiCli,
        "qwen" => Agent::QwenCode,
        "kimi-code" => Agent::KimiCli,
        "copilot" => Agent::CopilotCli,
        "pi" => Agent::Pi,
        "cline" => Agent::ClineCli,
        // Kilo's database has the tables of OpenCode's.
        "opencode" | "kilo" => Agent::OpenCode,
        _ => return None,
    })
}

fn print_database(agent: Agent, path: &Path, options: &ReadOptions) -> Result<(), AnyError> {
    for session in list_database_sessions(agent, path, options)? {
        let import = import_database(agent, path, &session.id, options)?;
        import.events.iter().for_each(|event| print_call(&event.value));
    }
    Ok(())
}

/// Prints the calls of a transcript. Transcripts that consist of lines are read line by line: a line that the library cannot read is
/// named, and the others count.
fn print_transcript(file: &SessionFile, options: &ReadOptions) -> Result<(), AnyError> {
    if matches!(file.agent, Agent::GeminiCli | Agent::KimiCli | Agent::ClineCli) {
        let import = import_session(file.agent, &file.path, options)?;
        import.events.iter().for_each(|event| print_call(&event.value));
        return Ok(());
    }
    for event in read(file, options)?.by_ref() {
        match event {
            Ok(event) => print_call(&event.value),
            Err(error) => eprintln!("{error}"),
        }
    }
    Ok(())
}

fn print_call(event: &Event) {
    if let Event::ToolCall(call) = event {
        println!("{}", json!([call.id, call.name]));
    }
}
