//! Formatters and linters: which of them a project uses for a file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tenter_base::{search_path, untrusted_file};
use tenter_proc::{Completion, Streams};

use super::call::{Command, ReadyMadeCall};

/// Maximum size of a file that shows which tools a project uses.
const MAX_MARKER: u64 = 1 << 20;
/// The edition of a Rust file whose `Cargo.toml` sets none.
const RUST_EDITION: &str = "2021";

/// A formatter or a linter, and the files that it is for.
pub(super) struct ProjectTool {
    /// The endings of the files.
    endings: &'static [&'static str],
    /// Files whose presence shows that a project uses the tool: `NAME`, or `NAME:TEXT` for a file that contains the text. Without any, every
    /// project uses it.
    markers: &'static [&'static str],
    pub(super) program: &'static str,
    /// The arguments; `{file}` is the file, `{edition}` the edition of Rust.
    args: &'static [&'static str],
}

const SCRIPTS: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json", "css"];
const MARKUP: &[&str] = &[
    "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json", "css", "scss", "less", "html",
    "vue", "svelte", "md", "mdx", "yaml", "yml",
];
const RUFF: &[&str] = &["ruff.toml", ".ruff.toml", "pyproject.toml:[tool.ruff"];
const BIOME: &[&str] = &["biome.json", "biome.jsonc"];
const PRETTIER: &[&str] = &[
    ".prettierrc",
    ".prettierrc.json",
    ".prettierrc.json5",
    ".prettierrc.yaml",
    ".prettierrc.yml",
    ".prettierrc.toml",
    ".prettierrc.js",
    ".prettierrc.cjs",
    ".prettierrc.mjs",
    "prettier.config.js",
    "prettier.config.cjs",
    "prettier.config.mjs",
    "prettier.config.ts",
    "package.json:\"prettier\"",
];
const ESLINT: &[&str] = &[
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    "eslint.config.ts",
    ".eslintrc",
    ".eslintrc.js",
    ".eslintrc.cjs",
    ".eslintrc.json",
    ".eslintrc.yml",
    ".eslintrc.yaml",
    "package.json:\"eslintConfig\"",
];
const C_FILES: &[&str] = &["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "m", "mm", "proto"];
const SHELL: &[&str] = &["sh", "bash"];

/// Formatters that read a file on stdin and print it; the first that fits a file formats it.
pub(super) const FORMATTERS: &[ProjectTool] = &[
    tool(&["rs"], &["Cargo.toml"], "rustfmt", &["--edition", "{edition}"]),
    tool(&["py", "pyi"], RUFF, "ruff", &["format", "--quiet", "--stdin-filename", "{file}", "-"]),
    tool(
        &["py", "pyi"],
        &["pyproject.toml:[tool.black"],
        "black",
        &["--quiet", "--stdin-filename", "{file}", "-"],
    ),
    tool(&["go"], &["go.mod"], "gofmt", &[]),
    tool(SCRIPTS, BIOME, "biome", &["format", "--stdin-file-path={file}"]),
    tool(MARKUP, PRETTIER, "prettier", &["--stdin-filepath", "{file}"]),
    tool(SHELL, &[".editorconfig"], "shfmt", &["--filename", "{file}"]),
    tool(C_FILES, &[".clang-format"], "clang-format", &["--assume-filename={file}"]),
    tool(&["tf", "tfvars"], &[], "terraform", &["fmt", "-"]),
    tool(
        &["lua"],
        &["stylua.toml", ".stylua.toml"],
        "stylua",
        &["--stdin-filepath", "{file}", "-"],
    ),
    tool(&["toml"], &["taplo.toml", ".taplo.toml"], "taplo", &["format", "-"]),
    tool(&["zig"], &["build.zig"], "zig", &["fmt", "--stdin"]),
    tool(
        &["ex", "exs"],
        &[".formatter.exs"],
        "mix",
        &["format", "--stdin-filename", "{file}", "-"],
    ),
];

/// Linters that print their findings and exit with another code than 0; all that fit a file check it.
pub(super) const LINTERS: &[ProjectTool] = &[
    tool(&["rs"], &["Cargo.toml"], "cargo", &["check", "--quiet", "--message-format", "short"]),
    tool(
        &["py", "pyi"],
        RUFF,
        "ruff",
        &["check", "--quiet", "--no-fix", "--output-format", "concise", "{file}"],
    ),
    tool(&["go"], &["go.mod"], "go", &["vet", "."]),
    tool(SCRIPTS, BIOME, "biome", &["lint", "--colors=off", "{file}"]),
    tool(SCRIPTS, ESLINT, "eslint", &["--no-color", "{file}"]),
    tool(
        &["ts", "tsx", "mts", "cts"],
        &["tsconfig.json"],
        "tsc",
        &["--noEmit", "--pretty", "false"],
    ),
    tool(SHELL, &[], "shellcheck", &["-f", "gcc", "{file}"]),
    tool(
        &["yaml", "yml"],
        &[".yamllint", ".yamllint.yaml", ".yamllint.yml"],
        "yamllint",
        &["-f", "parsable", "{file}"],
    ),
    tool(&["md"], &[".markdownlint.json", ".markdownlint.yaml"], "markdownlint", &["{file}"]),
];

const fn tool(
    endings: &'static [&'static str],
    markers: &'static [&'static str],
    program: &'static str,
    args: &'static [&'static str],
) -> ProjectTool {
    ProjectTool { endings, markers, program, args }
}

