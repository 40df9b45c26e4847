//! Recipes as files: what is read of one, which of several is found, what is refused, and what those that come along become.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tenter_agent::recipe::{
    CommandOutput, ListedRecipe, MISSING, Recipe, RecipeError, RecipeLayer, RecipeOrigin, Recipes,
    Rendered, Shell, render,
};
use tenter_agent::tools::Registry;
use tenter_engine::configuration::ConfineProfiles;
use tenter_engine::layout::ResourceLayout;
use tenter_protocol::{Diagnostic, Severity};

/// Programs that are not started.
struct Echo;

impl Shell for Echo {
    fn run(&self, program: &str, args: &[String]) -> CommandOutput {
        CommandOutput { text: format!("<{program} {}>", args.join(" ")), failure: None }
    }
}

struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(bench.path("project")).unwrap();
        fs::create_dir_all(bench.path("home")).unwrap();
        fs::create_dir_all(bench.path("more")).unwrap();
        bench
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn layout(&self) -> ResourceLayout {
        ResourceLayout::new(self.path("project"), self.path("home"), self.path("home/.config"))
    }

    fn recipes(&self) -> Recipes {
        Recipes::new(&self.layout(), &[self.path("more")])
    }

    fn find(&self, name: &str) -> Recipe {
        self.recipes().find(name).unwrap()
    }

    fn refused(&self, name: &str) -> RecipeError {
        self.recipes().find(name).expect_err(name)
    }

    fn listed(&self) -> (Vec<ListedRecipe>, Vec<Diagnostic>) {
        self.recipes().list()
    }
}

fn read(text: &str) -> (Option<Recipe>, Vec<String>) {
    let origin = RecipeOrigin { layer: RecipeLayer::User, path: "r.md".into() };
    let (recipe, notes) = Recipe::read("r", origin, text.as_bytes(), &ConfineProfiles::default());
    let line = |finding: &Diagnostic| {
        let line = finding.span.as_ref().map_or(0, |place| place.line);
        format!("{line} {} {}: {}", finding.severity, finding.id, finding.message)
    };
    (recipe, notes.iter().map(line).collect())
}

fn text(recipe: &Recipe, args: &[(&str, &str)]) -> Result<Rendered, Vec<Diagnostic>> {
    let args: BTreeMap<String, String> =
        args.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    render(recipe, &args, &Echo)
}

#[test]
fn every_key_is_read() {
    let (recipe, notes) = read(
        "---\nname: Review\ndescription: ' Look at it '\nallowed_tools: [bash, Grep]\nallowed_commands: ['git diff *', \"ls\"]\narguments:\n  target:\n    description: The branch\n    default: main\n  focus:\ndefaults:\n  depth: 3\n---\nReview {{.target}} {{.depth}}.\n",
    );
    assert_eq!(notes, [] as [&str; 0]);
    let recipe = recipe.unwrap();
    assert_eq!((recipe.title.as_str(), recipe.description.as_str()), ("Review", "Look at it"));
    assert_eq!(recipe.allowed_tools.as_deref().unwrap(), ["bash", "Grep"]);
    assert_eq!(recipe.allowed_commands.as_deref().unwrap(), ["git diff *", "ls"]);
    let arguments: Vec<(&str, Option<&str>)> = recipe
        .arguments
        .iter()
        .map(|argument| (argument.name.as_str(), argument.default.as_deref()))
        .collect();
    assert_eq!(arguments, [("target", Some("main")), ("focus", None), ("depth", Some("3"))]);
    assert_eq!(recipe.body(), "Review {{.target}} {{.depth}}.\n");
    assert_eq!(text(&recipe, &[("depth", "5")]).unwrap().text, "Review main 5.\n");
}

#[test]
fn an_empty_list_allows_nothing_and_a_missing_list_everything() {
    let (recipe, _) = read("---\nallowed_tools: []\n---\nx");
    let recipe = recipe.unwrap();
    assert_eq!((recipe.allowed_tools, recipe.allowed_commands), (Some(vec![]), None));
    let (recipe, _) = read("---\nallowed_tools: bash, grep\nallowed_commands: ''\n---\nx");
    let recipe = recipe.unwrap();
    assert_eq!(
        (recipe.allowed_tools.unwrap().len(), recipe.allowed_commands.unwrap().len()),
        (2, 0)
    );
}

