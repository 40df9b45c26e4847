//! Calls that run commands or touch files. To add one, add a row, and an example to the tests.

use tenter_base::words;

use crate::facts::{Language, PathOp};

/// A call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'n> {
    pub(super) language: Language,
    pub(super) name: &'n str,
    /// The object before the name and a dot. Empty if that does not matter.
    pub(super) object: &'static str,
    pub(super) effect: Effect,
}

/// The effect of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The first argument is a script, or a list of words.
    Shell,
    /// The arguments are the words of a command; a single one is a script.
    Words,
    /// The texts in the rest of a list of Lisp are the words of a command.
    Lisp,
    /// As [`Words`](Self::Words), with more words in calls of `arg` and `args` that follow.
    Builder,
    /// The name and the arguments are words of git.
    Git,
    /// The first text is a program, and its words follow, its own name first.
    Program,
    /// The first argument is a program in the same language.
    Eval,
    /// It opens the first argument in the mode of the second.
    Open,
    /// It opens the last argument, with a mode before it.
    OpenLast,
    Network,
    /// The first argument is SQL.
    Sql,
    /// It touches the first argument, and writes the second.
    Transfer(PathOp),
    /// It moves its object to the only argument.
    MoveTo,
    /// It lists the files of the argument with this index, or of its object.
    List(usize),
    /// It touches the argument with this index, or its object.
    Path {
        op: PathOp,
        recursive: bool,
        index: usize,
    },
}

/// Returns the known calls of a name in a language.
pub(super) fn known_calls(language: Language, name: &str) -> impl Iterator<Item = Call<'_>> {
    let rows = TABLE.iter().filter(move |(owner, _)| *owner == language);
    rows.flat_map(|(_, rows)| *rows).flat_map(move |(effect, words)| {
        let objects = words.iter().filter_map(move |word| object(word, name));
        objects.map(move |object| Call { language, name, object, effect: *effect })
    })
}

/// Returns whether a language has a call with this name.
pub(super) fn is_known_call(name: &str) -> bool {
    let mut words = TABLE.iter().flat_map(|(_, rows)| *rows).flat_map(|(_, words)| *words);
    words.any(|word| object(word, name).is_some())
}

/// Returns the object in `object.name`, or an empty one in `name`; `None` if the word has another name.
fn object<'w>(word: &'w str, name: &str) -> Option<&'w str> {
    let object = word.strip_suffix(name)?;
    if object.is_empty() { Some(object) } else { object.strip_suffix('.') }
}

const fn path(op: PathOp, recursive: bool, index: usize) -> Effect {
    Effect::Path { op, recursive, index }
}

/// The index of a path that is the object of the call: `Path("x").unlink()`.
pub(super) const OBJECT: usize = usize::MAX;

/// The object of a call that has none: `eval(…)`, and not `model.eval()`.
pub(super) const NO_OBJECT: &str = "-";

/// An effect, and the calls that have it: `name`, or `object.name`.
type Row = (Effect, &'static [&'static str]);