/// A tool of a project that is installed, for one file.
pub(super) struct InstalledTool<'t> {
    pub(super) tool: &'t ProjectTool,
    program: PathBuf,
    /// The directory of the project's settings of the tool.
    directory: PathBuf,
}

/// Returns the ending of a file's name.
pub(super) fn ending(file: &Path) -> &str {
    file.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

/// Returns the tools of a table that the project uses for a file, and that are installed.
pub(super) fn tools<'t>(
    table: &'t [ProjectTool],
    file: &Path,
    call: &ReadyMadeCall<'_>,
) -> impl Iterator<Item = InstalledTool<'t>> {
    let fits = |tool: &&ProjectTool| tool.endings.contains(&ending(file));
    table.iter().filter(fits).filter_map(move |tool| {
        let directory = tool.directory(file, call.project())?;
        let program = program(tool.program, &directory, call)?;
        Some(InstalledTool { tool, program, directory })
    })
}

/// Returns a program of the project's own packages, or else the user's.
fn program(name: &str, directory: &Path, call: &ReadyMadeCall<'_>) -> Option<PathBuf> {
    let own = directories(directory, call.project()).into_iter().flat_map(|directory| {
        ["node_modules/.bin", ".venv/bin"].map(|packages| directory.join(packages).join(name))
    });
    let mut own = own.filter(|file| file.is_file() && search_path::is_executable(file));
    own.next().or_else(|| call.program(name))
}

/// Returns a directory of the project and those around it, the innermost first.
fn directories<'d>(from: &'d Path, project: &Path) -> Vec<&'d Path> {
    from.ancestors().take_while(|directory| directory.starts_with(project)).collect()
}

impl ProjectTool {
    /// Returns the innermost directory around a file that shows that the project uses the tool.
    fn directory(&self, file: &Path, project: &Path) -> Option<PathBuf> {
        let parent = file.parent()?;
        if self.markers.is_empty() {
            return Some(parent.to_owned());
        }
        let has_marker =
            |directory: &&Path| self.markers.iter().any(|marker| is_present(marker, directory));
        directories(parent, project).into_iter().find(has_marker).map(Path::to_owned)
    }
}

fn is_present(marker: &str, directory: &Path) -> bool {
    let Some((name, text)) = marker.split_once(':') else {
        return directory.join(marker).is_file();
    };
    let bytes = untrusted_file::read_prefix(&directory.join(name), MAX_MARKER).unwrap_or_default();
    String::from_utf8_lossy(&bytes).contains(text)
}

impl InstalledTool<'_> {
    /// Runs the tool on a file, with these bytes as its stdin.
    pub(super) fn run(
        &self,
        file: &Path,
        stdin: Vec<u8>,
        streams: Streams,
        call: &ReadyMadeCall<'_>,
    ) -> Completion {
        let name = file.to_string_lossy();
        let argument = |argument: &&str| -> OsString {
            let text = argument.replace("{file}", &name);
            match text.as_str() {
                "{edition}" => edition(&self.directory).into(),
                _ => text.into(),
            }
        };
        // go checks the package in its working directory.
        let parent = file.parent().unwrap_or(&self.directory);
        let directory = if self.tool.args.contains(&".") { parent } else { &self.directory };
        call.run(Command {
            program: &self.program,
            args: self.tool.args.iter().map(argument).collect(),
            directory,
            stdin,
            variables: Vec::new(),
            streams,
        })
    }
}

/// Returns the edition in the `Cargo.toml` of a directory.
fn edition(directory: &Path) -> String {
    let text = untrusted_file::read_prefix(&directory.join("Cargo.toml"), MAX_MARKER);
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    let mut lines = text.lines().filter_map(|line| line.trim().strip_prefix("edition"));
    let value = lines.find_map(|rest| rest.trim_start().strip_prefix('='));
    let value = value.map(|value| value.trim().trim_matches('"').to_owned());
    let is_year =
        |value: &String| value.len() == 4 && value.bytes().all(|one| one.is_ascii_digit());
    value.filter(is_year).unwrap_or_else(|| RUST_EDITION.to_owned())
}
