//! The name of a hook, which must be the same as the name of its directory (R16).

use std::ops::Range;

use super::codes::{DIRECTORY_NAME, NAME};
use crate::front_matter::{Report, quotable};
use crate::resource_name::{faults, normalize, suggestion};

/// Returns the normalized name, if it is valid; reports everything that is wrong with it.
pub(super) fn check(text: &str, at: &Range<usize>, report: &mut Report<'_>) -> Option<String> {
    let name = normalize(text);
    let faults = faults(&name);
    let suggestion = suggestion(&name);
    let help = match &suggestion {
        Some(suggestion) => format!("for example `{suggestion}`"),
        None => "write lower-case letters and digits, separated by single hyphens".to_owned(),
    };
    for fault in &faults {
        report.add(&NAME, at, format!("the name {fault}"), help.clone());
    }
    compare_with_directory(&name, suggestion.as_deref(), at, report);
    faults.is_empty().then_some(name)
}

/// Compares a name with the directory's. One that equals it once its faults are fixed has no further fault.
fn compare_with_directory(
    name: &str,
    suggestion: Option<&str>,
    at: &Range<usize>,
    report: &mut Report<'_>,
) {
    let directory = report.path().parent().and_then(|directory| directory.file_name());
    let Some(directory) = directory.map(|name| normalize(&name.to_string_lossy())) else { return };
    if directory != name && Some(directory.as_str()) != suggestion {
        let (name, directory) = (quotable(name), quotable(&directory));
        let message = format!("the hook is named `{name}`, but its directory `{directory}`");
        let help = "rename the hook or the directory";
        report.add(&DIRECTORY_NAME, at, message, help);
    }
}
