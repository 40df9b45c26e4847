//! Environment variables that are commands or options of programs.

/// Variables whose values other programs run as commands.
pub(crate) const COMMANDS: [&str; 19] = [
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "RSYNC_RSH",
    "PROMPT_COMMAND",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
];

/// Programs with a variable whose value they read as further options, or as the value of an option.
pub(crate) const OPTIONS: [(&str, &str, &str); 22] = [
    ("bun", "NPM_CONFIG_REGISTRY", "--registry"),
    ("bzip2", "BZIP2", ""),
    ("gzip", "GZIP", ""),
    ("less", "LESS", ""),
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
    ("unzip", "UNZIP", ""),
    ("uv", "UV_DEFAULT_INDEX", "--default-index"),
    ("uv", "UV_INDEX_URL", "--index-url"),
    ("xz", "XZ_DEFAULTS", ""),
    ("xz", "XZ_OPT", ""),
    ("zip", "ZIPOPT", ""),
];

/// Maximum number of settings of git that are read from variables.
pub(crate) const MAX_GIT_SETTINGS: usize = 16;
