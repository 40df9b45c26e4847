//! The permission rules that the user added in a project, in a private file next to the trust store: outside the project, so that
//! nothing in it can add one.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_agent::permission::{Rule, RuleStore};
use tenter_base::{FileLock, private_dir, replace_file, untrusted_file};
use tenter_commands::user_only;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::Env;

/// The version of the format.
const VERSION: u32 = 1;
/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The rules of one project.
pub(super) struct StoredRules {
    env: Env,
    root: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct RuleFile {
    version: u32,
    /// By project root.
    projects: BTreeMap<String, Vec<String>>,
}

impl StoredRules {
    /// Creates the store of the project with this root.
    pub(super) fn new(env: &Env, root: &Path) -> Self {
        Self { env: env.clone(), root: root.to_owned() }
    }

    /// Returns the rules, and what is wrong with the file. Of a file that cannot be read no rule counts.
    pub(super) fn read(&self) -> (Vec<Rule>, Vec<Diagnostic>) {
        let mut findings = Vec::new();
        let mut report = |message: String| {
            let finding = Diagnostic::new("permission-rules", Severity::Warning, message);
            findings
                .push(finding.at(self.file()).help("no rule is taken from it; fix or delete it"));
        };
        let result = self.content().map_err(|why| report(format!("cannot be read: {why}")));
        let rules = result.ok().and_then(|mut content| content.projects.remove(&self.key()));
        let rules = rules
            .unwrap_or_default()
            .into_iter()
            .filter_map(|rule| rule.parse().map_err(|error| report(format!("{error}"))).ok());
        (rules.collect(), findings)
    }

    fn file(&self) -> PathBuf {
        self.env.state_dir().join("permissions.json")
    }

    fn key(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    fn content(&self) -> Result<RuleFile, String> {
        let bytes = match untrusted_file::read(&self.file(), MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(RuleFile { version: VERSION, projects: BTreeMap::new() });
            }
            Err(error) => return Err(error.to_string()),
        };
        let content: RuleFile =
            serde_json::from_slice(&bytes).map_err(|error| format!("it is damaged ({error})"))?;
        if content.version == VERSION {
            Ok(content)
        } else {
            Err(format!("its version is {}, which this program does not know", content.version))
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<String>)) -> Result<(), String> {
        let file = self.file();
        // Another file, because the rules are replaced.
        let _lock = lock(&file).map_err(|error| error.to_string())?;
        let mut content = self.content()?;
        let rules = content.projects.entry(self.key()).or_default();
        change(rules);
        if rules.is_empty() {
            content.projects.remove(&self.key());
        }
        let bytes = serde_json::to_vec_pretty(&content).map_err(|error| error.to_string())?;
        replace_file::replace(&file, &bytes).map_err(|error| error.to_string())
    }
}

impl RuleStore for StoredRules {
    fn add(&self, rules: &[Rule]) -> Result<(), String> {
        if user_only::is_below_agent(&self.env, &self.root) {
            return Err("another coding agent runs this program, and an agent must not loosen its own guards".to_owned());
        }
        self.change(|texts| {
            for rule in rules.iter().map(Rule::to_string) {
                if !texts.contains(&rule) {
                    texts.push(rule);
                }
            }
        })
    }

    fn remove(&self, rule: &Rule) -> Result<(), String> {
        self.change(|rules| rules.retain(|other| *other != rule.to_string()))
    }
}

fn lock(file: &Path) -> io::Result<FileLock> {
    private_dir::create_parent(file)?;
    FileLock::acquire(&file.with_added_extension("lock"))
}
