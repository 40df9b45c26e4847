//! The hooks folders in their order (R8). Says where to look, not what is there.

use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use tenter_protocol::{Diagnostic, Severity};

use super::entries;
use crate::hook::Layer;

/// The folders that everything else is found from. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The project root ([`project_root`](super::project_root)).
    pub project: PathBuf,
    /// The person's home folder.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`, by default `~/.config`.
    pub config_home: PathBuf,
}

/// A folder that may hold hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The layer of what it holds.
    pub layer: Layer,
    /// The folder; it need not exist, unless it is a plugin's.
    pub dir: PathBuf,
    /// What stands before its hooks' file names: nothing, or `org/repo/`.
    pub prefix: String,
}

/// Every folder that may hold hooks, highest precedence first (R8).
pub fn roots(places: &Places) -> (Vec<Root>, Vec<Diagnostic>) {
    let (of_project, mut diagnostics) =
        plugins(Layer::ProjectPlugin, &places.project.join(".kodelet/plugins"));
    let (of_user, more) = plugins(Layer::UserPlugin, &places.home.join(".kodelet/plugins"));
    diagnostics.extend(more);
    let mut roots = vec![
        standalone(Layer::Project, places.project.join(".kodelet/hooks")),
        standalone(Layer::Project, places.project.join(".agents/hooks")),
    ];
    roots.extend(of_project);
    roots.push(standalone(Layer::User, places.home.join(".kodelet/hooks")));
    roots.push(standalone(Layer::User, places.config_home.join("agents/hooks")));
    roots.extend(of_user);
    (once_each(roots), diagnostics)
}

fn standalone(layer: Layer, dir: PathBuf) -> Root {
    Root { layer, dir, prefix: String::new() }
}

/// The hooks folders of the plugins in `dir`, in name order.
fn plugins(layer: Layer, dir: &Path) -> (Vec<Root>, Vec<Diagnostic>) {
    let mut roots = Vec::new();
    let mut diagnostics = Vec::new();
    match entries(dir) {
        Ok(entries) => {
            for entry in entries {
                match plugin(layer, &entry) {
                    Ok(root) => roots.extend(root),
                    Err(diagnostic) => diagnostics.push(diagnostic),
                }
            }
        }
        Err(error) => diagnostics.push(
            Diagnostic::new(
                "plugins-folder-unreadable",
                Severity::Error,
                format!("plugins cannot be listed: {error}"),
            )
            .at(dir)
            .help("the hooks of these plugins do not run; make it a folder that you may read"),
        ),
    }
    (roots, diagnostics)
}

fn plugin(layer: Layer, entry: &DirEntry) -> Result<Option<Root>, Diagnostic> {
    let path = entry.path();
    let file_name = entry.file_name();
    if file_name.as_encoded_bytes().starts_with(b".") {
        return Ok(None);
    }
    let problem = |message| Diagnostic::new("plugin-unusable", Severity::Error, message).at(&path);
    let metadata = fs::metadata(&path)
        .map_err(|error| problem(format!("this plugin cannot be looked at: {error}")))?;
    if !metadata.is_dir() {
        return Ok(None);
    }
    let Some(name) = file_name.to_str() else {
        return Err(problem(
            "this plugin's folder name is not UTF-8, so its hooks cannot be named".to_owned(),
        ));
    };
    Ok(Some(Root {
        layer,
        dir: path.join("hooks"),
        prefix: format!("{}/", name.replacen('@', "/", 1)),
    }))
}

