//! Manual pages: one for each command, valid for groff, with references to each other.

use std::fs;

use tenter_testkit::needs;

use crate::sandbox;

#[test]
fn every_command_has_a_page() {
    let sandbox = sandbox();
    let output = sandbox.run("man --out pages/man1").expect_code(0);
    assert!(output.stderr.starts_with("Wrote "), "{output}");
    let pages = sandbox.project().join("pages/man1");
    let mut names: Vec<String> = fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in
        ["tenter.1", "tenter-run.1", "tenter-hooks.1", "tenter-hooks-test.1", "tenter-config-set.1"]
    {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    // A hidden command has none.
    assert!(!names.contains(&"tenter-hooks-post.1".to_owned()));
    let main = fs::read_to_string(pages.join("tenter.1")).unwrap();
    assert_eq!(main, sandbox.run("man").expect_code(0).stdout);
    // What a page refers to exists.
    for name in &names {
        let text = fs::read_to_string(pages.join(name)).unwrap();
        let (_, related) = text.split_once("SEE ALSO").unwrap_or_else(|| panic!("{name}"));
        for other in related.split("\\fB").skip(1).filter_map(|part| part.split_once("\\fR(1)")) {
            let file = format!("{}.1", other.0.replace('\\', ""));
            assert!(names.contains(&file), "{name} refers to {file}");
        }
    }
    if needs::has("groff") {
        let screen = sandbox.shell("groff -man -Tutf8 -ww pages/man1/*.1").expect_code(0);
        assert!(screen.stderr.is_empty(), "{screen}");
    }
    sandbox.write("file", "");
    sandbox.fails(1, "man --out file/man1", "cannot write file/man1");
}
