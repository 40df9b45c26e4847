//! Files that count in the fingerprint of a server, by its definition.

use tenter_terminal::Env;

use super::*;

/// A project with files behind which a server can be.
struct ProjectFiles(tempfile::TempDir);

impl ProjectFiles {
    fn new(definition: &str) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        for (name, content) in [
            ("tools/s.sh", "echo 1\n"),
            ("tools/x.js", "1\n"),
            ("tools/__main__.py", "1\n"),
            ("tools/s.py", "1\n"),
            ("tools/lib/a.py", "1\n"),
            ("tools/compose.yml", "services: {}\n"),
            ("tools/package.json", "{}\n"),
            ("tools/list", "tools/s.sh\n"),
            ("pkg/index.js", "1\n"),
            ("node_modules/helper/index.js", "1\n"),
            ("node_modules/.bin/local-mcp", "1\n"),
            ("package.json", r#"{"name": "shop", "scripts": {"mcp": "sh tools/s.sh"}}"#),
            ("Makefile", "mcp:\n\tsh tools/s.sh\n"),
            ("src/main.rs", "1\n"),
            ("README", "1\n"),
        ] {
            project.write(name, content);
        }
        project.write("tenter.toml", &format!("[mcp.servers.ours]\n{definition}\n"));
        project
    }