#[test]
fn a_file_without_front_matter_is_a_recipe() {
    let (recipe, notes) = read("\u{feff}Do {{.what}}.");
    let recipe = recipe.unwrap();
    assert_eq!((recipe.title.as_str(), recipe.body(), notes.len()), ("r", "Do {{.what}}.", 0));
}

#[test]
fn a_restriction_that_cannot_be_read_is_an_error() {
    for (field, expected) in [
        ("allowed_tools:", "2 error recipe-field: `allowed_tools` is not a list of words"),
        ("allowed_tools: {a: b}", "2 error recipe-field: `allowed_tools` is not a list of words"),
        ("allowed_tools: [[a]]", "2 error recipe-field: `allowed_tools` is not a list of words"),
        (
            "allowed-tools: []",
            "2 error recipe-field: unknown key `allowed-tools`, but it looks like a restriction",
        ),
        (
            "allowed_comands: []",
            "2 error recipe-field: unknown key `allowed_comands`, but it looks like a restriction",
        ),
        (
            "metadata: {allowed_tools: []}",
            "2 error recipe-field: unknown key `metadata`, and there is a restriction below it",
        ),
    ] {
        let (recipe, notes) = read(&format!("---\n{field}\n---\nx"));
        assert!(recipe.is_none(), "{field}");
        assert_eq!(notes, [expected], "{field}");
    }
    let (recipe, notes) = read("---\nallowed_commands: ['git [']\n---\nx");
    assert!(recipe.is_none() && notes[0].contains("the pattern \"git [\" is invalid"), "{notes:?}");
}

#[test]
fn a_restriction_after_a_comment_or_with_trailing_spaces_restricts() {
    for text in [
        "<!-- prettier-ignore -->\n---\nallowed_tools: []\n---\nx",
        "\n<!--\nallowed_tools: [bash]\n-->\n\n---  \nallowed_tools: []\n---\t\nx",
    ] {
        let (recipe, notes) = read(text);
        assert_eq!(notes, [] as [&str; 0], "{text}");
        let recipe = recipe.unwrap();
        assert_eq!((recipe.allowed_tools.as_deref(), recipe.body()), (Some(&[][..]), "x"));
    }
}

#[test]
fn a_restriction_outside_the_front_matter_is_an_error() {
    for (text, line) in [
        ("# Title\n---\nallowed_tools: []\n---\nx", 3),
        (" ---\nallowed_tools: []\n---\nx", 2),
        ("<!-- no end\n---\nallowed_commands: []\n---\nx", 3),
        ("+++\nallowed_tools = []\n+++\nx", 2),
        ("---\nname: r\n---\nallowed_tools: []\nx", 4),
    ] {
        let (recipe, notes) = read(text);
        assert!(recipe.is_none(), "{text}");
        let begins = format!("{line} error recipe-field: this line restricts nothing");
        assert!(notes.iter().any(|finding| finding.starts_with(&begins)), "{text}: {notes:?}");
    }
    let example = "---\nname: r\n---\nWrite a recipe such as\n```\nallowed_tools: []\n```\n";
    assert!(read(example).0.is_some());
}

#[test]
fn all_problems_are_reported_at_once() {
    let (recipe, notes) = read(
        "---\ncolour: red\ndescripton: x\narguments: {a: {defualt: 1}, b: [x]}\ndefaults: {c: [1]}\n---\n{{if}}\n{{.a",
    );
    assert!(recipe.is_none());
    assert_eq!(
        notes,
        [
            "2 warning recipe-field-ignored: unknown key `colour`; it is ignored",
            "3 warning recipe-field-ignored: unknown key `descripton`; it is ignored",
            "4 warning recipe-field-ignored: unknown key `defualt`; it is ignored",
            "4 warning recipe-field-ignored: `b` is a list; it is ignored",
            "5 warning recipe-field-ignored: `c` is a list; it is ignored",
            "7 error template-syntax: the `if` that begins here has no end",
            "7 error template-syntax: a value is missing here",
            "8 error template-syntax: the action that begins here has no end",
        ]
    );
    let (recipe, notes) = read("---\na: [\n---\n{{");
    assert!(recipe.is_none() && notes[0].contains("front-matter-syntax"), "{notes:?}");
    let origin = RecipeOrigin { layer: RecipeLayer::User, path: "r.md".into() };
    assert_eq!(
        Recipe::read("r", origin, b"a\xff", &ConfineProfiles::default()).1[0].id,
        "recipe-encoding"
    );
}