/// The calls of each language.
const TABLE: &[(Language, &[Row])] = &[
    (
        Language::Python,
        &[
            (Effect::Eval, words!("-.exec -.eval")),
            // `c` and `ctx` are of tasks of `invoke`, and `session` is of `nox`.
            (Effect::Shell, words!("system popen subprocess.getoutput subprocess.getstatusoutput")),
            (Effect::Shell, words!("commands.getoutput pty.spawn asyncio.create_subprocess_shell")),
            (Effect::Shell, words!("subprocess.run subprocess.call check_call check_output Popen")),
            (Effect::Shell, words!("pexpect.run c.run ctx.run pexpect.spawn")),
            (Effect::Words, words!("asyncio.create_subprocess_exec session.run")),
            (Effect::Program, words!("os.execl os.execle os.execlp os.execlpe os.execv os.execve")),
            (Effect::Program, words!("os.execvp os.execvpe os.posix_spawn os.posix_spawnp")),
            (Effect::Program, words!("os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv")),
            (Effect::Program, words!("os.spawnve os.spawnvp os.spawnvpe")),
            (path(PathOp::Delete, false, 0), words!("os.remove os.unlink os.rmdir os.removedirs")),
            (path(PathOp::Delete, true, 0), words!("rmtree send2trash")),
            (Effect::Transfer(PathOp::Move), words!("os.rename os.replace os.renames shutil.move")),
            (Effect::Transfer(PathOp::Read), words!("shutil.copy shutil.copy2 shutil.copyfile")),
            (Effect::Transfer(PathOp::Read), words!("shutil.copytree")),
            (path(PathOp::Create, false, 0), words!("os.makedirs os.mkdir")),
            (path(PathOp::Mode, false, 0), words!("os.chmod os.chown")),
            (path(PathOp::Link, false, 0), words!("os.symlink")),
            (path(PathOp::Write, false, 0), words!("os.truncate")),
            (Effect::Open, words!("-.open io.open os.open codecs.open")),
            (path(PathOp::Read, false, OBJECT), words!("open read_text read_bytes")),
            // `read` as in `ConfigParser().read("a")`.
            (path(PathOp::Read, false, 0), words!("fileinput.input linecache.getline")),
            (path(PathOp::Read, false, 0), words!("linecache.getlines read dotenv_values")),
            (path(PathOp::Execute, false, 0), words!("runpy.run_path")),
            (path(PathOp::Write, false, OBJECT), words!("write_text write_bytes touch")),
            (path(PathOp::Delete, false, OBJECT), words!("unlink rmdir")),
            (Effect::MoveTo, words!("rename replace")),
            (Effect::Network, words!("requests.get requests.post requests.put httpx.get")),
            (Effect::Network, words!("httpx.post urllib.request.urlopen socket.socket")),
            (Effect::Network, words!("socket.create_connection http.client.HTTPSConnection")),
            (Effect::Network, words!("http.client.HTTPConnection aiohttp.ClientSession urlopen")),
            (path(PathOp::Write, false, 1), words!("urlretrieve")),
            (Effect::Git, words!("git.push git.reset git.clean git.checkout")),
            (Effect::Sql, words!("execute executescript read_sql text")),
            (Effect::List(0), words!("os.listdir os.walk os.scandir glob.glob glob.iglob")),
            (Effect::List(OBJECT), words!("iterdir rglob glob")),
        ],
    ),
    (
        Language::Node,
        &[
            (Effect::Words, words!("Deno.Command spawn spawnSync execFile execFileSync fork")),
            (Effect::Words, words!("execa execaSync")),
            (Effect::Eval, words!("-.eval -.Function runInThisContext runInNewContext")),
            (Effect::Git, words!("git.push git.reset git.clean git.checkout git.raw")),
            (Effect::Sql, words!("db.exec query execute raw executeRawUnsafe prepare")),
            (Effect::Shell, words!("exec execSync execaCommand execaCommandSync")),
            (path(PathOp::Delete, true, 0), words!("rm rmSync rmdir rmdirSync rimraf rimraf.sync")),
            (path(PathOp::Delete, true, 0), words!("rimrafSync removeSync emptyDirSync")),
            (path(PathOp::Delete, true, 0), words!("Deno.remove fs.remove emptyDir")),
            (path(PathOp::Delete, false, 0), words!("unlink unlinkSync")),
            (path(PathOp::Write, false, 0), words!("writeFile writeFileSync appendFile")),
            (path(PathOp::Write, false, 0), words!("appendFileSync createWriteStream")),
            (path(PathOp::Write, false, 0), words!("truncateSync outputFileSync Bun.write")),
            (path(PathOp::Write, false, 0), words!("writeTextFile writeTextFileSync")),
            (path(PathOp::Read, false, 0), words!("readFile readFileSync createReadStream")),
            (path(PathOp::Read, false, 0), words!("readTextFile readTextFileSync Bun.file")),
            (Effect::Open, words!("fs.open openSync")),
            (path(PathOp::Link, false, 0), words!("symlinkSync linkSync")),
            (Effect::Transfer(PathOp::Move), words!("moveSync rename renameSync")),
            (Effect::Transfer(PathOp::Read), words!("copyFile copyFileSync cp cpSync")),
            (path(PathOp::Create, false, 0), words!("mkdir mkdirSync")),
            (path(PathOp::Mode, false, 0), words!("chmod chmodSync")),
            (Effect::Network, words!("fetch")),
            (Effect::List(0), words!("readdirSync readdir globSync glob")),
        ],
    ),
    (
        Language::Perl,
        &[
            (Effect::Eval, words!("-.eval")),
            (Effect::Sql, words!("do")),
            (Effect::Words, words!("system exec")),
            (path(PathOp::Delete, false, 0), words!("unlink rmdir")),
            (path(PathOp::Delete, true, 0), words!("rmtree remove_tree")),
            (path(PathOp::Mode, false, 1), words!("chmod")),
            (Effect::Transfer(PathOp::Move), words!("rename move")),
            (Effect::Transfer(PathOp::Read), words!("copy")),
            (path(PathOp::Read, false, 1), words!("sysopen")),
            (Effect::OpenLast, words!("open")),
            (Effect::List(0), words!("glob")),
            (Effect::List(1), words!("find finddepth opendir")),
        ],
    ),
    (
        Language::Ruby,
        &[
            (Effect::Eval, words!("-.eval instance_eval")),
            (Effect::Sql, words!("execute exec_query")),
            (Effect::Words, words!("system exec spawn capture2 capture2e capture3 popen3 -.sh")),
            (Effect::Shell, words!("popen")),
            (path(PathOp::Delete, true, 0), words!("rm_rf rm_r remove_dir remove_entry rmtree")),
            (path(PathOp::Mode, false, 1), words!("File.chmod FileUtils.chmod")),
            (path(PathOp::Delete, false, 0), words!("FileUtils.rm FileUtils.rm_f File.delete")),
            (path(PathOp::Delete, false, 0), words!("File.unlink Dir.rmdir Dir.delete")),
            (path(PathOp::Write, false, 0), words!("File.write File.binwrite")),
            (path(PathOp::Read, false, 0), words!("File.read File.binread File.readlines")),
            (path(PathOp::Read, false, 0), words!("File.foreach IO.read IO.binread IO.readlines")),
            (path(PathOp::Read, false, 0), words!("IO.foreach")),
            (Effect::Open, words!("File.new open")),
            (Effect::Transfer(PathOp::Read), words!("FileUtils.cp FileUtils.cp_r FileUtils.copy")),
            (Effect::Transfer(PathOp::Read), words!("IO.copy_stream")),
            (Effect::Transfer(PathOp::Move), words!("FileUtils.move File.rename FileUtils.mv")),
            (path(PathOp::Mode, true, 1), words!("FileUtils.chmod_R")),
            (path(PathOp::Mode, true, 2), words!("FileUtils.chown_R")),
            (Effect::List(0), words!("Dir.glob Dir.children Dir.each_child Dir.entries Dir")),
        ],
    ),
    (
        Language::Php,
        &[
            (Effect::Eval, words!("-.eval -.assert -.include -.require")),
            (Effect::Sql, words!("query DB.statement prepare")),
            (Effect::Shell, words!("system -.exec shell_exec passthru popen proc_open pcntl_exec")),
            (Effect::Sql, words!("exec")),
            (path(PathOp::Delete, false, 0), words!("unlink rmdir")),
            (path(PathOp::Write, false, 0), words!("file_put_contents")),
            (path(PathOp::Read, false, 0), words!("file_get_contents file show_source")),
            (path(PathOp::Read, false, 0), words!("highlight_file readfile")),
            (path(PathOp::Link, false, 0), words!("symlink")),
            (Effect::Transfer(PathOp::Move), words!("rename")),
            (Effect::Open, words!("fopen")),
            (Effect::Transfer(PathOp::Read), words!("copy")),
            (Effect::List(0), words!("glob scandir RecursiveDirectoryIterator DirectoryIterator")),
        ],
    ),
    (Language::Awk, &[(Effect::Shell, words!("system"))]),
    (
        Language::Powershell,
        &[
            (path(PathOp::Read, false, 0), words!("ReadAllText ReadAllLines ReadAllBytes")),
            (path(PathOp::Read, false, 0), words!("ReadLines OpenRead OpenText StreamReader.new")),
            (path(PathOp::Delete, true, 0), words!("File.Delete Directory.Delete")),
            (Effect::Transfer(PathOp::Read), words!("File.Copy")),
            (Effect::Transfer(PathOp::Move), words!("File.Move Directory.Move")),
            (path(PathOp::Write, false, 0), words!("WriteAllText WriteAllLines WriteAllBytes")),
            (path(PathOp::Write, false, 0), words!("AppendAllText")),
        ],
    ),
    (
        Language::Other,
        &[
            (Effect::Shell, words!("system doShellScript shell shell_exec execute exec popen")),
            (Effect::Shell, words!("callCommand os.cmd execShellCmd executeShell shell.command")),
            (Effect::Shell, words!("Sys.command script")),
            (Effect::Words, words!("system2 readProcess exec.Command System.cmd")),
            (path(PathOp::Delete, true, 0), words!("fs.remove_dir_all os.RemoveAll")),
            (path(PathOp::Delete, true, 0), words!("filesystem.remove_all unlink rm removeItem")),
            (path(PathOp::Delete, true, 0), words!("removeDir rm_rf rm_r delete rmdir")),
            (path(PathOp::Delete, true, 0), words!("delete.directory")),
            (Effect::Builder, words!("Command.new ProcessBuilder Process.Start")),
            (Effect::Lisp, words!("-.sh run.program call.process process.file")),
            (path(PathOp::Read, false, 0), words!("insert-file.contents -.slurp")),
            (path(PathOp::Read, false, 0), words!("fs.read_to_string os.ReadFile os.Open")),
            (path(PathOp::Read, false, 0), words!("File.ReadAllText readFile readLines io.lines")),
            (path(PathOp::Read, false, 0), words!("-.read File.read")),
            (path(PathOp::Delete, false, 0), words!("os.Remove fs.remove_file remove delete.file")),
            (path(PathOp::Write, false, 0), words!("os.WriteFile")),
            (Effect::Program, words!("execl execle execlp execv execve execvp")),
            (Effect::Eval, words!("source include dofile load")),
            (Effect::Transfer(PathOp::Move), words!("os.rename")),
            (path(PathOp::Write, false, 1), words!("writeLines")),
            (Effect::Open, words!("open")),
        ],
    ),
];
