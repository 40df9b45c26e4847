//! The table of programs that start servers: which of their arguments they run.

use tenter_shell::Command;

/// The way in which a program chooses what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It runs nothing, or only what is a command of its own in the facts.
    Plain,
    /// A shell: its scripts are facts.
    Shell,
    /// It runs its first operand, and files in its options.
    Interpreter,
    /// An interpreter of JavaScript with settings in the project, and with packages.
    JavaScript,
    /// Bun, which also runs scripts of `package.json`.
    Bun,
    /// Python, which looks for modules in the working directory.
    Python,
    /// It runs a package that is fetched or installed.
    Packages(Runner),
    /// It runs a container.
    Container,
    /// It runs what the project contains.
    Build,
    /// Nothing is known about it.
    Other,
}

/// A package runner, by the ecosystem of its packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runner {
    JavaScript,
    Python,
}

/// Programs that run no file by themselves, and wrappers.
const PLAIN: &[&str] = tenter_base::words!(
    ". : [ [[ alias basename builtin caffeinate cat cd chmod command cp curl cut date declare dirname
     doas echo env eval exec exit export false find flock grep head hostname id ionice jq kill ln
     local ls mkdir mktemp mv nice nohup popd printf pushd pwd read readlink readonly realpath return
     rm sed set setsid shift shopt sleep socat sort source ssh stdbuf sudo tail tee test time timeout
     touch tr trap true ulimit umask uname unset wait wget which xargs"
);
const SHELLS: &[&str] = tenter_base::words!("ash bash dash fish ksh mksh sh zsh");
const INTERPRETERS: &[&str] = tenter_base::words!(
    "Rscript awk expect gawk java lua luajit mawk nawk osascript perl php powershell pwsh ruby tclsh"
);
const JAVASCRIPT: &[&str] =
    tenter_base::words!("deno esno jiti node nodejs ts-node ts-node-esm tsx vite-node");
/// Programs that could be servers by their names, but that run what the project contains.
const BUILD: &[&str] = tenter_base::words!("gradlew mvnw webpack-dev-server");

/// Variables in which programs look for what they run, or for their settings.
const SEARCHED: &[&str] = tenter_base::words!(
    "BASH_ENV CDPATH CLASSPATH ENV GOFLAGS HOME JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS PATH
     PERLLIB PHPRC SHELL VIRTUAL_ENV XDG_CONFIG_HOME ZDOTDIR _JAVA_OPTIONS"
);
/// The prefixes of the names of more such variables.
const SEARCHED_PREFIXES: &[&str] = tenter_base::words!(
    "BUNDLE_ BUN_ COMPOSE_ DENO_ DOTNET_ DYLD_ GEM_ GIT_ LD_ LUA_ NODE_ NPM_ PERL5 PHP_ PIP_ PNPM_
     PYTHON RUBY R_ TSX_ TS_NODE_ UV_ YARN_ npm_"
);

/// Returns the kind of a command's program.
pub(super) fn kind(command: &Command) -> Kind {
    let name = family(&command.program);
    let subcommand = command.subcommand.as_deref();
    let is_in = |names: &[&str]| names.contains(&name);
    match (name, subcommand) {
        ("python" | "pypy" | "pythonw", _) => Kind::Python,
        ("bun", _) => Kind::Bun,
        ("deno", Some(subcommand)) if !matches!(subcommand, "run" | "serve" | "eval") => {
            Kind::Build
        }
        ("npx" | "bunx" | "pnpx", _)
        | ("npm", Some("exec" | "x"))
        | ("pnpm" | "yarn", Some("dlx" | "exec")) => Kind::Packages(Runner::JavaScript),
        ("uvx", _) | ("uv", Some("tool")) | ("pipx", Some("run")) => Kind::Packages(Runner::Python),
        ("docker" | "podman" | "nerdctl", Some("run" | "create" | "exec" | "mcp")) => {
            Kind::Container
        }
        _ if is_in(PLAIN) => Kind::Plain,
        _ if is_in(SHELLS) => Kind::Shell,
        _ if is_in(INTERPRETERS) => Kind::Interpreter,
        _ if is_in(JAVASCRIPT) => Kind::JavaScript,
        _ if is_in(BUILD) => Kind::Build,
        _ => Kind::Other,
    }
}

impl Runner {
    /// Returns the runner of the programs that a program runs, if it is one.
    pub(super) fn from_program(via: &str) -> Option<Self> {
        match via {
            "npx" | "bunx" | "pnpx" | "npm" | "pnpm" | "yarn" | "bun" => Some(Self::JavaScript),
            "uvx" | "uv" | "pipx" => Some(Self::Python),
            _ => None,
        }
    }

    /// Returns the files that it reads in the working directory and above.
    pub(super) fn files(self) -> &'static [&'static str] {
        match self {
            Self::JavaScript => tenter_base::words!(
                ".npmrc .pnpmfile.cjs .pnp.cjs .pnp.loader.mjs .yarnrc .yarnrc.yml bun.lock
                 bun.lockb bunfig.toml deno.json deno.jsonc deno.lock npm-shrinkwrap.json
                 package-lock.json package.json pnpm-lock.yaml pnpm-workspace.yaml tsconfig.json
                 yarn.lock"
            ),
            Self::Python => tenter_base::words!(".python-version pyproject.toml uv.lock uv.toml"),
        }
    }

    /// Returns the directories with programs and plugins of it.
    pub(super) fn directories(self) -> &'static [&'static str] {
        match self {
            Self::JavaScript => &[".yarn/plugins", ".yarn/releases"],
            Self::Python => &[],
        }
    }
}

/// Checks whether a program is Python.
pub(super) fn is_python(program: &str) -> bool {
    matches!(family(program), "python" | "pypy" | "pythonw")
}

/// Checks whether the name of a program or package says that it is a server, which takes its arguments as data.
pub(super) fn is_server_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["mcp", "modelcontextprotocol", "server"].iter().any(|part| name.contains(part))
}

/// Checks whether a container of this image can run a file with the first word of its command.
pub(super) fn may_run_files(image: &str, word: &str) -> bool {
    let name = family(word.rsplit('/').next().unwrap_or(word));
    let is_file = word.contains(['/', ' ']) && !is_server_name(image);
    is_file
        || [SHELLS, INTERPRETERS, JAVASCRIPT].iter().any(|names| names.contains(&name))
        || is_python(name)
        || name == "bun"
}

/// Checks whether programs look in the directories that a variable names.
pub(super) fn is_searched(variable: &str) -> bool {
    SEARCHED.contains(&variable)
        || SEARCHED_PREFIXES.iter().any(|prefix| variable.starts_with(prefix))
}

/// Returns a program's name without a version: `python3.12` is `python`.
fn family(name: &str) -> &str {
    let name = without_version(name);
    let family = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    if family.is_empty() { name } else { family }
}

/// Returns the name of a package without the version that is asked for.
pub(super) fn without_version(package: &str) -> &str {
    match package.rfind('@') {
        Some(at) if at > 0 => package.get(..at).unwrap_or(package),
        _ => package,
    }
}