    fn write(&self, name: &str, content: &str) {
        let file = self.0.path().join("project").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    fn fingerprint(&self) -> Fingerprint {
        let home = self.0.path().join("home");
        let vars = vec![("HOME".into(), home.into()), ("PATH".into(), "/usr/bin:/bin".into())];
        let root = self.0.path().join("project");
        let env = Env::from_variables(vars, root.clone());
        let project = Project::open(&env, Some(&root)).unwrap();
        ServerCoverage::new(&project, &project.settings.mcp[0]).fingerprint().unwrap()
    }

    /// Changes a file, and checks whether the fingerprint changes.
    fn counts(&self, name: &str) -> bool {
        let fingerprint = self.fingerprint();
        let file = self.0.path().join("project").join(name);
        let content = fs::read_to_string(file).unwrap_or_default();
        self.write(name, &format!("{content}# changed\n"));
        self.fingerprint() != fingerprint
    }
}

/// Changes a file, which must count, and `other`, which must not.
fn check(definition: &str, file: &str, other: Option<&str>) {
    let project = ProjectFiles::new(definition);
    if let Some(other) = other {
        assert!(!project.counts(other), "{definition}: {other} does not matter");
    }
    assert!(project.counts(file), "{definition}: a change of {file} is not seen");
}

/// Returns the definition of a server from words.
fn words(words: &[&str]) -> String {
    format!("command = {:?}\nargs = {:?}", words[0], &words[1..])
}

#[test]
fn a_change_behind_any_form_of_command_asks_again() {
    let other = Some("src/main.rs");
    for (command, changed) in [
        (&["./tools/s.sh"][..], "tools/s.sh"),
        (&["sh", "-c", "exec sh tools/s.sh"], "tools/s.sh"),
        (&["bash", "-lc", "cd tools && ./s.sh"], "tools/s.sh"),
        (&["sh", "-c", "T=tools; . \"$T/s.sh\""], "tools/s.sh"),
        (&["sh", "-c", "cat tools/*.sh | sh"], "tools/s.sh"),
        (&["sh", "-c", "sh < tools/s.sh"], "tools/s.sh"),
        (&["bash", "--rcfile", "tools/s.sh", "-i"], "tools/s.sh"),
        (&["env", "-C", "tools", "sh", "s.sh"], "tools/s.sh"),
        (&["timeout", "60", "nice", "bash", "tools/s.sh"], "tools/s.sh"),
        (&["find", "tools", "-name", "*.sh", "-exec", "sh", "{}", ";"], "tools/s.sh"),
        (&["node", "--require=./tools/x.js", "pkg/index.js"], "tools/x.js"),
        (&["node", "-r", "./tools/x.js", "pkg/index.js"], "tools/x.js"),
        (
            &["node", "--import", "file://${TENTER_PROJECT_DIR}/tools/x.js", "pkg/index.js"],
            "tools/x.js",
        ),
        (&["node", "--require", "helper", "pkg/index.js"], "node_modules/helper/index.js"),
        (&["node", "pkg"], "pkg/index.js"),
        (&["python3", "tools"], "tools/lib/a.py"),
        (&["python3", "-m", "tools.s"], "tools/s.py"),
        (&["python3", "-Im", "tools.s"], "tools/lib/a.py"),
        (&["python3", "-m", "mcp_server_time"], "json.py"),
        (&["python3", "tools/s.py"], "tools/lib/a.py"),
        (&["ruby", "-Itools", "-rs", "pkg/index.js"], "tools/s.sh"),
        (&["perl", "-Itools", "pkg/index.js"], "tools/s.sh"),
        (&["deno", "run", "-A", "tools/x.js"], "tools/x.js"),
        (&["bun", "run", "tools/x.js"], "tools/x.js"),
        (&["npx", "-y", "tsx", "tools/x.js"], "tools/x.js"),
        (&["npx", "local-mcp"], "node_modules/.bin/local-mcp"),
        (&["npx", "-y", "some-mcp@1.0.0"], ".npmrc"),
        (&["npx", "./pkg"], "pkg/index.js"),
        (&["npm", "exec", "--", "node", "tools/x.js"], "tools/x.js"),
        (&["uvx", "--from", "./tools", "some-mcp"], "tools/s.py"),
        (&["uvx", "some-mcp"], "uv.toml"),
        (&["docker", "run", "-i", "-v", "./tools:/app", "image"], "tools/s.sh"),
        (&["uv", "tool", "run", "--from", "./tools", "some-mcp"], "tools/s.py"),
        (&["npx", "-p", "helper", "some-mcp"], "node_modules/helper/index.js"),
        (&["npx", "-c", "sh tools/s.sh"], "tools/s.sh"),
        (&["npx", "tsx", "watch", "tools/x.js"], "tools/x.js"),
        (&["java", "tools.Main"], "tools/Main.class"),
        (&["java", "@tools/list"], "tools/list"),
        (&["php", "-d", "auto_prepend_file=tools/x.js", "pkg/index.js"], "tools/x.js"),
        (&["sh", "-c", "exec sh \"$PWD/tools/s.sh\""], "tools/s.sh"),
        (&["sh", "-c", "PATH=./tools:$PATH some-mcp"], "tools/some-mcp"),
        (&["env", "-S", "sh tools/s.sh"], "tools/s.sh"),
        (&["some-mcp", "--config", "tools/list"], "tools/list"),
    ] {
        check(&words(command), changed, other);
    }
}

#[test]
fn where_a_program_decides_what_it_runs_every_file_counts() {
    for command in [
        &["make", "mcp"][..],
        &["just", "mcp"],
        &["npm", "run", "mcp"],
        &["npm", "--prefix", "tools", "start"],
        &["yarn", "mcp"],
        &["bun", "run", "mcp"],
        &["deno", "task", "mcp"],
        &["uv", "run", "server"],
        &["cargo", "run"],
        &["./gradlew", "mcp"],
        &["docker", "compose", "-f", "tools/compose.yml", "run", "mcp"],
        &["docker", "run", "-i", "-v", "${TENTER_PROJECT_DIR}:/w", "image", "sh", "/w/tools/s.sh"],
        &["node", "."],
        &["node", "-e", "require('./tools/x.js')"],
        &["python3", "-c", "import tools.s"],
        &["sh", "-c", "exec $0 $1", "sh", "tools/s.sh"],
        &["sh", "-c", "xargs sh < tools/list"],
        &["sh", "-c", "eval \"$(cat tools/s.sh)\""],
        &["sh", "-c", "some-launcher"],
        &["some-launcher", "--verbose"],
        &["python3", "-m", "invoke", "mcp"],
        &["git", "-c", "alias.mcp=!sh tools/s.sh", "mcp"],
        &["npx", "shop"],
        &["npx", "gulp", "mcp"],
    ] {
        check(&words(command), "tools/s.sh", None);
        check(&words(command), "tools/new.sh", None);
    }
}

#[test]
fn variables_and_directories_of_a_server_count() {
    let other = Some("src/main.rs");
    let node = "command = \"node\"\nargs = [\"pkg/index.js\"]\n";
    for (definition, changed) in [
        (format!("{node}env = {{NODE_OPTIONS = \"--require ./tools/x.js\"}}"), "tools/x.js"),
        (format!("{node}env = {{NODE_PATH = \"tools\"}}"), "tools/lib/a.py"),
        (format!("{node}env = {{LD_PRELOAD = \"./tools/x.js\"}}"), "tools/x.js"),
        (format!("{node}env = {{PATH = \"./tools:/bin\"}}"), "tools/s.sh"),
        (format!("{node}env = {{SETTINGS = \"tools/list\"}}"), "tools/list"),
        ("command = \"some-mcp\"\nenv = {PYTHONPATH = \"tools\"}".to_owned(), "tools/lib/a.py"),
        (
            "command = \"sh\"\nargs = [\"-c\", \"$RUN\"]\nenv = {RUN = \"sh tools/s.sh\"}"
                .to_owned(),
            "tools/s.sh",
        ),
        ("command = \"sh\"\nargs = [\"s.sh\"]\ncwd = \"tools\"".to_owned(), "tools/s.sh"),
        ("command = \"env\"\nargs = [\"PYTHONPATH=tools\", \"some-mcp\"]".to_owned(), "tools/s.py"),
        (
            "command = \"sh\"\nargs = [\"-c\", \"export PYTHONPATH=tools; some-mcp\"]".to_owned(),
            "tools/s.py",
        ),
    ] {
        check(&definition, changed, other);
    }
    check("command = \"some-mcp\"\nenv = {PYTHONPATH = \".\"}", "src/main.rs", None);
}

#[test]
fn arguments_of_servers_are_data() {
    for command in [
        &["npx", "-y", "@modelcontextprotocol/server-filesystem", "."][..],
        &["uvx", "mcp-server-git", "--repository", "."],
        &["python3", "-m", "mcp_server_git", "--repository", "."],
        &["some-mcp", "--root", "${TENTER_PROJECT_DIR}"],
        &["docker", "run", "-i", "-v", "${TENTER_PROJECT_DIR}:/w", "mcp/filesystem", "/w"],
        &["sh", "-c", "exec npx -y some-mcp ."],
    ] {
        let project = ProjectFiles::new(&words(command));
        assert!(!project.counts("src/main.rs"), "{command:?}");
    }
}
