//! A session of a host whose events are recorded payloads.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tenter_bridge::Visitor;
use tenter_bridge::payload::Payload;
use tenter_engine::trust::TrustEntry;
use tenter_engine::{Directories, Engine};
use tenter_testkit::{Output, Sandbox};

/// Returns a time after which a file that was written before counts as unchanged.
#[expect(clippy::disallowed_methods, reason = "the real clock is the one of the files")]
fn later() -> Timestamp {
    Timestamp::now() + SignedDuration::from_secs(3)
}

/// The script of a hook that logs its payloads.
pub(crate) const LOG: &str = r#"printf '%s\n' "$payload" >> "$HOME/log""#;

/// Replaces the command of a call.
pub(crate) fn set_command(value: &mut Value, command: &str) -> bool {
    let Value::Object(fields) = value else { return false };
    if fields.get("command").is_some_and(Value::is_string) {
        fields.insert("command".to_owned(), json!(command));
        return true;
    }
    fields.iter_mut().any(|(_, value)| set_command(value, command))
}

/// A host that runs `tenter-hook` in a sandbox.
pub(crate) struct HostSession {
    pub(crate) sandbox: Sandbox,
    /// The host with which the program is registered.
    host: &'static str,
    /// The host that runs it, whose payloads were recorded.
    fixtures: &'static str,
}

/// Returns the payloads of a host: recorded ones, or ones from its documentation if it was not measured.
pub(crate) fn fixtures(host: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let file = directory.join(host);
    if file.is_dir() { file } else { directory.join("documented").join(host) }
}

impl HostSession {
    pub(crate) fn new(fixtures: &'static str) -> Self {
        let host = match fixtures {
            "copilot-in-claude" => "claude-code",
            host => host,
        };
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_tenter-hook"));
        let session = Self { sandbox, host, fixtures };
        if host == "codex" {
            session.register_version(&json!("0.169.0"));
        }
        session
    }

    /// Creates a session whose host is registered with the version that was measured.
    pub(crate) fn registered(fixtures: &'static str) -> Self {
        let session = Self::new(fixtures);
        let version = tenter_bridge::hosts::find(session.host).unwrap().measured_version;
        session.register_version(&json!(version));
        session
    }

    /// Records a registration for a version of the host.
    pub(crate) fn register_version(&self, version: &Value) {
        let directory = self.sandbox.home().join(".local/state/tenter/bridge");
        fs::create_dir_all(&directory).unwrap();
        let record = json!({"host": self.host, "scope": "user", "file": "/h", "program": "/p", "installed_at": "", "fail_closed": false, "version": version});
        let records = json!({"registrations": [record]}).to_string();
        fs::write(directory.join("registrations.json"), records).unwrap();
    }

    /// Writes the beginning of the transcript that the payloads of calls of Codex name, by a version.
    pub(crate) fn begin_transcript(&self, version: &str) {
        for fixture in ["PreToolUse.Bash", "PreToolUse.apply_patch"] {
            let payload = self.payload(fixture);
            let path = Path::new(payload["transcript_path"].as_str().unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let line = json!({"type": "session_meta", "payload": {"cli_version": version}});
            fs::write(path, format!("{line}\n")).unwrap();
        }
    }

    /// Creates a session with the same directories and another host.
    pub(crate) fn with_host(self, host: &'static str) -> Self {
        Self { host, fixtures: host, ..self }
    }

    /// Lets another host fire the next events.
    pub(crate) fn set_host(&mut self, host: &'static str) {
        (self.host, self.fixtures) = (host, host);
    }

    /// Creates a session of the same host with another copy of the program and new directories.
    pub(crate) fn with_program(self, program: &Path) -> Self {
        Self { sandbox: Sandbox::new(program), ..self }
    }

    /// Writes a manifest hook of the user: further lines of its front matter, and a shell script that has the payload in
    /// `$payload`.
    pub(crate) fn hook(
        &self,
        name: &str,
        trigger: &str,
        front_matter: &str,
        script: &str,
    ) -> PathBuf {
        let directory = self.sandbox.home().join(".config/agents/hooks").join(name);
        fs::create_dir_all(directory.join("scripts")).unwrap();
        let manifest = format!(
            "---\nname: {name}\ndescription: A test.\ntrigger: {trigger}\n{front_matter}\n---\n"
        );
        fs::write(directory.join("HOOK.md"), manifest).unwrap();
        let run = directory.join("scripts/run.sh");
        fs::write(&run, format!("#!/bin/sh\npayload=$(cat)\n{script}\n")).unwrap();
        fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).unwrap();
        directory
    }

