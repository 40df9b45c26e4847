//! `tenter plugin update`: what it shows, what it replaces and what it leaves.

use insta::assert_snapshot;

use super::{GUARD, Repository, left};
use crate::sandbox;

#[test]
fn an_update_shows_what_changes_and_a_dry_run_changes_nothing() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let before = repository.git("rev-parse HEAD");
    let _ = sandbox.run(["plugin", "add", &repository.url()]).expect_code(0);
    repository.hook("guard", &GUARD.replace("exit 0", "exit 1"));
    repository.hook("audit", "#!/bin/sh\necho after_turn\n");
    repository.git("update-index --add --chmod=+x hooks/lib/words.sh");
    repository.git("rm --quiet recipes/review.md");
    repository.write("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads.\n---\nRead.\n");
    repository.git("add skills hooks/guard hooks/audit");
    repository.git("commit --quiet --message second");
    let after = repository.git("rev-parse HEAD");
    let lock = sandbox.read(".kodelet/plugins/plugin.lock");
    let output = sandbox.run("plugin update --dry-run").expect_code(0);
    assert!(
        output.stdout.starts_with(&format!("ada/guards: {} → {}\n", &before[..10], &after[..10])),
        "{output}"
    );
    assert_snapshot!(output.stdout.lines().skip(1).collect::<Vec<_>>().join("\n"), @r#"
    added    hooks/audit
      @@ line 1 @@
      +#!/bin/sh
      +echo after_turn
    changed  hooks/guard
      @@ line 1 @@
       #!/bin/sh
       echo "$1" >> "$HOME/ran"
       [ "$1" = hook ] && echo before_tool_call
      -exit 0
      +exit 1
    changed  hooks/lib/words.sh (may be executed now)
    removed  recipes/review.md
    changed  skills/pdf/SKILL.md
    "#);
    assert_eq!(sandbox.read(".kodelet/plugins/plugin.lock"), lock);
    assert_eq!(sandbox.read(".kodelet/plugins/ada@guards/hooks/guard"), GUARD);

    let update = sandbox.run("plugin update ada@guards").expect_code(0);
    assert_eq!(update.stdout, output.stdout);
    assert!(sandbox.read(".kodelet/plugins/plugin.lock").contains(&after));
    let _ = sandbox.run("plugin verify").expect_code(0);
    assert_eq!(sandbox.run("plugin update").expect_code(0).stdout, "ada/guards is up to date.\n");
    assert_eq!(left(&sandbox), ["ada@guards", "plugin.lock"]);
}

#[test]
fn a_pinned_commit_stays_and_a_branch_moves() {
    let sandbox = sandbox();
    let (checkouts, moving) =
        (Repository::new(&sandbox, "pinned"), Repository::new(&sandbox, "moving"));
    let commit = checkouts.git("rev-parse HEAD");
    let specs =
        [format!("{}@{}", checkouts.url(), &commit[..12]), format!("{}@main", moving.url())];
    let _ = sandbox.run(["plugin", "add", &specs[0], &specs[1]]).expect_code(0);
    for repository in [&checkouts, &moving] {
        repository.write("recipes/review.md", "Second.\n");
        repository.commit();
    }
    sandbox.prints("plugin update", "ada/pinned is pinned to its commit.");
    assert_eq!(sandbox.read(".kodelet/plugins/ada@pinned/recipes/review.md"), "Review it.\n");
    assert_eq!(sandbox.read(".kodelet/plugins/ada@moving/recipes/review.md"), "Second.\n");
}

/// As `verify` says of a plugin that is gone.
#[test]
fn a_missing_plugin_is_fetched_again_even_if_pinned() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let commit = repository.git("rev-parse HEAD");
    let spec = format!("{}@{commit}", repository.url());
    let _ = sandbox.run(["plugin", "add", &spec]).expect_code(0);
    std::fs::remove_dir_all(sandbox.project().join(".kodelet/plugins/ada@guards")).unwrap();
    sandbox.fails(1, "plugin verify", "`tenter plugin update` fetches it again");
    let _ = sandbox.run("plugin update").expect_code(0);
    let _ = sandbox.run("plugin verify").expect_code(0);
}

#[test]
fn local_changes_are_not_overwritten() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(["plugin", "add", &repository.url()]).expect_code(0);
    repository.write("recipes/review.md", "Second.\n");
    repository.commit();
    sandbox.write(".kodelet/plugins/ada@guards/hooks/guard", "mine\n");
    assert_snapshot!(sandbox.run("plugin update"), @r#"
    exit: 1
    --- stderr
    error: ada/guards has local changes that an update would lose
      help: `tenter plugin verify ada/guards` shows them; `tenter plugin add SPEC --force` discards them
    "#);
    assert_eq!(sandbox.read(".kodelet/plugins/ada@guards/hooks/guard"), "mine\n");
}

