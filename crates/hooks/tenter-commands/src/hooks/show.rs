//! `tenter hooks show`: the details of the hooks with one name, in every layer.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use tenter_base::{sanitize, untrusted_file, visible};
use tenter_engine::FailMode;
use tenter_engine::inspect::ListedHook;
use tenter_engine::trust::Trusted;
use tenter_proc::Cancel;
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::json;
use tenter_protocol::manifest::format;
use tenter_protocol::runtime::{Runtime, Service};
use tenter_terminal::{CommandResult, Exit, FAINT, NAME, styled, ui};

use super::entry::{self, HookEntry, TrustStatus};
use super::manifest_file::ManifestFile;
use super::scripts;
use crate::project::Project;

/// Maximum number of script lines shown.
const MAX_LINES: usize = 20;
/// Maximum number of bytes read for them.
const MAX_BYTES: u64 = 16 * 1024;

/// Show the details of a hook, in every layer that has one of this name.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The hook's full name.
    name: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The entry of a hook, and the details that only this command shows.
#[derive(Serialize)]
struct HookDetails<'c> {
    #[serde(flatten)]
    entry: HookEntry<'c>,
    /// The last trusted version with its name.
    trusted: Option<Trusted>,
    /// The first lines of its script; `None` if it is not text.
    script: Option<Vec<String>>,
    /// The fields of its HOOK.md.
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<Value>,
    /// The text below them.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The file that runs, if it is not the hook's path itself.
    #[serde(skip)]
    script_path: Option<PathBuf>,
}

impl<'c> HookDetails<'c> {
    /// Returns a hook without a file.
    fn plain(entry: HookEntry<'c>) -> Self {
        Self { entry, trusted: None, script: None, manifest: None, body: None, script_path: None }
    }
}

pub(super) fn run(mut project: Project, args: &Args) -> CommandResult {
    let catalog = project.load(&Cancel::new());
    let entries = entry::entries_named(&project, &catalog, &args.name)?;
    let details: Vec<HookDetails> =
        entries.into_iter().map(|entry| look_at(&project, entry)).collect();
    if args.json {
        ui::json(&details);
    } else {
        for details in &details {
            print(&project, details);
        }
    }
    super::show_findings(&project);
    Ok(Exit::Done)
}

fn look_at<'c>(project: &Project, entry: HookEntry<'c>) -> HookDetails<'c> {
    let Some(hook) = entry.hook else { return HookDetails::plain(entry) };
    let path = &hook.path;
    let record = project.trust.project(&hook.project).previous(entry.name, path);
    let record = record.filter(|_| hook.layer.needs_trust()).cloned();
    let file = if path.is_dir() { ManifestFile::at(path).ok().flatten() } else { None };
    let script = scripts::entry_of(path).map(|entry| entry.path);
    HookDetails {
        trusted: record,
        script: script.as_deref().and_then(first_lines),
        manifest: file.as_ref().and_then(properties),
        body: file.as_ref().and_then(ManifestFile::body),
        script_path: script.filter(|script| script != path),
        entry,
    }
}

/// Returns the fields of a manifest, read with the tolerant rules.
fn properties(file: &ManifestFile) -> Option<Value> {
    let (manifest, _) = file.read(Strictness::Tolerant);
    Some(format::properties(&manifest?))
}

/// Returns the first lines of a text file.
fn first_lines(path: &Path) -> Option<Vec<String>> {
    let bytes = untrusted_file::read_prefix(path, MAX_BYTES).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).lines().take(MAX_LINES).map(str::to_owned).collect())
}

fn print(project: &Project, details: &HookDetails) {
    let entry = &details.entry;
    ui::out(styled(NAME, visible(entry.name)));
    field("status", &status(entry));
    field("event", if entry.event.is_empty() { "unknown" } else { &entry.event });
    field("layer", entry.layer);
    field("path", &visible(&entry.short_path(project)));
    let Some(hook) = entry.hook else { return print_built_in(entry) };
    field("trust", &trust(details));
    field("hash", entry.hash.as_deref().unwrap_or("unknown: it cannot be read"));
    // A hook that does not run has no policy; its manifest says what it would be.
    let manifest = details.manifest.as_ref().filter(|_| !entry.active);
    let manifest_value = |key: &str| manifest.map(|manifest| manifest[key].to_string());
    let limit = manifest_value("timeout").unwrap_or_else(|| number(entry.timeout_ms));
    field("limit", &format!("{limit} ms"));
    field("fail", fail(entry.fail));
    field("priority", &manifest_value("priority").unwrap_or_else(|| number(entry.priority)));
    print_runtime(details);
    if let Some(manifest) = &details.manifest {
        print_manifest(entry, manifest);
    }
    print_script(project, details, hook);
    if let Some(body) = details.body.as_deref().filter(|body| !body.trim().is_empty()) {
        field("text", "of the HOOK.md:");
        body.trim().lines().for_each(|line| ui::out(format!("    {}", sanitize(line)).trim_end()));
    }
}

