//! The built-in recipes. A file of the same name shadows each of them.

/// The names and the contents of the recipes.
pub(super) const BUILT_IN: [(&str, &str); 5] = [
    ("commit", include_str!("builtin/commit.md")),
    ("compact", include_str!("builtin/compact.md")),
    ("github/pr", include_str!("builtin/github/pr.md")),
    ("init", include_str!("builtin/init.md")),
    ("review", include_str!("builtin/review.md")),
];