#[test]
fn a_plugin_whose_new_version_is_invalid_stays_unchanged() {
    let sandbox = sandbox();
    let (one, two) = (Repository::new(&sandbox, "one"), Repository::new(&sandbox, "two"));
    let _ = sandbox.run(["plugin", "add", &one.url(), &two.url()]).expect_code(0);
    std::os::unix::fs::symlink("/etc/passwd", one.path.join("hooks/out")).unwrap();
    one.commit();
    two.write("recipes/review.md", "Second.\n");
    two.commit();
    sandbox.fails(1, "plugin update", "leaves the plugin");
    let _ = sandbox.run("plugin verify").expect_code(0);
    assert_eq!(
        sandbox.read(".kodelet/plugins/ada@two/recipes/review.md"),
        "Second.\n",
        "the other one is updated"
    );
}

/// A lock comes with a project and is untrusted: it must not choose which of the user's directories is copied.
#[test]
fn an_untrusted_lock_copies_no_directory_of_the_user() {
    let author = sandbox();
    let repository = Repository::new(&author, "guards");
    let _ = author.run(["plugin", "add", &repository.url()]).expect_code(0);
    let lock = author.read(".kodelet/plugins/plugin.lock");

    let sandbox = sandbox();
    let private = Repository::new(&sandbox, "guards");
    let path = private.path.to_str().unwrap();
    let within_by_name = format!("file://{}/%2e%2e/srv/ada/guards", sandbox.project().display());
    for source in [path, &private.url(), &within_by_name] {
        sandbox.write(".kodelet/plugins/plugin.lock", lock.replace(&repository.url(), source));
        for dry_run in [&["plugin", "update"][..], &["plugin", "update", "--dry-run"]] {
            let output = sandbox.run(dry_run).expect_code(1);
            assert!(output.stderr.contains("you have not agreed to"), "{source}: {output}");
            assert!(!output.to_string().contains("Fetching"), "{source}: {output}");
        }
    }
    assert_eq!(left(&sandbox), ["plugin.lock"]);

    // Naming it is agreeing to it.
    let _ = sandbox.run(["plugin", "add", path]).expect_code(0);
    private.write("recipes/review.md", "Second.\n");
    private.commit();
    let _ = sandbox.run("plugin update").expect_code(0);
    assert_eq!(sandbox.read(".kodelet/plugins/ada@guards/recipes/review.md"), "Second.\n");
    let lock = sandbox.read(".kodelet/plugins/plugin.lock");
    sandbox.write(".kodelet/plugins/plugin.lock", lock.replace(path, "/etc"));
    let _ = sandbox.run("plugin update").expect_code(1);
    // A plugin that is removed takes the agreement with it.
    sandbox.write(".kodelet/plugins/plugin.lock", &lock);
    let _ = sandbox.run("plugin remove ada/guards").expect_code(0);
    sandbox.write(".kodelet/plugins/plugin.lock", &lock);
    let _ = sandbox.run("plugin update").expect_code(1);
}

#[test]
fn a_directory_that_a_lock_names_is_copied_when_the_user_agrees() {
    let author = sandbox();
    let repository = Repository::new(&author, "guards");
    let _ = author.run(["plugin", "add", &repository.url()]).expect_code(0);
    let lock = author.read(".kodelet/plugins/plugin.lock");
    let sandbox = sandbox();
    let own = Repository::new(&sandbox, "guards");
    sandbox.write(".kodelet/plugins/plugin.lock", lock.replace(&repository.url(), &own.url()));
    let update = || {
        let mut terminal = sandbox.at_terminal("plugin update");
        let question = terminal.wait_for("Copy it into the project? [y] yes  [n] no: ");
        assert!(question.contains("srv/ada/guards"), "{question}");
        terminal
    };
    let mut terminal = update();
    terminal.enter("n");
    let _ = sandbox.finish_pty(terminal).expect_code(1);
    assert_eq!(left(&sandbox), ["plugin.lock"]);
    let mut terminal = update();
    terminal.enter("y");
    terminal.answer("[s] skip: ", "s");
    let _ = sandbox.finish_pty(terminal).expect_code(0);
    assert!(sandbox.project().join(".kodelet/plugins/ada@guards/hooks/guard").exists());
}
