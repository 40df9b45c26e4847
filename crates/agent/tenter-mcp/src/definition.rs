//! The definition of a server, as the caller resolved it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tenter_base::search_path;
use tenter_http::Authorities;
use tenter_proc::{Invocation, Trampoline};

use crate::names;

/// Maximum number of characters of a server's name: the names of its tools, which begin with it, are limited too.
const MAX_NAME: usize = 32;

/// The name of a server: letters, digits, `-` and single `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerName(String);

impl ServerName {
    /// Checks a name.
    ///
    /// # Errors
    /// The rule for names, in words.
    pub fn new(name: &str) -> Result<Self, String> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_valid = !name.is_empty()
            && name.len() <= MAX_NAME
            && name.chars().all(is_allowed)
            && !name.contains("__")
            && !name.starts_with('_')
            && !name.ends_with('_');
        if is_valid {
            return Ok(Self(name.to_owned()));
        }
        Err(format!(
            "{name:?} is not a name of an MCP server: use letters, digits, - and single _, at most {MAX_NAME} characters"
        ))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the prefix of the names of the server's tools.
    pub fn prefix(&self) -> String {
        names::prefix(&self.0)
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A server.
#[derive(Clone)]
pub struct ServerDefinition {
    /// Its name.
    pub name: ServerName,
    /// The transport to the server.
    pub transport: Transport,
    /// Maximum wait of the first model request for its tools.
    pub startup_timeout: Duration,
    /// Maximum duration of one call.
    pub call_timeout: Duration,
    /// The selection of its tools that the model gets.
    pub selection: ToolSelection,
    /// The directories that it may ask for as roots.
    pub roots: Vec<PathBuf>,
    /// Values that no message may contain, such as tokens in its environment.
    pub secrets: Vec<String>,
    /// Asked right before each start; the error is why it is not started.
    pub check: Option<StartCheck>,
}

impl ServerDefinition {
    /// Returns whether the program of the server exists; true for a server behind HTTP. Nothing is started.
    pub fn has_program(&self) -> bool {
        let Transport::Program(ServerProgram { invocation, confined_program: confined, .. }) =
            &self.transport
        else {
            return true;
        };
        let Invocation { program, cwd, env, .. } = invocation;
        let program = confined.as_ref().unwrap_or(program);
        let is_path = program.as_os_str().as_encoded_bytes().contains(&b'/');
        let in_path = || search_path::program(program, env).is_some();
        if is_path { search_path::is_executable(&cwd.join(program)) } else { in_path() }
    }
}

/// The transport to a server.
#[derive(Clone)]
pub enum Transport {
    /// A program that exchanges lines.
    Program(ServerProgram),
    /// A server behind HTTP.
    Http(HttpServer),
}

/// A server behind HTTP.
#[derive(Clone)]
pub struct HttpServer {
    /// Its URL.
    pub url: String,
    /// Names and values of headers that every request has.
    pub headers: Vec<(String, String)>,
    /// The address of the proxy, if any.
    pub proxy: Option<String>,
    /// The trusted certificate authorities; `None` means Mozilla's list.
    pub authorities: Option<Authorities>,
    /// Returns the header `Authorization` of each request, if the user has logged in.
    pub authorization: Option<Authorization>,
}

/// Returns the value of the header `Authorization`, or why there is none. It may ask a server for a new token.
pub type Authorization = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// Checks right before each start whether the server may still be started.
pub type StartCheck = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// The program of a server.
#[derive(Clone)]
pub struct ServerProgram {
    /// The program, its arguments, environment and working directory.
    pub invocation: Invocation,
    /// The server's program, if the one in `invocation` only starts it with fewer rights.
    pub confined_program: Option<PathBuf>,
    /// Lets the program die with this one, where the system can do that.
    pub trampoline: Option<Trampoline>,
}

/// The tools of a server that the model gets, by the server's own names.
#[derive(Debug, Clone, Default)]
pub struct ToolSelection {
    /// Only these, if set.
    pub only: Option<Vec<String>>,
    /// Not these.
    pub exclude: Vec<String>,
}

impl ToolSelection {
    /// Returns whether the model gets a tool.
    pub(crate) fn includes(&self, tool: &str) -> bool {
        let is_in = |names: &Vec<String>| names.iter().any(|name| name == tool);
        self.only.as_ref().is_none_or(is_in) && !is_in(&self.exclude)
    }

    /// Returns the names in `only` that are not among `tools`.
    pub(crate) fn missing(&self, tools: &[&str]) -> Vec<&str> {
        let only = self.only.iter().flatten().map(String::as_str);
        only.filter(|name| !tools.contains(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_servers_are_unambiguous_in_names_of_tools() {
        for name in ["git", "my-server", "a_b", "G1"] {
            assert_eq!(ServerName::new(name).unwrap().as_str(), name);
        }
        for name in ["", "a__b", "_a", "a_", "a b", "ä", "a/b", "a.b", &"a".repeat(33)] {
            assert!(ServerName::new(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_selection_includes_and_excludes() {
        let all = ToolSelection::default();
        assert!(all.includes("x"));
        let some = ToolSelection {
            only: Some(vec!["a".to_owned(), "b".to_owned()]),
            exclude: vec!["b".to_owned()],
        };
        assert!(some.includes("a") && !some.includes("b") && !some.includes("c"));
        assert_eq!(some.missing(&["a", "c"]), ["b"]);
    }
}
