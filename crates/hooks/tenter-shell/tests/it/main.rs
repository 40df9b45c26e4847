//! Tests of the facts about commands.

#![expect(clippy::unwrap_used, reason = "tests")]

mod cases;
mod evaluated;
mod oracle;
mod properties;
mod rendered;
mod unseen_input;

use tenter_shell::Surroundings;

/// Returns the surroundings of all cases: a project in a home directory.
fn surroundings() -> Surroundings {
    Surroundings {
        cwd: Some("/home/ann/app".to_owned()),
        project: vec!["/home/ann/app".to_owned(), "/home/ann/app-worktree".to_owned()],
        home: Some("/home/ann".to_owned()),
        temp: vec!["/scratch".to_owned()],
        variables: [
            ("USER".to_owned(), "ann".to_owned()),
            ("TMPDIR".to_owned(), "/scratch".to_owned()),
        ]
        .into(),
        unseen_input: false,
    }
}
