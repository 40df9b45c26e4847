//! Transcripts that real agents wrote while a scripted model told them what to do: a reader returns exactly these calls.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tenter_backtest::{
    CallEnd, DenialSource, HostCounts, HostPlaces, ReadCounts, RecordedCall, ScanOptions,
    TitleFinder, readers, scan,
};
use tenter_testkit::copy_directory;

const DENIED: CallEnd = CallEnd::Denied(DenialSource::Hook);

/// Returns the home directory of a user in which an agent ran a scenario.
fn home(host: &str, scenario: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/homes").join(host).join(scenario)
}

fn scan_home(home: &Path) -> (Vec<RecordedCall>, HostCounts) {
    let places = HostPlaces { home: home.to_owned(), variables: BTreeMap::new() };
    let mut calls = Vec::new();
    let options = ScanOptions { places: &places, hosts: &[], since: None, max_calls: None };
    let counts = scan(options, &mut |call| calls.push(call));
    calls.sort_by_key(|call| call.time);
    (calls, counts)
}

/// Returns each call as its tool, its command or path, and its end.
fn outline(calls: &[RecordedCall]) -> Vec<(String, String, CallEnd)> {
    let outline = |call: &RecordedCall| {
        let end = call.end;
        let call = call.tool_call();
        let field = |name: &&str| Some(call.input.get(*name)?.as_str()?.to_owned());
        let text = ["file_path", "path", "command", "patch", "question"].iter().find_map(field);
        (call.name, text.unwrap_or_default(), end)
    };
    calls.iter().map(outline).collect()
}

fn expected<'e>(
    calls: impl IntoIterator<Item = (&'e str, &'e str, CallEnd)>,
) -> Vec<(String, String, CallEnd)> {
    calls.into_iter().map(|(tool, text, end)| (tool.to_owned(), text.to_owned(), end)).collect()
}

/// Returns the tool and the text with which an agent writes this file.
fn write_of(host: &str, name: &str, content: &str) -> (&'static str, String) {
    match host {
        "codex" => (
            "file_edit",
            format!("*** Begin Patch\n*** Add File: {name}\n+{content}\n*** End Patch\n"),
        ),
        _ => ("file_write", format!("/home/ada/app/{name}")),
    }
}

/// The agents whose transcripts are files.
const HOSTS: [&str; 8] =
    ["claude-code", "codex", "gemini", "copilot", "qwen", "kimi-code", "cline", "pi"];

/// Checks that everything in the transcripts is understood, and that each call has its facts.
fn check(host: &str, calls: &[RecordedCall], counts: &HostCounts) {
    let counts = &counts[host];
    let files = counts.files;
    let expected = ReadCounts { files, calls: calls.len() as u64, ..ReadCounts::default() };
    assert_eq!(*counts, expected, "{host}");
    for call in calls {
        assert_eq!(call.host, host);
        assert_eq!(call.cwd.as_deref(), Some(Path::new("/home/ada/app")), "{host}");
        assert!(!call.session.is_empty() && call.time.is_some(), "{host}: {call:?}");
        assert!(call.native.id.is_some(), "{host}: {call:?}");
        assert_eq!(call.session, calls[0].session, "{host}");
    }
}

#[test]
fn calls_that_ran_and_failed_are_read() {
    for host in HOSTS {
        let (calls, counts) = scan_home(&home(host, "record"));
        let (tool, text) = write_of(host, "written.txt", "written by tool");
        let list = [
            ("bash", "echo hello-from-shell > shell.txt; cat shell.txt", CallEnd::Succeeded),
            (tool, &*text, CallEnd::Succeeded),
            ("bash", "echo oops >&2; exit 3", CallEnd::Failed),
        ];
        let mut list = expected(list);
        if matches!(host, "gemini" | "qwen" | "copilot") {
            // Their records do not tell a command that failed from one that succeeded.
            list[2].2 = calls[2].end;
        }
        assert_eq!(outline(&calls), list, "{host}");
        check(host, &calls, &counts);
        assert!(calls.iter().all(|call| call.agent.is_none()), "{host}");
    }
}

