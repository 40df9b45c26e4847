//! Signed bundles (M2): how they come into force, and that a bad one never does.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::{fs, thread};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tenter_testkit::{Output, Sandbox, assert_contains, needs};

use crate::sandbox;

/// A machine that takes the bundle `acme` from the directory `served`, and the administrator's key.
struct Fleet {
    sandbox: Sandbox,
}

impl Fleet {
    /// Creates a machine with version 1 in force.
    fn new() -> Self {
        let fleet = Self::without_bundle();
        fleet.publish("1", &[]);
        let _ = fleet.update().expect_code(0);
        fleet
    }

    fn without_bundle() -> Self {
        let fleet = Self { sandbox: sandbox().managed() };
        fs::create_dir(fleet.served()).unwrap();
        fleet.make_key("key");
        fleet.configure(&format!("directory = \"{}\"", fleet.served().display()));
        fleet.write_hook("no-sudo", &rule_of("sudo"));
        fleet
    }

    fn served(&self) -> PathBuf {
        self.sandbox.root().join("served")
    }

    fn package(&self) -> PathBuf {
        self.served().join("acme.bundle")
    }

    /// Returns the directory of the installed versions.
    fn installed(&self) -> PathBuf {
        self.sandbox.machine().join("etc/tenter/bundles/acme")
    }

    fn make_key(&self, name: &str) {
        let line = format!("ssh-keygen -q -t ed25519 -N '' -C '' -f ../{name}");
        let _ = self.sandbox.shell(&line).expect_code(0);
    }

    fn configure(&self, source: &str) {
        let key = fs::read_to_string(self.sandbox.root().join("key.pub")).unwrap();
        let text =
            format!("[[managed.bundle]]\nname = \"acme\"\nkeys = [{:?}]\n{source}\n", key.trim());
        self.sandbox.write_managed("config.toml", text);
    }

    /// Writes a hook of the plugin that is packed, with these rules.
    fn write_hook(&self, name: &str, rules: &str) {
        let text = format!(
            "---\nname: {name}\ndescription: Denies programs.\ntrigger: before_tool\nmetadata:\n  match:\n{rules}---\n"
        );
        self.sandbox.write(&format!("../plugin/hooks/{name}/HOOK.md"), text);
    }

    fn pack(&self, version: &str, options: &[&str]) {
        let package = self.package().display().to_string();
        let args = ["bundle", "pack", "../plugin", "--name", "acme", "-o", &package];
        let args = [&args[..], &["--version", version], options].concat();
        let _ = self.sandbox.run(&args).expect_code(0);
    }

    fn sign(&self, key: &str) {
        let package = self.package().display().to_string();
        let key = format!("../{key}");
        let _ = self.sandbox.run(["bundle", "sign", &package, "--key", &key]).expect_code(0);
    }

    fn publish(&self, version: &str, options: &[&str]) {
        self.pack(version, options);
        self.sign("key");
    }

    fn update(&self) -> Output {
        self.sandbox.run("bundle update")
    }

    /// Returns the decision about a command.
    fn decide(&self, command: &str) -> String {
        self.sandbox.run(["check", command]).to_string()
    }

    fn denies(&self, program: &str) -> bool {
        self.decide(&format!("{program} x")).contains(&format!("no {program}"))
    }

    /// Checks that an update is refused for this reason, that version 1 stays in force, and that the doctor says so.
    fn refuses(&self, why: &str) {
        let output = self.update().expect_code(1);
        assert!(output.stderr.contains(why), "{why}\n{output}");
        assert!(output.stderr.contains("version 1 stays in force"), "{output}");
        assert!(self.denies("sudo"), "{why}");
        let doctor = self.sandbox.run("hooks doctor").expect_code(1);
        assert!(doctor.to_string().contains(why), "{why}\n{doctor}");
    }

    /// Signs a manifest and packs it with these bytes of its files.
    fn publish_manifest(&self, manifest: &Value, files: &[u8]) {
        self.sandbox.write("../manifest", manifest.to_string());
        let line = "ssh-keygen -q -Y sign -n tenter-bundle -f ../key ../manifest";
        let _ = self.sandbox.shell(line).expect_code(0);
        let signature = fs::read(self.sandbox.root().join("manifest.sig")).unwrap();
        fs::remove_file(self.sandbox.root().join("manifest.sig")).unwrap();
        let text = manifest.to_string().into_bytes();
        let head = format!("tenter-bundle 1\n{} {}\n", text.len(), signature.len());
        fs::write(self.package(), [head.as_bytes(), &text, &signature, files].concat()).unwrap();
    }
}

fn rule_of(program: &str) -> String {
    format!("    - {{program: {program}, decision: deny, reason: no {program}}}\n")
}

