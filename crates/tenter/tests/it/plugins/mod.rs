//! `tenter plugin`: real repositories, real installations, and what becomes of their hooks.

mod discovery;
mod interrupted;
mod listing;
mod over_http;
mod trust;
mod updating;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use tenter_testkit::Sandbox;

/// A hook that tells when it was run, in any way.
pub(crate) const GUARD: &str =
    "#!/bin/sh\necho \"$1\" >> \"$HOME/ran\"\n[ \"$1\" = hook ] && echo before_tool_call\nexit 0\n";

/// A repository in the sandbox, at `srv/ada/NAME`.
pub(crate) struct Repository<'s> {
    sandbox: &'s Sandbox,
    pub(crate) path: PathBuf,
}

impl<'s> Repository<'s> {
    /// Creates one with a commit that holds a hook with a helper, a skill and a recipe.
    pub(crate) fn new(sandbox: &'s Sandbox, name: &str) -> Self {
        let path = sandbox.root().join("srv/ada").join(name);
        let repository = Self { sandbox, path };
        repository.hook("guard", GUARD);
        repository.write("hooks/lib/words.sh", "words=1\n");
        repository
            .write("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDFs.\n---\nRead.\n");
        repository.write("recipes/review.md", "Review it.\n");
        repository.git("init --quiet --initial-branch=main");
        repository.commit();
        repository
    }

    pub(crate) fn url(&self) -> String {
        format!("file://{}", self.path.display())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn hook(&self, name: &str, script: &str) {
        let path = format!("hooks/{name}");
        self.write(&path, script);
        fs::set_permissions(self.path.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn git(&self, line: &str) -> String {
        let identity = "-c user.name=Ada -c user.email=ada@example.org";
        let line = format!("git -C '{}' {identity} {line}", self.path.display());
        self.sandbox.shell(&line).expect_code(0).stdout.trim().to_owned()
    }

    pub(crate) fn commit(&self) -> String {
        self.git("add --all");
        self.git("commit --quiet --allow-empty --message change");
        self.git("rev-parse HEAD")
    }
}

/// Returns the plugins directory's entries, hidden ones too.
pub(crate) fn left(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.project().join(".kodelet/plugins")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != ".lock");
    names.sort();
    names
}

/// Returns the calls for which hooks ran so far.
fn ran(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.home().join("ran")).unwrap_or_default()
}