#[test]
fn calls_that_hooks_denied_are_marked() {
    for host in HOSTS {
        if !home(host, "block").exists() {
            continue;
        }
        let (calls, counts) = scan_home(&home(host, "block"));
        // These agents record only the text of the hook, as the error of the call.
        let end = if matches!(host, "kimi-code" | "pi") { CallEnd::Failed } else { DENIED };
        let (tool, text) = write_of(host, "blocked-file.txt", "x");
        let list = expected([
            ("bash", "touch blocked-shell.txt", end),
            (tool, &*text, end),
            ("bash", "touch allowed.txt", CallEnd::Succeeded),
        ]);
        let list = match host {
            // The denial ends the run.
            "cline" => expected([("bash", "touch blocked-shell.txt", CallEnd::Unknown)]),
            _ => list,
        };
        assert_eq!(outline(&calls), list, "{host}");
        check(host, &calls, &counts);
    }
}

#[test]
fn calls_of_subagents_belong_to_the_session() {
    for host in HOSTS {
        if !home(host, "subagent").exists() {
            continue;
        }
        let (calls, counts) = scan_home(&home(host, "subagent"));
        check(host, &calls, &counts);
        let subagent_calls: Vec<RecordedCall> =
            calls.iter().filter(|call| call.agent.is_some()).cloned().collect();
        let list = expected([("bash", "echo in-sub > from-sub.txt", CallEnd::Succeeded)]);
        assert_eq!(outline(&subagent_calls), list, "{host}");
        let starts = outline(&calls);
        assert!(starts.iter().any(|(tool, ..)| tool == "subagent"), "{host}: {starts:?}");
    }
}

#[test]
fn calls_that_a_script_of_pi_made_are_read() {
    let (calls, counts) = scan_home(&home("pi", "nested"));
    check("pi", &calls, &counts);
    let list = [
        ("codemode", "", CallEnd::Succeeded),
        ("bash", "git push --force origin main", CallEnd::Failed),
        ("file_write", "note.txt", CallEnd::Succeeded),
        ("file_write", "", CallEnd::Succeeded),
    ];
    assert_eq!(outline(&calls), expected(list));
    let cut: Vec<bool> = calls.iter().map(|call| call.is_cut).collect();
    assert_eq!(cut, [false, false, false, true], "long inputs are not recorded");
}

#[test]
fn calls_that_a_script_of_codex_made_are_read() {
    let (calls, counts) = scan_home(&home("codex", "script"));
    check("codex", &calls, &counts);
    let denial = CallEnd::Denied(DenialSource::Hook);
    let add = "*** Begin Patch\n*** Add File: /home/ada/app/two.txt\n+two\n*** End Patch";
    let rename = "*** Begin Patch\n*** Update File: /home/ada/app/two.txt\n*** Move to: /home/ada/app/three.txt\n\
                  @@ -1 +1 @@\n-two\n+three\n*** End Patch";
    let settings = "*** Begin Patch\n*** Add File: .codex/config.toml\n+two\n*** End Patch";
    let list = [
        ("exec", "", CallEnd::Succeeded),
        ("bash", "echo one > note.txt; false", CallEnd::Failed),
        ("file_edit", add, CallEnd::Succeeded),
        ("file_edit", settings, denial),
        ("exec", "", CallEnd::Succeeded),
        ("file_edit", rename, CallEnd::Succeeded),
        ("mcp__scratch__touch", "", CallEnd::Succeeded),
        ("bash", "git push --force origin main", denial),
        ("exec", "", CallEnd::Succeeded),
    ];
    assert_eq!(outline(&calls), expected(list));
    let cut: Vec<usize> = (0..calls.len()).filter(|at| calls[*at].is_cut).collect();
    assert_eq!(cut, [8], "a script without a recorded call cannot be judged");
}

#[test]
fn calls_that_a_script_of_claude_code_made_are_read() {
    let (calls, counts) = scan_home(&home("claude-code", "script"));
    check("claude-code", &calls, &counts);
    let denial = CallEnd::Denied(DenialSource::Hook);
    let list = [
        ("bash", "touch a.txt; git push --force origin main", denial),
        ("file_write", "/home/ada/app/b.txt", CallEnd::Succeeded),
        ("file_edit", "/home/ada/app/b.txt", CallEnd::Succeeded),
        ("file_write", "/home/ada/app/.claude/settings.json", denial),
        ("file_read", "/home/ada/.ssh/id_rsa", denial),
        ("bash", "echo ok", CallEnd::Succeeded),
    ];
    assert_eq!(outline(&calls), expected(list));
}