#[test]
fn a_signed_bundle_guards_all_users_and_newer_versions_replace_it() {
    let fleet = Fleet::new();
    assert!(fleet.denies("sudo"));
    let list = fleet.sandbox.run("hooks list");
    assert!(list.stdout.contains("acme/no-sudo"), "{list}");
    fleet.sandbox.configure("[hooks]\nenabled = false\n");
    assert!(fleet.denies("sudo"), "a user cannot disable it");
    fleet.sandbox.run("bundle status").prints("acme  valid  version 1");
    fleet.update().warns("Version 1 of the bundle acme is in force.");
    for (version, program) in [("2", "doas"), ("10", "pkexec")] {
        fleet.write_hook("no-sudo", &rule_of(program));
        fleet.publish(version, &[]);
        let _ = fleet.update().expect_code(0);
        assert!(fleet.denies(program) && !fleet.denies("sudo"), "{version}");
    }
    // Processes may still run hooks of the version before.
    let names = ["1", "2", "10"].map(|version| fleet.installed().join(version).exists());
    assert_eq!(names, [false, true, true]);
    let mode = fs::metadata(fleet.installed().join("10/hooks")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn a_missing_signature_and_a_wrong_one_are_refused() {
    let fleet = Fleet::new();
    fleet.pack("2", &[]);
    fleet.refuses("it has no signature");
    fleet.make_key("other");
    fleet.sign("other");
    fleet.refuses("no pinned key has signed it");
    // The manifest is changed after it was signed.
    fleet.publish("2", &[]);
    let text = String::from_utf8(fs::read(fleet.package()).unwrap()).unwrap();
    fs::write(fleet.package(), text.replace("\"grace_days\": 14", "\"grace_days\": 99")).unwrap();
    fleet.refuses("no pinned key has signed it");
    // A signature of something else, with the same key.
    let line = "cd ../served && echo x > x && ssh-keygen -q -Y sign -n file -f ../key x";
    let _ = fleet.sandbox.shell(line).expect_code(0);
    fleet.pack("2", &[]);
    let bytes = fs::read_to_string(fleet.package()).unwrap();
    let signature = fs::read_to_string(fleet.served().join("x.sig")).unwrap();
    let (manifest_length, rest) = bytes["tenter-bundle 1\n".len()..].split_once(" 0\n").unwrap();
    let (manifest, files) = rest.split_at(manifest_length.parse().unwrap());
    let head = format!("tenter-bundle 1\n{manifest_length} {}\n", signature.len());
    fs::write(fleet.package(), [&head, manifest, &signature, files].concat()).unwrap();
    fleet.refuses("no pinned key has signed it");
}

#[test]
fn an_older_version_and_a_second_bundle_of_a_version_are_refused() {
    let fleet = Fleet::new();
    fleet.publish("0.9", &[]);
    fleet.refuses("version 0.9 is older than version 1");
    fleet.write_hook("no-sudo", &rule_of("never"));
    fleet.publish("1", &[]);
    fleet.refuses("another bundle was signed as version 1");
    // Without the pointer, the versions on the disk still count.
    fleet.publish("2", &[]);
    let _ = fleet.update().expect_code(0);
    fs::remove_file(fleet.installed().join("current")).unwrap();
    fleet.publish("1.5", &[]);
    fleet.update().fails(1, "version 1.5 is older than version 2");
}

#[test]
fn a_bundle_is_refused_beyond_its_grace_and_the_doctor_reports_one_that_stays() {
    let fleet = Fleet::new();
    fleet.publish("2", &["--expires", "0", "--grace", "0"]);
    fleet.refuses("has expired, beyond its grace");
    fleet.publish("3", &["--expires", "0", "--grace", "9"]);
    let _ = fleet.update().expect_code(0);
    let doctor = fleet.sandbox.run("hooks doctor").expect_code(0);
    assert!(doctor.to_string().contains("version 3 expired"), "{doctor}");
}

#[test]
fn half_a_package_is_refused() {
    let fleet = Fleet::new();
    fleet.publish("2", &[]);
    let bytes = fs::read(fleet.package()).unwrap();
    for length in [5, 100, bytes.len() - 1] {
        fs::write(fleet.package(), &bytes[..length]).unwrap();
        fleet.refuses("the download is incomplete");
    }
    // The connection breaks.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    fleet.configure(&format!("url = \"http://{}/acme.bundle\"", listener.local_addr().unwrap()));
    let server = thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let _ = connection.read(&mut [0; 4096]).unwrap();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", bytes.len());
        connection.write_all(head.as_bytes()).unwrap();
        connection.write_all(&bytes[..bytes.len() / 2]).unwrap();
    });
    fleet.refuses("cannot download http://127.0.0.1");
    server.join().unwrap();
}

