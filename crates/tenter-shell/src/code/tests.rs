//! Calls in programs of other languages.

use super::*;

fn calls(language: Language, text: &str) -> Vec<CodeCall> {
    read(language, text).calls
}

fn script(text: &str) -> CodeCall {
    CodeCall::Script(text.to_owned())
}

fn path(path: &str, op: PathOp, recursive: bool) -> CodeCall {
    CodeCall::Path { path: path.to_owned(), op, recursive }
}

#[test]
fn literal_commands_are_read() {
    assert_eq!(calls(Language::Python, "import os; os.system('rm -rf /')"), [script("rm -rf /")]);
    assert_eq!(
        calls(Language::Python, "subprocess.run(['rm', '-rf', \"/\"], check=True)"),
        [CodeCall::Words(vec!["rm".to_owned(), "-rf".to_owned(), "/".to_owned()])]
    );
    assert_eq!(
        calls(Language::Node, "require('child_process').execSync(\"git push -f\")"),
        [script("git push -f")]
    );
    assert_eq!(
        calls(Language::Node, "spawn('rm', ['-rf', 'x'])"),
        [CodeCall::Words(vec!["rm".to_owned(), "-rf".to_owned(), "x".to_owned()])]
    );
    assert_eq!(calls(Language::Perl, "system 'ls'; `pwd`"), [script("ls"), script("pwd")]);
    assert_eq!(calls(Language::Php, "shell_exec('id');"), [script("id")]);
    assert_eq!(calls(Language::Awk, "BEGIN { system(\"rm x\") }"), [script("rm x")]);
}

#[test]
fn literal_paths_are_read() {
    let text = "shutil.rmtree('/x'); open('a', 'w').write(open('b').read()); Path('c').unlink()";
    assert_eq!(
        calls(Language::Python, text),
        [
            path("/x", PathOp::Delete, true),
            path("a", PathOp::Write, false),
            path("b", PathOp::Read, false),
            path("c", PathOp::Delete, false),
        ]
    );
    assert_eq!(
        calls(Language::Node, "fs.rmSync('x', {recursive: true})"),
        [path("x", PathOp::Delete, true)]
    );
    assert_eq!(calls(Language::Ruby, "FileUtils.rm_rf '/x'"), [path("/x", PathOp::Delete, true)]);
    assert_eq!(calls(Language::Perl, "open(F, '>x')"), [path("x", PathOp::Write, false)]);
}

#[test]
fn what_cannot_be_read_is_dynamic() {
    assert!(read(Language::Python, "os.system(cmd)").dynamic);
    assert!(read(Language::Python, "os.system('rm ' + x)").dynamic);
    assert!(read(Language::Node, "exec(`rm ${x}`)").dynamic);
    assert!(!read(Language::Python, "print('os')").dynamic);
}