#[test]
fn warnings_about_the_file_and_unused_arguments_are_returned_with_the_text() {
    let (recipe, _) = read(
        "---\ncolour: red\narguments: {target: {default: main}}\n---\n{{.target}}{{.other | default \"\"}}",
    );
    let Rendered { text, warnings } =
        text(&recipe.unwrap(), &[("tarjet", "dev"), ("other", "x")]).unwrap();
    let ids: Vec<&str> = warnings.iter().map(|warning| warning.id).collect();
    assert_eq!(
        (text.as_str(), ids),
        ("mainx", vec!["recipe-field-ignored", "recipe-useless-argument"])
    );
    assert_eq!(warnings[1].help.as_deref(), Some("did you mean `target`?"));
}

#[test]
fn a_missing_argument_is_an_error_that_names_it() {
    let (recipe, _) =
        read("---\narguments: {issue: {description: Which}}\n---\n{{.issue}} {{.title}}");
    let errors = text(&recipe.unwrap(), &[]).unwrap_err();
    assert!(
        errors.iter().all(|finding| finding.id == MISSING && finding.severity == Severity::Error)
    );
    assert_eq!(errors[0].message, "the argument `issue` was not given");
    assert_eq!(errors.len(), 2);
}

#[test]
fn directories_are_searched_in_order_of_precedence() {
    let bench = Bench::new();
    let mut directories = vec![
        "home/.kodelet/recipes",
        "more",
        "project/.agents/recipes",
        "project/.kodelet/recipes",
        "project/recipes",
    ];
    assert_eq!(bench.find("compact").layer(), RecipeLayer::BuiltIn);
    for directory in &directories {
        bench.write(&format!("{directory}/compact.md"), directory);
        assert_eq!(bench.find("compact").body(), *directory);
    }
    directories.reverse();
    let (recipes, notes) = bench.listed();
    let all: Vec<&ListedRecipe> =
        recipes.iter().filter(|recipe| recipe.name == "compact").collect();
    let layers: Vec<&str> = all.iter().map(|recipe| recipe.origin.layer.as_str()).collect();
    assert_eq!(layers, ["project", "project", "project", "fragment-dirs", "user", "builtin"]);
    assert_eq!(all[0].shadowed_by, None);
    let first = bench.path("project/recipes/compact.md");
    assert!(all[1..].iter().all(|recipe| recipe.shadowed_by.as_ref() == Some(&first)));
    assert_eq!(notes, []);
}

#[test]
fn subdirectories_and_plugins_are_part_of_names() {
    let bench = Bench::new();
    bench.write("project/recipes/team/review/code.md", "nested");
    bench.write("project/recipes/.hidden.md", "x");
    bench.write("project/recipes/notes.txt", "x");
    bench.write("project/.kodelet/plugins/acme@tools/recipes/go.md", "of the project");
    bench.write("home/.kodelet/plugins/acme@tools/recipes/go.md", "of the user");
    bench.write("home/.kodelet/plugins/acme@tools/recipes/deep/er.md", "deep");
    assert_eq!(bench.find("team/review/code").body(), "nested");
    for name in ["acme/tools/go", "acme@tools/go"] {
        let recipe = bench.find(name);
        assert_eq!((recipe.body(), recipe.layer()), ("of the project", RecipeLayer::ProjectPlugin));
    }
    assert_eq!(bench.find("acme@tools/deep/er").name, "acme/tools/deep/er");
    let (recipes, _) = bench.listed();
    let names: Vec<&str> = recipes.iter().map(|recipe| recipe.name.as_str()).collect();
    assert_eq!(
        names,
        *tenter_base::words!(
            "team/review/code acme/tools/go acme/tools/deep/er acme/tools/go commit compact
             github/pr init review"
        )
    );
}

#[test]
fn rejects_names_that_lead_outside() {
    let bench = Bench::new();
    bench.write("project/secret.md", "secret");
    for name in
        ["../secret", "a/../../secret", "/etc/passwd", "", "a//b", "./a", ".hidden", "a\nb", ".."]
    {
        assert!(matches!(bench.refused(name), RecipeError::Name { .. }), "{name}");
    }
    assert_eq!(
        bench.refused("../secret").to_string(),
        "\"../secret\" leads out of its directory, so no recipe has this name"
    );
}