#[test]
fn a_file_that_a_group_can_write_is_refused_and_an_update_restores_it() {
    let fleet = Fleet::new();
    let file = fleet.installed().join("1/hooks/no-sudo/HOOK.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
    let list = fleet.sandbox.run("hooks list");
    assert!(list.stdout.contains("can be changed by others than root"), "{list}");
    let doctor = fleet.sandbox.run("hooks doctor").expect_code(1);
    assert!(doctor.to_string().contains("bundle acme is damaged"), "{doctor}");
    let _ = fleet.update().expect_code(0);
    assert!(fleet.denies("sudo"));
    // A changed file, too.
    fs::write(&file, "---\n---\n").unwrap();
    let status = fleet.sandbox.run("bundle status").expect_code(1);
    assert!(status.to_string().contains("this file is not as it was signed"), "{status}");
    let _ = fleet.update().expect_code(0);
    assert!(fleet.denies("sudo"));
    // Where a group can write all versions, nothing is installed.
    fs::set_permissions(fleet.installed(), fs::Permissions::from_mode(0o775)).unwrap();
    fleet.publish("2", &[]);
    fleet.update().fails(1, "others than root can change it");
}

#[test]
fn a_symlink_out_of_a_bundle_is_refused() {
    let fleet = Fleet::new();
    let target = "/etc/passwd";
    let digest = format!("120000 {:x}", Sha256::digest(target));
    let files = json!([{"path": "hooks/no-sudo", "bytes": target.len(), "sha256": digest}]);
    let manifest = json!({
        "format": 1, "name": "acme", "version": "2", "created": "2026-01-01T00:00:00Z",
        "expires": "2099-01-01T00:00:00Z", "grace_days": 0, "files": files,
    });
    fleet.publish_manifest(&manifest, target.as_bytes());
    fleet.refuses("leaves the plugin");
    // One on the machine.
    let hook = fleet.installed().join("1/hooks/no-sudo");
    let elsewhere = fleet.sandbox.machine().join("etc/elsewhere");
    fs::rename(&hook, &elsewhere).unwrap();
    symlink(&elsewhere, &hook).unwrap();
    let list = fleet.sandbox.run("hooks list");
    assert!(list.stdout.contains("leads out of it"), "{list}");
    // And a pointer that leads elsewhere.
    let current = fleet.installed().join("current");
    fs::remove_file(&current).unwrap();
    symlink("../../../elsewhere", &current).unwrap();
    let listing = fleet.sandbox.run("hooks list");
    assert!(listing.to_string().contains("does not lead to a directory beside it"), "{listing}");
}

#[test]
fn one_invalid_rule_among_fifty_is_left_out_and_reported() {
    let fleet = Fleet::without_bundle();
    let mut rules: String = (0..49).map(|number| rule_of(&format!("prog{number}"))).collect();
    rules.insert_str(0, "    - {programm: sudo, decision: deny, reason: no sudo}\n");
    fleet.write_hook("many", &rules);
    let package = fleet.package().display().to_string();
    let args = ["bundle", "pack", "../plugin", "--name", "acme", "-o", &package, "--version", "1"];
    let output = fleet.sandbox.run(args).expect_code(1);
    assert_contains(&output.stderr, &["hooks have errors", "programm"]);
    assert!(!fleet.package().exists());
    fleet.publish("1", &["--force"]);
    let _ = fleet.update().expect_code(0);
    for number in [0, 25, 48] {
        assert!(fleet.denies(&format!("prog{number}")), "{number}");
    }
    let doctor = fleet.sandbox.run("hooks doctor").expect_code(1);
    assert!(doctor.to_string().contains("programm"), "{doctor}");
    // A hook of the user with such a rule does not run: its author sees that at once.
    fleet.sandbox.write_managed("config.toml", "");
    fs::remove_dir_all(fleet.installed()).unwrap();
    fs::create_dir_all(fleet.sandbox.home().join(".config/agents")).unwrap();
    let line = "cp -r ../plugin/hooks ../home/.config/agents/hooks";
    let _ = fleet.sandbox.shell(line).expect_code(0);
    assert!(!fleet.denies("prog0"));
}

#[test]
fn a_bundle_of_another_name_is_refused() {
    let fleet = Fleet::new();
    let package = fleet.package().display().to_string();
    let args = ["bundle", "pack", "../plugin", "--name", "other", "-o", &package, "--version", "2"];
    let _ = fleet.sandbox.run(args).expect_code(0);
    fleet.sign("key");
    fleet.refuses("this is the bundle other, and acme is expected");
}

#[test]
fn a_bundle_comes_from_a_branch_of_a_repository() {
    let fleet = Fleet::new();
    fleet.publish("2", &[]);
    let git = "git -c user.name=a -c user.email=a@b";
    let line = format!(
        "cd ../served && git init -q -b main && mkdir x && mv acme.bundle x/y && git add x && {git} commit -qm x"
    );
    let _ = fleet.sandbox.shell(&line).expect_code(0);
    let repository = fleet.served().display().to_string();
    fleet.configure(&format!("git = {repository:?}\nreference = \"main\"\nfile = \"x/y\""));
    fleet.update().warns("Installed version 2");
    fleet.configure(&format!("git = {repository:?}\nfile = \"none\""));
    fleet.update().fails(1, "has no file none");
}

#[test]
fn a_bundle_is_signed_with_minisign_and_installed_from_a_file() {
    tenter_testkit::skip_unless!(needs::has("minisign"));
    let fleet = Fleet::without_bundle();
    let line = "minisign -G -W -p ../mini.pub -s ../mini.key >/dev/null";
    let _ = fleet.sandbox.shell(line).expect_code(0);
    fleet.pack("1", &[]);
    fleet.sign("mini.key");
    let package = fleet.package().display().to_string();
    fleet.sandbox.run(["bundle", "install", &package]).fails(1, "no pinned key has signed it");
    let verify = ["bundle", "verify", &package, "--key", "../mini.pub"];
    let output = fleet.sandbox.run(verify).expect_code(0);
    assert!(output.stdout.starts_with("Valid: acme 1"), "{output}");
    let key = fs::read_to_string(fleet.sandbox.root().join("mini.pub")).unwrap();
    let key = key.lines().last().unwrap();
    let text = format!("[[managed.bundle]]\nname = \"acme\"\nkeys = [{key:?}]\n");
    fleet.sandbox.write_managed("config.toml", text);
    let _ = fleet.sandbox.run(["bundle", "install", &package]).expect_code(0);
    assert!(fleet.denies("sudo"));
}

#[test]
fn a_refused_package_is_not_downloaded_again_until_the_keys_change() {
    let fleet = Fleet::new();
    fleet.make_key("other");
    fleet.pack("2", &[]);
    fleet.sign("other");
    let bytes = fs::read(fleet.package()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("url = \"http://{}/acme.bundle\"", listener.local_addr().unwrap());
    fleet.configure(&url);
    let server = thread::spawn(move || {
        let mut bodies = 0;
        for _ in 0..3 {
            let (mut connection, _) = listener.accept().unwrap();
            let mut head = [0; 4096];
            let length = connection.read(&mut head).unwrap();
            let head = String::from_utf8_lossy(&head[..length]).to_ascii_lowercase();
            if head.contains("if-none-match: \"2\"") {
                let text = b"HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n";
                connection.write_all(text).unwrap();
                continue;
            }
            bodies += 1;
            let head = format!(
                "HTTP/1.1 200 OK\r\netag: \"2\"\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                bytes.len()
            );
            connection.write_all(head.as_bytes()).unwrap();
            connection.write_all(&bytes).unwrap();
        }
        bodies
    });
    fleet.refuses("no pinned key has signed it");
    fleet.refuses("no pinned key has signed it");
    let root = fleet.sandbox.root();
    fs::copy(root.join("other.pub"), root.join("key.pub")).unwrap();
    fleet.configure(&url);
    fleet.update().warns("Installed version 2");
    assert_eq!(server.join().unwrap(), 2);
}

#[test]
fn only_pinned_keys_count_and_invalid_settings_do_not_disable_hooks() {
    let fleet = Fleet::new();
    let package = fleet.package().display().to_string();
    for (text, why) in [
        ("", "no key is pinned for the bundle acme"),
        ("[[managed.bundle]]\nname = \"acme\"\n", "no key is pinned"),
    ] {
        fleet.sandbox.write_managed("config.toml", text);
        fleet.sandbox.run(["bundle", "install", &package]).fails(1, why);
    }
    assert!(fleet.denies("sudo"));
    fleet.update().fails(1, "it has no `keys`");
}

#[test]
fn a_plugin_without_hooks_is_not_packed_and_units_name_the_command() {
    let fleet = Fleet::without_bundle();
    fs::create_dir(Path::new(&fleet.sandbox.root()).join("empty")).unwrap();
    let args = ["bundle", "pack", "../empty", "--name", "acme", "--version", "1"];
    fleet.sandbox.run(args).fails(1, "it has no hooks");
    let unit = fleet.sandbox.run("bundle unit --every 5").expect_code(0);
    assert_contains(&unit.stdout, &["bundle update\n", "OnUnitActiveSec=5min"]);
}