/// Leaves out folders that an earlier root reaches too. A folder that is both the project's and the person's own is the
/// person's: in the home folder `.kodelet/hooks` and `~/.kodelet/hooks` are one.
fn once_each(roots: Vec<Root>) -> Vec<Root> {
    let real: Vec<Option<PathBuf>> =
        roots.iter().map(|root| fs::canonicalize(&root.dir).ok()).collect();
    let mut chosen: HashMap<&Path, usize> = HashMap::new();
    for (index, path) in real.iter().enumerate() {
        let Some(path) = path else { continue };
        let earlier = chosen.entry(path).or_insert(index);
        if roots[*earlier].layer.needs_trust() && !roots[index].layer.needs_trust() {
            *earlier = index;
        }
    }
    let is_chosen =
        |index: usize| real[index].as_deref().is_none_or(|path| chosen.get(path) == Some(&index));
    let kept: Vec<bool> = (0..roots.len()).map(is_chosen).collect();
    roots.into_iter().zip(kept).filter_map(|(root, kept)| kept.then_some(root)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn places(base: &Path) -> Places {
        Places {
            project: base.join("project"),
            home: base.join("home"),
            config_home: base.join("home/.config"),
        }
    }

    fn listed(base: &Path, places: &Places) -> Vec<(Layer, String, String)> {
        let shown = |root: Root| {
            (
                root.layer,
                root.dir.strip_prefix(base).unwrap().to_str().unwrap().to_owned(),
                root.prefix,
            )
        };
        roots(places).0.into_iter().map(shown).collect()
    }

    #[test]
    fn folders_come_in_the_order_of_their_layers_and_plugins_by_name() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path();
        for plugin in
            ["project/.kodelet/plugins/zoe@tools", "project/.kodelet/plugins/acme@guard@2"]
        {
            fs::create_dir_all(base.join(plugin)).unwrap();
        }
        for plugin in ["home/.kodelet/plugins/local", "home/.kodelet/plugins/.staging"] {
            fs::create_dir_all(base.join(plugin)).unwrap();
        }
        fs::write(base.join("home/.kodelet/plugins/README"), "").unwrap();
        let expected = [
            (Layer::Project, "project/.kodelet/hooks", ""),
            (Layer::Project, "project/.agents/hooks", ""),
            (Layer::ProjectPlugin, "project/.kodelet/plugins/acme@guard@2/hooks", "acme/guard@2/"),
            (Layer::ProjectPlugin, "project/.kodelet/plugins/zoe@tools/hooks", "zoe/tools/"),
            (Layer::User, "home/.kodelet/hooks", ""),
            (Layer::User, "home/.config/agents/hooks", ""),
            (Layer::UserPlugin, "home/.kodelet/plugins/local/hooks", "local/"),
        ];
        let expected =
            expected.map(|(layer, dir, prefix)| (layer, dir.to_owned(), prefix.to_owned()));
        assert_eq!(listed(base, &places(base)), expected);
    }

    #[test]
    fn a_project_that_is_the_home_folder_has_the_persons_own_hooks_only() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path();
        fs::create_dir_all(base.join("home/.kodelet/hooks")).unwrap();
        fs::create_dir_all(base.join("home/.kodelet/plugins/a@b/hooks")).unwrap();
        let places = Places { project: base.join("home"), ..places(base) };
        let layers: Vec<Layer> =
            listed(base, &places).into_iter().map(|(layer, ..)| layer).collect();
        // The first is `.agents/hooks`, which is nobody else's folder.
        assert_eq!(layers, [Layer::Project, Layer::User, Layer::User, Layer::UserPlugin]);
    }

    #[test]
    fn two_names_of_one_folder_count_once() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path();
        fs::create_dir_all(base.join("project/.kodelet/hooks")).unwrap();
        fs::create_dir_all(base.join("project/.agents")).unwrap();
        symlink("../.kodelet/hooks", base.join("project/.agents/hooks")).unwrap();
        let dirs: Vec<String> =
            listed(base, &places(base)).into_iter().map(|(_, dir, _)| dir).collect();
        assert_eq!(
            dirs,
            ["project/.kodelet/hooks", "home/.kodelet/hooks", "home/.config/agents/hooks"]
        );
    }

    #[test]
    fn plugins_that_cannot_be_listed_are_told_of() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path();
        fs::create_dir_all(base.join("home/.kodelet")).unwrap();
        fs::write(base.join("home/.kodelet/plugins"), "a file").unwrap();
        let (roots, diagnostics) = roots(&places(base));
        assert_eq!(roots.len(), 4);
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(diagnostics[0].path, Some(base.join("home/.kodelet/plugins")));
    }
}