    /// Adds a user's hook that always gives this reply.
    pub(crate) fn reply(&self, name: &str, trigger: &str, reply: &str) {
        self.hook(name, trigger, "", &format!("echo '{reply}'"));
    }

    /// Writes a hook that logs the payloads of an event, with further lines of its front matter.
    pub(crate) fn log(&self, name: &str, trigger: &str, front_matter: &str) {
        self.hook(name, trigger, front_matter, LOG);
    }

    /// Returns the payloads that hooks with the script [`LOG`] read.
    pub(crate) fn payloads(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.sandbox.home().join("log")).unwrap_or_default();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Fires an event like [`fire`](Self::fire), for a call of this command.
    pub(crate) fn fire_command(&self, fixture: &str, command: &str) -> Output {
        self.fire_with(fixture, |payload| assert!(set_command(payload, command), "{payload}"))
    }

    /// Reads a recorded payload, with the sandbox's directories.
    pub(crate) fn payload(&self, fixture: &str) -> Value {
        let path = fixtures(self.fixtures).join(format!("{fixture}.json"));
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let project = self.sandbox.project().display().to_string();
        let text = text.replace("$WORK", &project);
        let text = text.replace("$HOME", &self.sandbox.home().display().to_string());
        serde_json::from_str(&text).unwrap()
    }

    /// Writes the user's configuration.
    pub(crate) fn configure(&self, text: &str) {
        let directory = self.sandbox.home().join(".config/tenter");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config.toml"), text).unwrap();
    }

    /// Reads the recorded payloads of the call that starts a subagent, and of its start.
    pub(crate) fn subagent(&self) -> (&'static str, &'static str) {
        match self.fixtures {
            "codex" => ("PreToolUse.spawn_agent.subagent", "SubagentStart.subagent"),
            "qwen" => ("PreToolUse.agent.subagent", "SubagentStart.subagent"),
            "copilot" => ("preToolUse.task.subagent", "subagentStart.subagent"),
            "cline" => ("PreToolUse.spawn_agent", "TaskStart.subagent"),
            "opencode" => ("tool.execute.before.task.subagent", "session.created.subagent"),
            _ => ("PreToolUse.Agent.subagent", "SubagentStart.subagent"),
        }
    }

    /// Reads the recorded payload of a session's start. Returns it with the field that has the session's id.
    pub(crate) fn start(&self) -> (&'static str, &'static str) {
        match self.fixtures {
            "opencode" | "kilo" => ("session.start", "session"),
            "pi" => ("session_start", "session"),
            "crush" => ("PreToolUse.bash", "session_id"),
            "vibe" => ("pre_tool.bash", "session_id"),
            "copilot" => ("sessionStart", "sessionId"),
            "cursor" => ("sessionStart", "conversation_id"),
            "cline" => ("TaskStart", "sessionContext"),
            _ => ("SessionStart", "session_id"),
        }
    }

