//! Hooks and settings in places that a confined command may write: with mounts, and without.

use std::fs;

use crate::confine::{Lab, WRITE, is_supported, own_by_ordinary_user};

#[test]
fn without_mounts_changed_hooks_are_put_back() {
    tenter_testkit::skip_unless!(is_supported());
    let lab = Lab::new();
    let script = "echo x > .git/hooks/pre-push; echo x > .git/hooks/new; rm .git/config; echo {} > tenter.toml; echo ok > done";
    let output = lab.confined(&["--spec", WRITE, "--limit", "no-namespaces"], script);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(0), 4), "{stderr}");
    assert_eq!(lab.read("project/.git/hooks/pre-push"), "original\n");
    assert_eq!(lab.read("project/.git/config"), "original\n");
    assert_eq!(lab.read("project/done"), "ok\n");
    for path in ["project/.git/hooks/new", "project/tenter.toml"] {
        assert!(!lab.path(path).exists(), "{path}");
        assert!(lab.path(&format!("{path}.refused")).exists(), "{path}");
    }
}

/// A mount in a protected directory, or beside one, stays where it is, and what is mounted in the directory is protected, too.
#[test]
fn mounts_in_protected_directories_stay_and_are_read_only() {
    tenter_testkit::skip_unless!(is_supported());
    for (limits, write) in [("abi=9", r#"["project"]"#), ("abi=0", r#"["/"]"#)] {
        let lab = Lab::new();
        fs::create_dir(lab.path("project/.git/hooks/m n")).unwrap();
        fs::create_dir(lab.path("project/beside")).unwrap();
        own_by_ordinary_user(&lab.path("project"));
        let script = r#"for d in ".git/hooks/m n" beside; do mount -t tmpfs none "$d" && echo original > "$d/file"; done
            exec "$LAUNCHER" confine --limit "$LIMITS" --spec "{\"write\": $WRITE, \"otherwise\": \"run\"}" -- bash -c '
                cat ".git/hooks/m n/file" beside/file
                echo changed > ".git/hooks/m n/file"
                echo changed > beside/file
                cat ".git/hooks/m n/file" beside/file' 2> /dev/null"#;
        let mut command = lab.command("unshare");
        command.env("WRITE", write).env("LIMITS", limits).args(["-Urm", "bash", "-c", script]);
        let output = command.output().unwrap();
        let expected = "original\noriginal\noriginal\nchanged\n";
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{write}: {output:?}");
    }
}
