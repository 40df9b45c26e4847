//! Words in the names of tools and of their fields, and what they mean.

/// The effects of a tool on files, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deed {
    List,
    Read,
    Copy,
    Link,
    Mode,
    Write,
    Move,
    Delete,
}

/// Words in the names of tools, and in fields such as `operation`.
pub(super) const WORDS: [(Deed, &[&str]); 8] = [
    (Deed::List, &["list", "ls", "search", "find", "glob", "tree", "scan", "dir", "walk"]),
    (
        Deed::Read,
        tenter_base::words!(
            "read get view cat show open load fetch head tail grep preview describe parse analyze
             hash count diff compare stat status log blame info exists validate lint check upload
             attach lsp definition references hover symbol symbols diagnostics"
        ),
    ),
    (Deed::Copy, &["copy", "cp", "duplicate"]),
    (Deed::Link, &["link", "symlink"]),
    (Deed::Mode, &["chmod", "chown", "permissions"]),
    (
        Deed::Write,
        tenter_base::words!(
            "write edit create save append update replace insert patch modify put set touch mkdir
             make add apply store export download truncate overwrite extract unzip"
        ),
    ),
    (Deed::Move, &["move", "mv", "rename"]),
    (Deed::Delete, &["delete", "remove", "rm", "unlink", "erase", "trash", "destroy", "rmdir"]),
];

/// Words in the names of tools that delete something that is no file, or take it away.
pub(super) const DELETIONS: [&str; 21] = *tenter_base::words!(
    "deactivate decommission delete deprovision destroy disable drop empty erase flush prune purge
     remove reset revoke shutdown suspend terminate truncate uninstall wipe"
);
/// Words in the names of tools that stop something, or take it off another.
pub(super) const STOPS: [&str; 8] =
    *tenter_base::words!("detach drain evict halt kill off poweroff stop");
/// Words in the names of tools that stop something if they leave nothing of it.
pub(super) const SCALES: [&str; 4] = *tenter_base::words!("autoscale autoscaling resize scale");
/// Fields with the number that is left, without their underscores.
pub(super) const COUNTS: [&str; 12] = *tenter_base::words!(
    "count desiredcapacity desiredcount desiredsize instances maxsize nodecount nodes number
     replicas size workers"
);
/// Words before the place of what is deleted: `remove_label_from_project`.
pub(super) const PREPOSITIONS: [&str; 8] = *tenter_base::words!("at by for from in of on with");
/// Words that do not say what is deleted.
pub(super) const GENERIC: [&str; 16] = *tenter_base::words!(
    "all batch bulk entities entity item items many multiple object objects record records tool
     resource resources"
);
/// Fields whose text says what is deleted if the name does not, without their underscores.
pub(super) const KINDS: [&str; 11] = *tenter_base::words!(
    "entity entitytype kind object objecttype resource resourcekind resourcetype target targettype
     type"
);

/// Words in the names of tools that are programs: a command in their fields begins with its subcommand.
pub(super) const PROGRAMS: [&str; 11] =
    *tenter_base::words!("aws az docker gcloud gh git helm kubectl pulumi terraform tofu");

/// Fields whose value says what a tool does.
pub(super) const OPERATIONS: [&str; 6] = ["action", "command", "method", "mode", "op", "operation"];
/// Fields with text for a shell.
pub(super) const SCRIPTS: [&str; 12] = *tenter_base::words!(
    "argv bash cmd cmdline cmds code command commandline commands script shellcommand shellscript"
);
/// Fields with text for a program that already runs, in tools whose names say that there is one.
pub(super) const TYPED: [&str; 7] = ["data", "input", "keys", "line", "stdin", "text", "content"];
/// Words in the names of such tools.
pub(super) const TERMINALS: [&str; 8] =
    ["console", "pty", "repl", "shell", "terminal", "tmux", "tty", "bash"];
/// Words that say the same beside `process`.
pub(super) const TYPES: [&str; 4] = ["input", "interact", "send", "stdin"];
/// Fields with the directory in which a command runs.
pub(super) const DIRECTORIES: [&str; 5] =
    ["cwd", "currentdirectory", "workdir", "workingdir", "workingdirectory"];
/// Ends of the names of fields that hold paths.
pub(super) const PATH_ENDS: [&str; 11] =
    *tenter_base::words!("path paths file files filename filenames directory dir folder uri uris");
/// Fields that end like a path and hold none.
pub(super) const NO_PATHS: [&str; 8] =
    ["apipath", "classpath", "jsonpath", "keypath", "profile", "urlpath", "xpath", "zipfolder"];
/// Fields with patterns that select files.
pub(super) const PATTERNS: [&str; 6] =
    ["glob", "globs", "include", "includes", "filepattern", "includepattern"];
/// Fields that hold a path if their value looks like one.
pub(super) const ENDS: [&str; 10] =
    ["source", "src", "from", "old", "destination", "dest", "target", "to", "new", "output"];

/// Words in the names of tools and servers for databases.
pub(super) const DATABASES: [&str; 22] = *tenter_base::words!(
    "sql db database databases postgres postgresql pg mysql mariadb sqlite duckdb mssql bigquery
     snowflake clickhouse supabase neon redshift cockroachdb turso planetscale trino"
);

/// Fields whose text is SQL if the tool is for a database.
pub(super) const STATEMENTS: [&str; 6] =
    ["query", "queries", "statement", "statements", "sqlquery", "sqlstatement"];