    /// Returns the event of a recorded payload: names of fixtures begin with it.
    pub(crate) fn event(&self, fixture: &str) -> &'static str {
        let events = tenter_bridge::hosts::find(self.host).unwrap().events.iter();
        let names = events.map(|event| event.name).filter(|name| fixture.starts_with(name));
        names.max_by_key(|name| name.len()).unwrap_or_else(|| panic!("{fixture}"))
    }

    /// Lets the host fire the event of a recorded payload.
    pub(crate) fn fire(&self, fixture: &str) -> Output {
        self.fire_with(fixture, |_| {})
    }

    /// Lets the host fire an event whose answer does not matter.
    pub(crate) fn pass(&self, fixture: &str) {
        let _ = self.fire(fixture).expect_code(0);
    }

    /// Fires an event like [`fire`](Self::fire), with a payload that `edit` changes.
    pub(crate) fn fire_with(&self, fixture: &str, edit: impl FnOnce(&mut Value)) -> Output {
        let mut payload = self.payload(fixture);
        edit(&mut payload);
        self.send(self.event(fixture), payload.to_string())
    }

    /// Runs the program for an event with this stdin.
    pub(crate) fn send(&self, event: &str, stdin: impl AsRef<[u8]>) -> Output {
        let home = self.sandbox.home().display().to_string();
        self.sandbox.run_with_stdin([self.host, event, "--home", &home], stdin)
    }

    /// Returns a visitor for an event in this process, whose clock is ahead: files that were just written seem old.
    pub(crate) fn later_visitor(&self, fixture: &str) -> Visitor {
        let home = self.sandbox.home();
        let host = tenter_bridge::hosts::find(self.host).unwrap();
        let cache = home.join(".cache/tenter");
        let command = self.sandbox.command();
        let vars = command.get_envs();
        let vars = vars.filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        Visitor {
            host,
            event: host.event(self.event(fixture)).unwrap(),
            caller: None,
            directories: Directories::in_home(home).with_cache(cache),
            vars: vars.collect::<Vec<_>>().into(),
            cwd: self.sandbox.project(),
            clock: later,
            start: Instant::now(),
            tenter: None,
            launcher: None,
            keeper: None,
            memory: None,
            progress: Arc::default(),
        }
    }

    /// Lets the host fire an event in this process when files have been unchanged for a while. Runs the hooks that are left, and returns
    /// the answer.
    pub(crate) fn visit(&self, fixture: &str, edit: impl FnOnce(&mut Value)) -> Value {
        let visitor = self.later_visitor(fixture);
        let mut payload = self.payload(fixture);
        edit(&mut payload);
        let visit = visitor.run(Payload::parse(payload.to_string().as_bytes()));
        if let Some(remainder) = &visit.after {
            visitor.run_after(remainder);
        }
        let answer = visit.answer.map(|answer| serde_json::from_str(&answer).unwrap());
        answer.unwrap_or_default()
    }

    /// Starts the program for an event, and writes its stdin.
    pub(crate) fn spawn(&self, event: &str, stdin: &str) -> Child {
        let mut command = self.sandbox.command();
        command.args([self.host, event, "--home"]).arg(self.sandbox.home());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        child
    }

    /// Sends all requests to one process, and returns its responses in their order.
    pub(crate) fn serve(&self, requests: &[Value]) -> Vec<Value> {
        let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
        self.serve_lines(&lines.join("\n"))
    }

    /// Serves these lines like [`serve`](Self::serve).
    pub(crate) fn serve_lines(&self, lines: &str) -> Vec<Value> {
        let home = self.sandbox.home().display().to_string();
        let arguments = [self.host, "--serve", "--home", &home];
        let output = self.sandbox.run_with_stdin(arguments, format!("{lines}\n"));
        output.expect_code(0).json_lines()
    }

    /// Starts a process that answers requests one by one.
    pub(crate) fn start_serving(&self) -> Serving {
        let mut command = self.sandbox.command();
        command.args([self.host, "--serve", "--home"]).arg(self.sandbox.home());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Serving { child, stdout }
    }

    /// Trusts the hooks of the project as they are.
    pub(crate) fn trust(&self) {
        let home = self.sandbox.home();
        let directories = Directories::in_home(&home).with_cache(home.join(".cache/tenter"));
        let builder = Engine::builder(self.sandbox.project()).directories(directories);
        let (mut store, _) = builder.trust_store();
        let (catalog, _) = builder.load_catalog(&store);
        let entries: Vec<TrustEntry> = catalog.untrusted().iter().map(TrustEntry::from).collect();
        assert!(!entries.is_empty());
        store.trust(&self.sandbox.project(), &entries, "2026-01-02T03:04:05Z").unwrap();
    }

    /// Returns the records of every conversation.
    pub(crate) fn journal(&self) -> String {
        let directory = self.sandbox.home().join(".local/state/tenter/journal");
        let files = fs::read_dir(directory).into_iter().flatten();
        files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    /// Fires an event, and returns the answer.
    pub(crate) fn answer(&self, fixture: &str) -> Value {
        Self::read_answer(self.fire(fixture))
    }

    /// Fires an event with an edited payload, and returns the answer.
    pub(crate) fn answer_with(&self, fixture: &str, edit: impl FnOnce(&mut Value)) -> Value {
        Self::read_answer(self.fire_with(fixture, edit))
    }

    /// Returns the answer to an event: JSON, or text; `Null` if there is none. Checks that it is the only line.
    pub(crate) fn read_answer(output: Output) -> Value {
        let output = output.expect_code(0);
        assert!(output.stdout.lines().count() <= 1, "{output}");
        match output.stdout.trim_end() {
            "" => Value::Null,
            json if json.starts_with('{') => output.json(),
            text => Value::String(text.to_owned()),
        }
    }
}

/// A process that answers requests.
pub(crate) struct Serving {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Serving {
    pub(crate) fn send(&mut self, request: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{request}").unwrap();
    }

    /// Reads the next response.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