#[test]
fn calls_of_qwen_code_by_way_of_another_tool_are_read() {
    let denial = CallEnd::Denied(DenialSource::Hook);
    let push = "git push --force origin main";
    let script = [
        ("exec", "", CallEnd::Failed),
        ("bash", "touch a.txt", CallEnd::Succeeded),
        ("file_write", "/home/ada/app/b.txt", CallEnd::Succeeded),
        ("bash", push, denial),
    ];
    let deferred = [
        ("tool_search", "", CallEnd::Succeeded),
        ("bash", "touch m.txt; git push --force origin main", denial),
        ("bash", "touch n.txt", CallEnd::Succeeded),
    ];
    for (name, list) in [("script", &script[..]), ("deferred", &deferred)] {
        let (calls, counts) = scan_home(&home("qwen", name));
        check("qwen", &calls, &counts);
        assert_eq!(outline(&calls), expected(list.iter().copied()), "{name}");
    }
}

#[test]
fn the_title_of_a_session_is_what_the_user_wrote_first() {
    for host in HOSTS {
        let home = home(host, "record");
        let (calls, _) = scan_home(&home);
        let mut finder = TitleFinder::new(HostPlaces { home, variables: BTreeMap::new() });
        let title = finder.title(host, &calls[0].session);
        assert_eq!(title.as_deref(), Some("Please run the test"), "{host}");
        assert_eq!(finder.title(host, "0000000000"), None, "{host}");
        assert_eq!(finder.title(host, "ses"), None, "{host}: it is a part of many paths");
    }
}

/// Returns the transcripts of Claude Code in a copy of a home directory.
fn claude_code(home: &Path) -> PathBuf {
    let places = HostPlaces { home: home.to_owned(), variables: BTreeMap::new() };
    (readers::find("claude-code").unwrap().files)(&places).remove(0)
}

#[test]
fn a_fork_and_doubled_lines_add_no_call() {
    let scratch = TempDir::new().unwrap();
    copy_directory(&home("claude-code", "record"), scratch.path());
    let file = claude_code(scratch.path());
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}{text}")).unwrap();
    // Ids of real models are longer than the ids of the script, and unique.
    let fork = text.replace("toolu_", "toolu_01234567890123456789_");
    fs::write(file.with_file_name("fork-1.jsonl"), &fork).unwrap();
    let session = fork.replace("\"sessionId\":\"", "\"sessionId\":\"other-");
    fs::write(file.with_file_name("fork-2.jsonl"), session).unwrap();
    let (calls, counts) = scan_home(scratch.path());
    let counts = &counts["claude-code"];
    assert_eq!((calls.len(), counts.repeated, counts.files), (6, 6, 3));
}

#[test]
fn a_call_whose_input_cannot_be_read_is_not_judged() {
    for (host, scenario, input, broken) in [
        ("codex", "record", "\"arguments\":\"{", "\"arguments\":\"{,"),
        ("claude-code", "record", "\"input\":{", "\"input\":[],\"was\":{"),
    ] {
        let scratch = TempDir::new().unwrap();
        copy_directory(&home(host, scenario), scratch.path());
        let places = HostPlaces { home: scratch.path().to_owned(), variables: BTreeMap::new() };
        let mut is_changed = false;
        for file in (readers::find(host).unwrap().files)(&places) {
            let text = fs::read_to_string(&file).unwrap();
            is_changed |= text.contains(input);
            fs::write(&file, text.replace(input, broken)).unwrap();
        }
        assert!(is_changed, "{host}");
        let (whole, _) = scan_home(&home(host, scenario));
        let (calls, _) = scan_home(scratch.path());
        assert_eq!(calls.len(), whole.len(), "{host}");
        assert!(whole.iter().all(|call| !call.is_cut), "{host}");
        for call in calls {
            assert!(call.is_cut || !call.native.input.is_empty(), "{host}: {call:?}");
            assert!(call.is_cut || host == "codex", "{call:?}");
        }
    }
}

#[test]
fn a_compressed_transcript_of_codex_has_the_same_calls() {
    let scratch = TempDir::new().unwrap();
    copy_directory(&home("codex", "record"), scratch.path());
    let places = HostPlaces { home: scratch.path().to_owned(), variables: BTreeMap::new() };
    let file = (readers::find("codex").unwrap().files)(&places).remove(0);
    let (whole, _) = scan_home(scratch.path());
    let text = fs::read(&file).unwrap();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let packed = ruzstd::encoding::compress_to_vec(text.as_slice(), level);
    fs::write(file.with_extension("jsonl.zst"), &packed).unwrap();
    fs::remove_file(&file).unwrap();
    let (calls, counts) = scan_home(scratch.path());
    assert_eq!(outline(&calls), outline(&whole));
    check("codex", &calls, &counts);
    fs::write(file.with_extension("jsonl.zst"), &packed[..packed.len() / 2]).unwrap();
    assert!(!scan_home(scratch.path()).1["codex"].unreadable_files.is_empty());
}