/// Ten links in each of eight directories to the next are ten million ways, and a project may come with them.
#[test]
fn symlinks_that_multiply_are_read_up_to_a_limit() {
    let bench = Bench::new();
    bench.write("project/recipes/a.md", "a");
    for depth in 0..8 {
        let directory = bench.path(&format!("project/recipes/d{depth}"));
        fs::create_dir(&directory).unwrap();
        for link in 0..10 {
            symlink(format!("../d{}", depth + 1), directory.join(format!("l{link}"))).unwrap();
        }
    }
    bench.write("project/recipes/d8/b.md", "b");
    let (recipes, notes) = bench.listed();
    assert!(recipes.len() < 20_000);
    assert_eq!(notes.iter().map(|finding| finding.id).collect::<Vec<_>>(), ["recipes-too-many"]);
    assert_eq!(bench.find("a").body(), "a");
}

#[test]
fn follows_symlinks_only_within_the_directory() {
    let bench = Bench::new();
    let secret = bench.write("secret.md", "secret");
    bench.write("project/recipes/real.md", "real");
    symlink(&secret, bench.path("project/recipes/leak.md")).unwrap();
    symlink("real.md", bench.path("project/recipes/link.md")).unwrap();
    symlink("..", bench.path("project/recipes/up")).unwrap();
    symlink(".", bench.path("project/recipes/loop")).unwrap();
    symlink("nowhere", bench.path("project/recipes/broken.md")).unwrap();
    fs::create_dir(bench.path("project/recipes/directory.md")).unwrap();
    assert_eq!(bench.find("link").body(), "real");
    for name in ["leak", "broken", "directory"] {
        let RecipeError::Unusable { findings, .. } = bench.refused(name) else { panic!("{name}") };
        assert_eq!(findings.len(), 1);
    }
    assert!(matches!(bench.refused("up/secret"), RecipeError::Unknown { .. }));
    let (recipes, notes) = bench.listed();
    let usable: Vec<&str> = recipes
        .iter()
        .filter(|recipe| !recipe.is_broken && recipe.origin.layer == RecipeLayer::Project)
        .map(|recipe| recipe.name.as_str())
        .collect();
    assert_eq!(usable, ["link", "real"]);
    let mut ids: Vec<&str> = notes.iter().map(|finding| finding.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["recipe-link-outside", "recipe-link-outside", "recipe-unreadable"]);
}

#[test]
fn rejects_recipe_directories_that_lead_out_of_their_project_or_plugin() {
    let bench = Bench::new();
    bench.write("elsewhere/leak.md", "leak");
    fs::create_dir_all(bench.path("project/.kodelet/plugins/acme@tools")).unwrap();
    symlink(bench.path("elsewhere"), bench.path("project/recipes")).unwrap();
    symlink(bench.path("elsewhere"), bench.path("project/.kodelet/plugins/acme@tools/recipes"))
        .unwrap();
    assert!(matches!(bench.refused("leak"), RecipeError::Unknown { .. }));
    assert!(matches!(bench.refused("acme/tools/leak"), RecipeError::Unknown { .. }));
    let ids: Vec<&str> = bench.listed().1.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, ["recipe-link-outside", "recipe-link-outside"]);
}

#[test]
fn a_broken_recipe_shadows_others_of_its_name_and_hides_no_other_recipe() {
    let bench = Bench::new();
    bench.write("more/good.md", "fine");
    bench.write("project/recipes/commit.md", "{{if");
    let (recipes, notes) = bench.listed();
    assert!(recipes.iter().any(|recipe| recipe.name == "good" && !recipe.is_broken));
    assert!(
        recipes.iter().any(|recipe| recipe.name == "commit"
            && recipe.is_broken
            && recipe.shadowed_by.is_none())
    );
    assert!(
        notes.iter().all(
            |finding| finding.path.as_deref() == Some(&bench.path("project/recipes/commit.md"))
        )
    );
    let RecipeError::Unusable { findings, .. } = bench.refused("commit") else { panic!() };
    assert_eq!(findings, notes);
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    let bench = Bench::new();
    for (name, near) in [
        ("comit", Some("commit")),
        ("pr", Some("github/pr")),
        ("gitlab/pr", Some("github/pr")),
        ("quantum", None),
    ] {
        let RecipeError::Unknown { near: found, .. } = bench.refused(name) else {
            panic!("{name}")
        };
        assert_eq!(found.as_deref(), near, "{name}");
    }
    assert_eq!(
        bench.refused("comit").to_string(),
        "there is no recipe \"comit\"; did you mean \"commit\"?"
    );
}

