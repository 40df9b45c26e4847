//! Starts a server of the user outside the project, with an environment that leads to nothing in it.
//!
//! Package runners and interpreters look for modules and settings in the working directory and in directories that variables name.
//! A server that the user configured for all projects must not become a program of the one that is open.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use tenter_base::real_path;
use tenter_engine::inspect::Environment;

/// Variables with the directory in which a shell or package manager was started.
const STARTED_IN: [&str; 3] = ["PWD", "OLDPWD", "INIT_CWD"];
/// Variables that list directories in which programs and modules are looked up.
const SEARCHED: &[&str] = tenter_base::words!(
    "CLASSPATH LD_LIBRARY_PATH LUA_PATH NODE_PATH PATH PERL5LIB PYTHONPATH RUBYLIB"
);

/// The project, as paths in variables may name it.
pub(super) struct Outside<'p> {
    /// The project's root.
    pub(super) project: &'p Path,
    /// The user's home directory.
    pub(super) home: &'p Path,
}

impl Outside<'_> {
    /// Returns the working directory: `cwd` in the home directory, or the home directory. If that is part of the project, the
    /// root directory, in which only the administrator can put files.
    pub(super) fn directory(&self, cwd: Option<&str>) -> PathBuf {
        match cwd {
            Some(cwd) => self.home.join(cwd),
            None if self.contains(self.home) => PathBuf::from("/"),
            None => self.home.to_owned(),
        }
    }

    /// Returns the variables without directories of the project; `cwd` is the working directory.
    pub(super) fn environment(&self, base: Environment, cwd: &Path) -> Environment {
        let is_kept = |(name, _): &(OsString, OsString)| STARTED_IN.iter().all(|one| name != one);
        let variables = base.into_iter().filter(is_kept);
        let without = variables.filter_map(|(name, value)| {
            let value = self.without_project(&name, &value)?;
            Some((name, value))
        });
        without.chain([("PWD".into(), cwd.into())]).collect()
    }

    /// Returns the value without entries that name files of the project; `None` if nothing is left.
    fn without_project(&self, name: &OsStr, value: &OsStr) -> Option<OsString> {
        let is_searched = name.to_str().is_some_and(|name| SEARCHED.contains(&name));
        let is_kept = |entry: &PathBuf| {
            (!is_searched || entry.is_absolute()) && !self.is_named_in(entry.as_os_str())
        };
        let entries: Vec<PathBuf> = std::env::split_paths(value).collect();
        let rest: Vec<&PathBuf> = entries.iter().filter(|entry| is_kept(entry)).collect();
        if rest.len() == entries.len() {
            return Some(value.to_owned());
        }
        std::env::join_paths(rest).ok().filter(|value| !value.is_empty())
    }

    /// Checks whether a text names a file of the project. In a project that contains the home directory no file is only the project's.
    fn is_named_in(&self, text: &OsStr) -> bool {
        let text = text.to_string_lossy();
        let paths = text.split(|c: char| c.is_whitespace() || "=,;'\"".contains(c));
        let mut paths = paths.filter_map(|word| word.find('/').and_then(|start| word.get(start..)));
        !self.contains(self.home) && paths.any(|path| self.contains(Path::new(path)))
    }

    fn contains(&self, path: &Path) -> bool {
        path.starts_with(self.project)
            || real_path(path).is_ok_and(|real| real.starts_with(self.project))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside(project: &str) -> Outside<'_> {
        Outside { project: Path::new(project), home: Path::new("/home/ada") }
    }

    #[test]
    fn the_working_directory_is_not_in_the_project() {
        assert_eq!(outside("/home/ada/shop").directory(None), Path::new("/home/ada"));
        assert_eq!(
            outside("/home/ada/shop").directory(Some("tools")),
            Path::new("/home/ada/tools")
        );
        assert_eq!(outside("/home/ada/shop").directory(Some("/srv")), Path::new("/srv"));
        assert_eq!(outside("/home/ada").directory(None), Path::new("/"));
    }

    #[test]
    fn variables_lead_to_nothing_in_the_project() {
        for (name, value, expected) in [
            ("PATH", "/home/ada/shop/node_modules/.bin:bin::/usr/bin:/bin", Some("/usr/bin:/bin")),
            ("PYTHONPATH", "/home/ada/shop", None),
            ("PYTHONPATH", ".", None),
            ("PYTHONPATH", "/home/ada/lib:/home/ada/shop/lib", Some("/home/ada/lib")),
            ("NODE_OPTIONS", "--require /home/ada/shop/x.js", None),
            ("NODE_OPTIONS", "--require=/home/ada/shop/x.js --no-warnings", None),
            ("NODE_OPTIONS", "--max-old-space-size=4096", Some("--max-old-space-size=4096")),
            ("VIRTUAL_ENV", "/home/ada/shop/.venv", None),
            ("npm_config_local_prefix", "/home/ada/shop", None),
            ("UV_CONFIG_FILE", "/home/ada/shop/uv.toml", None),
            ("DIRENV_DIR", "-/home/ada/shop", None),
            ("INIT_CWD", "/home/ada", None),
            ("OLDPWD", "/home/ada/other", None),
            ("HOME", "/home/ada", Some("/home/ada")),
            ("LANG", "C.UTF-8", Some("C.UTF-8")),
            (
                "PROXY",
                "http://host:8080/home/ada/shopping",
                Some("http://host:8080/home/ada/shopping"),
            ),
            ("EMPTY", "", Some("")),
        ] {
            let base = vec![(name.into(), value.into())];
            let environment = outside("/home/ada/shop").environment(base, Path::new("/home/ada"));
            let variable = environment.iter().find(|(one, _)| one == name);
            let actual = variable.map(|(_, value)| value.to_str().unwrap());
            assert_eq!(actual, expected, "{name}={value}");
        }
        let outer_base = vec![("PWD".into(), "/home/ada/shop".into())];
        let environment = outside("/home/ada/shop").environment(outer_base, Path::new("/srv"));
        assert_eq!(environment, [("PWD".into(), "/srv".into())]);
    }

    #[test]
    fn in_a_project_that_is_the_home_directory_its_programs_are_the_users() {
        let path: OsString = "/home/ada/.local/bin:bin:/bin".into();
        let environment =
            outside("/home/ada").environment(vec![("PATH".into(), path)], Path::new("/"));
        assert_eq!(environment[0].1, "/home/ada/.local/bin:/bin");
    }
}