fn number(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

/// Prints a built-in hook, which has no file.
fn print_built_in(entry: &HookEntry) {
    field("about", entry.description.as_deref().unwrap_or_default());
    field("order", "last; a hook that acts on the history takes precedence");
}

/// Prints how a runtime hook is called and what it may request; of one that is not trusted, what its manifest says.
fn print_runtime(details: &HookDetails) {
    let entry = &details.entry;
    let metadata = details.manifest.as_ref().map(|manifest| &manifest["metadata"]);
    let manifest_runtime = metadata.and_then(|metadata| metadata["runtime"].as_str());
    let Some(runtime) = entry.runtime.or(manifest_runtime) else { return };
    let one_shot = if runtime == Runtime::ServeOnly.as_str() {
        "it has no other form"
    } else {
        "it can also run once per event"
    };
    field("runtime", &format!("{runtime}: its process is called for many events; {one_shot}"));
    let services = metadata.and_then(|metadata| metadata["services"].as_array());
    let is_listed = |service: &Service| match services {
        Some(services) => services.iter().any(|word| *word == service.as_str()),
        None => entry.services.contains(service),
    };
    let services = Service::ALL.into_iter().filter(is_listed);
    let services: Vec<String> =
        services.map(|service| format!("{} ({})", service.as_str(), service.meaning())).collect();
    let none = || "none".to_owned();
    field(
        "services",
        &Some(services.join(", ")).filter(|text| !text.is_empty()).unwrap_or_else(none),
    );
}

/// Prints the fields of a manifest.
fn print_manifest(entry: &HookEntry, manifest: &Value) {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let is_native = !manifest["metadata"]["dialect"].is_null();
    let facts = [
        ("about", text(&manifest["description"])),
        ("url", text(&manifest["metadata"]["url"])),
        ("headers", headers(&manifest["metadata"])),
        ("tool", text(&manifest["matcher"]["tool"])),
        ("pattern", text(&manifest["matcher"]["pattern"])),
        ("workdir", text(&manifest["metadata"]["workdir"])),
        ("confine", text(&manifest["metadata"]["confine"])),
        ("dialect", text(&manifest["metadata"]["dialect"])),
        ("event", text(&manifest["metadata"]["event"]).filter(|_| is_native)),
        ("matcher", text(&manifest["metadata"]["matcher"]).filter(|_| is_native)),
        ("origin", text(&manifest["metadata"]["origin"]).filter(|_| is_native)),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            field(name, &visible(&value));
        }
    }
    let asynchronous = if entry.active { entry.asynchronous } else { manifest["async"] == true };
    print_action(&manifest["metadata"]);
    field(
        "async",
        if asynchronous { "yes: the agent does not wait" } else { "no: the agent waits" },
    );
}

/// Returns the headers of a hook behind HTTP, with the variables that hold their values.
fn headers(metadata: &Value) -> Option<String> {
    let headers = metadata["headers"].as_object().filter(|_| !metadata["url"].is_null())?;
    let lines = headers.iter().map(|(name, value)| match value.as_str() {
        Some(value) => format!("{name}: {value}"),
        None => name.clone(),
    });
    Some(lines.collect::<Vec<_>>().join(", "))
}

/// Prints the action of a static hook; messages and arguments as JSON.
fn print_action(metadata: &Value) {
    if metadata["action"].is_null() {
        return;
    }
    for key in ["action", "when", "reason", "text", "messages", "recipe", "args"] {
        match &metadata[key] {
            Value::Null => {}
            Value::String(text) => field(key, text.trim_end()),
            other => field(key, &json::to_string(other)),
        }
    }
}

fn print_script(project: &Project, details: &HookDetails, hook: &ListedHook) {
    let Some(lines) = &details.script else {
        let is_directory = hook.path.is_dir();
        let has = |key: &str| {
            details.manifest.as_ref().is_some_and(|manifest| !manifest["metadata"][key].is_null())
        };
        let missing = if !is_directory || details.script_path.is_some() {
            "not text"
        } else if has("action") {
            "none: a static hook"
        } else if has("url") {
            "none: payloads are posted to the URL"
        } else {
            "none"
        };
        return field("script", missing);
    };
    let of = details.script_path.as_deref().map(|path| entry::short(project, path) + ", ");
    field("script", &format!("{}first {MAX_LINES} lines:", of.unwrap_or_default()));
    for line in lines {
        ui::out(format!("    {}", sanitize(line)));
    }
}

fn field(name: &str, value: &str) {
    ui::out(format!("  {}  {}", styled(FAINT, format!("{name:<8}")), sanitize(value)));
}

fn status(entry: &HookEntry) -> String {
    match &entry.reason {
        Some(reason) => format!("{}: it {reason}", entry.status),
        None => entry.status.to_owned(),
    }
}

fn trust(details: &HookDetails) -> String {
    let word = details.entry.trust.as_str();
    match (&details.trusted, details.entry.trust) {
        (Some(record), TrustStatus::Trusted) => format!("{word} since {}", record.trusted_at),
        (Some(record), _) => format!(
            "{word}; the last trusted version has the hash {} ({})",
            record.hash.0, record.trusted_at
        ),
        (None, _) => word.to_owned(),
    }
}

fn fail(mode: FailMode) -> &'static str {
    match mode {
        FailMode::Open => "open: after a failure the agent continues, with a warning",
        FailMode::Closed => "closed: a failure denies, at events that can be denied",
    }
}