#[test]
fn a_missing_named_directory_is_reported() {
    let bench = Bench::new();
    assert_eq!(bench.listed().1, []);
    fs::remove_dir(bench.path("more")).unwrap();
    assert_eq!(bench.listed().1[0].id, "recipe-folder-missing");
}

#[test]
fn a_project_in_the_home_directory_has_each_recipe_once() {
    let bench = Bench::new();
    bench.write("home/.kodelet/recipes/mine.md", "x");
    bench.write("home/.kodelet/plugins/a@b/recipes/x.md", "x");
    let layout = ResourceLayout { project: bench.path("home"), ..bench.layout() };
    let (recipes, _) = Recipes::new(&layout, &[]).list();
    let layers: Vec<(&str, RecipeLayer)> =
        recipes.iter().map(|recipe| (recipe.name.as_str(), recipe.origin.layer)).take(2).collect();
    assert_eq!(layers, [("mine", RecipeLayer::User), ("a/b/x", RecipeLayer::UserPlugin)]);
}

#[test]
fn built_in_recipes_render_without_arguments_and_without_warnings() {
    let bench = Bench::new();
    for (name, must_hold) in [
        ("compact", vec!["## Objective", "## Last request", "word for word"]),
        ("init", vec!["Write `AGENTS.md`"]),
        ("commit", vec!["<git diff --cached>", "<git log --all --format=%s -n 10>"]),
        ("github/pr", vec!["into `main`", "<git diff --merge-base main HEAD>", "HEAD --not main>"]),
    ] {
        let recipe = bench.find(name);
        assert_eq!(recipe.origin.path, Path::new(&format!("builtin:{name}.md")));
        assert!(!recipe.description.is_empty());
        assert_eq!(
            recipe.allowed_tools.as_ref().is_some_and(Vec::is_empty),
            name != "init",
            "{name}"
        );
        let Rendered { text, warnings } = text(&recipe, &[]).unwrap();
        assert_eq!(warnings, [], "{name}");
        for part in must_hold {
            assert!(text.contains(part), "{name} lacks {part}:\n{text}");
        }
    }
    let pr = text(&bench.find("github/pr"), &[("target", "dev"), ("instructions", "Be brief.")])
        .unwrap()
        .text;
    assert!(pr.contains("into `dev`") && pr.contains("The user also wants: Be brief."), "{pr}");
}

#[test]
fn a_recipe_restricts_the_tools_of_its_caller_and_never_adds_any() {
    let names = |registry: Registry| -> Vec<String> {
        registry.iter().map(|tool| tool.name().to_owned()).collect()
    };
    let restrict = |field: &str, registry: Registry| {
        read(&format!("---\n{field}\n---\nx")).0.unwrap().restrict(registry).map(names)
    };
    let all = names(Registry::standard());
    assert_eq!(restrict("description: x", Registry::standard()).unwrap(), all);
    assert_eq!(restrict("allowed_tools: []", Registry::standard()).unwrap(), [] as [&str; 0]);
    assert_eq!(
        restrict("allowed_tools: [Shell, Read]", Registry::standard()).unwrap(),
        ["bash", "file_read"]
    );
    assert_eq!(restrict("allowed_commands: []", Registry::standard()).unwrap(), all[1..]);
    let only_grep = || Registry::standard().restrict(&["grep".to_owned()]).unwrap();
    assert_eq!(restrict("allowed_tools: [bash, grep]", only_grep()).unwrap(), ["grep"]);
    let unknown = restrict("allowed_tools: [bahs, quantum]", Registry::standard()).unwrap_err();
    assert_eq!(unknown.unknown, ["bahs", "quantum"]);
}

#[test]
fn the_tools_of_built_in_recipes_exist() {
    let tools = Bench::new().find("init").allowed_tools.unwrap();
    assert!(Registry::standard().restrict(&tools).is_ok());
}
