//! Environment variables that are commands or options of programs.

/// Variables whose values other programs run as commands.
const COMMANDS: [&str; 43] = *tenter_base::words!(
    "AWS_PAGER BAT_PAGER BROWSER CC CVS_RSH CXX DELTA_PAGER EDITOR FCEDIT GH_EDITOR GH_PAGER
     GIT_ASKPASS GIT_EDITOR GIT_EXTERNAL_DIFF GIT_PAGER GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR
     GIT_SSH GIT_SSH_COMMAND HGEDITOR KUBE_EDITOR LESSCLOSE LESSOPEN MANPAGER PAGER PERLDOC_PAGER
     PROMPT_COMMAND PS0 PS1 PS4 PSQL_EDITOR PSQL_PAGER RSYNC_RSH RUSTC_WORKSPACE_WRAPPER
     RUSTC_WRAPPER SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR SVN_EDITOR SVN_SSH SYSTEMD_EDITOR
     SYSTEMD_PAGER VISUAL"
);

/// Checks whether other programs run the value of a variable as a command.
pub(crate) fn is_command(name: &str) -> bool {
    let is_program = |setting: &str| setting.ends_with("_RUNNER") || setting.ends_with("_LINKER");
    COMMANDS.contains(&name) || name.strip_prefix("CARGO_TARGET_").is_some_and(is_program)
}

/// Variables whose values the shell itself runs.
pub(crate) const PROMPTS: [&str; 4] = ["PROMPT_COMMAND", "PS0", "PS1", "PS4"];

/// Programs with a variable whose value they read as further options, or as the value of an option.
pub(crate) const OPTIONS: [(&str, &str, &str); 28] = [
    ("bun", "NPM_CONFIG_REGISTRY", "--registry"),
    ("bzip2", "BZIP2", ""),
    ("gzip", "GZIP", ""),
    ("less", "LESS", ""),
    ("make", "MAKEFLAGS", ""),
    ("mvn", "MAVEN_ARGS", ""),
    ("node", "NODE_OPTIONS", ""),
    ("npm", "NPM_CONFIG_REGISTRY", "--registry"),
    ("npm", "npm_config_registry", "--registry"),
    ("perl", "PERL5OPT", ""),
    ("pip", "PIP_EXTRA_INDEX_URL", "--extra-index-url"),
    ("pip", "PIP_INDEX_URL", "--index-url"),
    ("pip3", "PIP_EXTRA_INDEX_URL", "--extra-index-url"),
    ("pip3", "PIP_INDEX_URL", "--index-url"),
    ("pnpm", "npm_config_registry", "--registry"),
    ("pytest", "PYTEST_ADDOPTS", ""),
    ("ruby", "RUBYOPT", ""),
    ("tar", "TAR_OPTIONS", ""),
    ("terraform", "TF_CLI_ARGS", ""),
    ("terraform", "TF_CLI_ARGS_apply", ""),
    ("tofu", "TF_CLI_ARGS", ""),
    ("tofu", "TF_CLI_ARGS_apply", ""),
    ("unzip", "UNZIP", ""),
    ("uv", "UV_DEFAULT_INDEX", "--default-index"),
    ("uv", "UV_INDEX_URL", "--index-url"),
    ("xz", "XZ_DEFAULTS", ""),
    ("xz", "XZ_OPT", ""),
    ("zip", "ZIPOPT", ""),
];

/// Maximum number of settings of git that are read from variables.
pub(crate) const MAX_GIT_SETTINGS: usize = 1024;
