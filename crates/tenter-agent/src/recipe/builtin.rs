//! The recipes that come with Tenter. A file of the same name takes the place of any.

/// Their names and their files.
pub(super) const BUILT_IN: [(&str, &str); 4] = [
    ("commit", include_str!("builtin/commit.md")),
    ("compact", include_str!("builtin/compact.md")),
    ("github/pr", include_str!("builtin/github/pr.md")),
    ("init", include_str!("builtin/init.md")),
];