#[test]
fn calls_of_the_journal_are_read_only_if_it_is_named_and_masked_ones_cannot_be_judged() {
    let scratch = TempDir::new().unwrap();
    let journal = scratch.path().join(".local/state/tenter/journal");
    fs::create_dir_all(&journal).unwrap();
    let line = |id: &str, command: &str| {
        format!(
            r#"{{"v":1,"time":"2026-11-24T10:00:00Z","conversation_id":"c","project":"/home/ada/app","event":"before_tool","tool_call_id":"{id}","tool_name":"bash","tool_input":{{"command":"{command}"}},"kind":"decision","decision":"deny"}}"#
        )
    };
    let text = [line("1", "git push -f"), line("2", "curl -H ghp_…")].join("\n");
    fs::write(journal.join("c.jsonl"), text).unwrap();
    assert!(scan_home(scratch.path()).0.is_empty());
    let places = HostPlaces { home: scratch.path().to_owned(), variables: BTreeMap::new() };
    let hosts = ["journal".to_owned()];
    let mut calls = Vec::new();
    let options = ScanOptions { places: &places, hosts: &hosts, since: None, max_calls: None };
    let _ = scan(options, &mut |call| calls.push(call));
    let outline: Vec<(bool, CallEnd)> = calls.iter().map(|call| (call.is_cut, call.end)).collect();
    assert_eq!(outline, [(false, DENIED), (true, DENIED)]);
}

#[test]
fn calls_of_a_subagent_that_only_the_session_records_are_read() {
    let scratch = TempDir::new().unwrap();
    copy_directory(&home("claude-code", "subagent"), scratch.path());
    let places = HostPlaces { home: scratch.path().to_owned(), variables: BTreeMap::new() };
    let files = (readers::find("claude-code").unwrap().files)(&places);
    let is_of_agent = |file: &PathBuf| file.parent().unwrap().ends_with("subagents");
    let (agents, sessions): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(is_of_agent);
    let (expected, _) = scan_home(scratch.path());
    // As older versions do, each message of the subagent is copied into a record of the session.
    let mut session = fs::read_to_string(&sessions[0]).unwrap();
    for line in fs::read_to_string(&agents[0]).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let data = serde_json::json!({"type": "agent_progress", "agentId": line["agentId"], "message": line});
        let record = serde_json::json!({
            "type": "progress", "sessionId": line["sessionId"], "cwd": line["cwd"], "data": data
        });
        session = session + &record.to_string() + "\n";
    }
    fs::write(&sessions[0], session).unwrap();
    assert_eq!(outline(&scan_home(scratch.path()).0), outline(&expected), "each call once");
    fs::remove_file(&agents[0]).unwrap();
    let (calls, counts) = scan_home(scratch.path());
    assert_eq!(outline(&calls), outline(&expected));
    assert!(calls.iter().any(|call| call.agent.is_some()));
    check("claude-code", &calls, &counts);
}

#[test]
fn what_is_not_understood_is_counted() {
    let scratch = TempDir::new().unwrap();
    copy_directory(&home("claude-code", "record"), scratch.path());
    let file = claude_code(scratch.path());
    let mut text = fs::read_to_string(&file).unwrap();
    let deep = "[".repeat(100_000);
    text.push_str("{\"type\":\"brand-new\"}\n{\"type\":\"brand-new\"}\n\n");
    text.push_str(&deep);
    text.push_str("\n{\"type\":\"assistant\",\"mess");
    fs::write(&file, text).unwrap();
    let (calls, counts) = scan_home(scratch.path());
    let counts = &counts["claude-code"];
    assert_eq!(calls.len(), 3);
    assert_eq!(counts.unknown, BTreeMap::from([("brand-new".to_owned(), 2)]));
    assert_eq!(counts.unreadable_lines, 2, "a deep value, and a line that is being written");
}

#[test]
fn calls_before_the_chosen_time_are_not_read() {
    let home = home("claude-code", "record");
    let places = HostPlaces { home: home.clone(), variables: BTreeMap::new() };
    let (all, _) = scan_home(&home);
    let mut calls = Vec::new();
    let options = ScanOptions { places: &places, hosts: &[], since: all[1].time, max_calls: None };
    scan(options, &mut |call| calls.push(call));
    assert_eq!(calls, all[1..]);
    let hosts = ["codex".to_owned()];
    let options = ScanOptions { places: &places, hosts: &hosts, since: None, max_calls: None };
    assert!(scan(options, &mut |_| panic!("it is not Codex")).is_empty());
}

