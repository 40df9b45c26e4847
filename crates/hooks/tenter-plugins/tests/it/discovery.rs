//! The engine finds an installed plugin, and the plugin's hooks receive the active recipe (ADR 029).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tenter_engine::inspect::HookEnvironment;
use tenter_engine::{Directories, Engine, TrustMode};
use tenter_proc::Cancel;
use tenter_protocol::{Body, Event, Scope};

use crate::scene::Scene;

/// The directories of hooks at each level, highest first, with the names of the hooks there.
const LEVELS: [(&str, &str); 4] = [
    ("project/.kodelet/hooks", "one"),
    ("project/.kodelet/plugins/ada@guards/hooks", "ada/guards/two"),
    ("home/.kodelet/hooks", "three"),
    ("home/.kodelet/plugins/bob@tools@2/hooks", "bob/tools@2/four"),
];

/// Writes a hook that keeps its payload.
fn telling(base: &Path, directory: &str, name: &str) {
    let path = base.join(directory).join(name.rsplit('/').next().unwrap());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let script =
        "#!/bin/sh\n[ \"$1\" = hook ] && { echo user_message_send; exit; }\ncat > \"$0.told\"\n";
    fs::write(&path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn engine(scene: &Scene) -> Engine {
    let base = scene.root();
    let builder = Engine::builder(base.join("project"))
        .environment(HookEnvironment::new(&scene.env(), &[]))
        .directories(Directories::in_home(base.join("home")))
        .clock(Default::default)
        .trust(TrustMode::All);
    let (engine, findings) = builder.load();
    assert_eq!(findings, []);
    let catalog = engine.catalog();
    let names: Vec<&str> = catalog.hooks().iter().map(|hook| hook.name.as_str()).collect();
    assert_eq!(names, LEVELS.map(|(_, name)| name));
    engine
}

#[test]
fn payloads_have_the_full_recipe_name_except_for_its_own_plugin() {
    let scene = Scene::new();
    for (directory, name) in LEVELS {
        telling(&scene.root(), directory, name);
    }
    let engine = engine(&scene);
    for recipe in [None, Some("review"), Some("ada/guards/review")] {
        let scope = Scope {
            conversation_id: "c".to_owned(),
            cwd: scene.root(),
            recipe: recipe.map(str::to_owned),
            time: "T".to_owned(),
            ..Scope::default()
        };
        let body = Body::BeforeAgent { message: "hello".to_owned() };
        engine.dispatch(Event { scope, body }, &Cancel::new());
        for (directory, name) in LEVELS {
            let file = scene
                .root()
                .join(directory)
                .join(format!("{}.told", name.rsplit('/').next().unwrap()));
            let payload = fs::read_to_string(file).unwrap();
            let own = recipe.and_then(|recipe| {
                let (plugin, _) = name.rsplit_once('/')?;
                recipe.strip_prefix(plugin)?.strip_prefix('/')
            });
            let expected = match (recipe, own) {
                (Some(full), Some(short)) => {
                    format!("\"recipe_name\": \"{short}\", \"recipe_full_name\": \"{full}\"")
                }
                (Some(full), None) => format!("\"recipe_name\": \"{full}\""),
                (None, _) => String::new(),
            };
            assert!(payload.contains(&expected), "{name}: {payload}");
            let full_names = usize::from(own.is_some());
            assert_eq!(
                payload.matches("recipe_full_name").count(),
                full_names,
                "{name}: {payload}"
            );
            assert_eq!(payload.contains("recipe_name"), recipe.is_some(), "{name}: {payload}");
        }
    }
}