#[cfg(feature = "sqlite")]
mod databases {
    use rusqlite::Connection;

    use super::*;

    /// Creates the database of an agent from its recorded rows.
    fn home_with_database(host: &str, scenario: &str) -> TempDir {
        let scratch = TempDir::new().unwrap();
        let directory = scratch.path().join(".local/share").join(host);
        fs::create_dir_all(&directory).unwrap();
        let rows = fs::read_to_string(home(host, &format!("{scenario}.sql"))).unwrap();
        let database = Connection::open(directory.join(format!("{host}.db"))).unwrap();
        database.execute_batch(&rows).unwrap();
        scratch
    }

    #[test]
    fn calls_in_a_database_are_read() {
        for host in ["opencode", "kilo"] {
            let home = home_with_database(host, "record");
            let (calls, counts) = scan_home(home.path());
            let list = expected([
                ("bash", "echo hello-from-shell > shell.txt; cat shell.txt", CallEnd::Succeeded),
                ("file_write", "/home/ada/app/written.txt", CallEnd::Succeeded),
                ("bash", "echo oops >&2; exit 3", CallEnd::Succeeded),
            ]);
            assert_eq!(outline(&calls), list, "{host}");
            check(host, &calls, &counts);
            let directory = home.path().join(".local/share").join(host);
            assert_eq!(fs::read_dir(directory).unwrap().count(), 1, "nothing was written");
        }
    }

    #[test]
    fn the_title_of_a_session_is_its_first_text() {
        for host in ["opencode", "kilo"] {
            let home = home_with_database(host, "record");
            let (calls, _) = scan_home(home.path());
            let file = home.path().join(format!(".local/share/{host}/{host}.db"));
            let database = Connection::open(file).unwrap();
            let text = r#"{"type": "text", "text": "Please\n run the test"}"#;
            let change = "UPDATE part SET data = ?1 WHERE json_extract(data, '$.type') = 'text'";
            database.execute(change, [text]).unwrap();
            let (home, variables) = (home.path().to_owned(), BTreeMap::new());
            let mut finder = TitleFinder::new(HostPlaces { home, variables });
            let title = finder.title(host, &calls[0].session);
            assert_eq!(title.as_deref(), Some("Please run the test"), "{host}");
        }
    }

    #[test]
    fn calls_of_subagents_in_a_database_belong_to_the_session() {
        for host in ["opencode", "kilo"] {
            let home = home_with_database(host, "subagent");
            let (calls, counts) = scan_home(home.path());
            check(host, &calls, &counts);
            let last = calls.last().unwrap();
            assert!(last.agent.is_some(), "{host}");
            assert_eq!(outline(&calls)[1].1, "echo in-sub > from-sub.txt", "{host}");
        }
    }

    #[test]
    fn a_denial_is_the_error_of_the_call() {
        for host in ["opencode", "kilo"] {
            let home = home_with_database(host, "block");
            let (calls, _) = scan_home(home.path());
            let ends: Vec<CallEnd> = calls.iter().map(|call| call.end).collect();
            assert_eq!(ends, [CallEnd::Failed, CallEnd::Failed, CallEnd::Succeeded], "{host}");
        }
    }

    #[test]
    fn a_database_of_another_version_is_named_without_the_query() {
        let scratch = TempDir::new().unwrap();
        let directory = scratch.path().join(".local/share/kilo");
        fs::create_dir_all(&directory).unwrap();
        let database = Connection::open(directory.join("kilo.db")).unwrap();
        database.execute_batch("CREATE TABLE part (id, data)").unwrap();
        let (_, counts) = scan_home(scratch.path());
        let why: Vec<&String> = counts["kilo"].unreadable_files.values().collect();
        assert_eq!(why, ["no such table: session"]);
    }

    #[test]
    fn a_file_that_is_no_database_is_named() {
        let scratch = TempDir::new().unwrap();
        let directory = scratch.path().join(".local/share/opencode");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("opencode.db"), "no database").unwrap();
        let (calls, counts) = scan_home(scratch.path());
        assert!(calls.is_empty());
        let why = counts["opencode"].unreadable_files.values().next().unwrap();
        assert!(why.contains("not a database"), "{why}");
    }
}
