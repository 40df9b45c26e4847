//! The table of the settings that decide what agents load and allow (B49).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tenter_bridge::hosts;

/// Returns whether `path` is one of `settings` or in it.
fn is_covered(settings: &BTreeSet<String>, path: &str) -> bool {
    let path = path.strip_prefix("~/").unwrap_or(path);
    let mut above = Path::new(path).ancestors();
    above.any(|path| {
        let path = path.to_str().unwrap();
        settings.contains(path) || settings.contains(&format!("~/{path}"))
    })
}

#[test]
fn the_table_has_every_file_of_a_registration() {
    let settings: BTreeSet<String> = hosts::written_settings_paths().collect();
    for host in hosts::ALL {
        let registration = &host.registration;
        let files = [registration.personal_file, registration.shared_file, registration.trust_file];
        for file in files.into_iter().flatten().chain([registration.user_file]) {
            assert!(is_covered(&settings, file), "{}: {file}", host.id);
        }
    }
}

/// Returns the names in a text that look like a settings file or a directory of an agent.
fn files_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split('`').skip(1).step_by(2);
    words.filter(|name| {
        let end = name.rsplit('.').next().unwrap_or_default();
        let is_settings = ["json", "jsonc", "toml", "yaml", "yml"].contains(&end);
        let is_path = name.starts_with("~/.") || (name.starts_with('.') && name.contains('/'));
        (is_settings || is_path) && !name.contains([' ', '*', '{'])
    })
}

#[test]
fn the_table_has_every_file_that_the_page_of_a_host_mentions() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/hosts.md");
    let page = fs::read_to_string(page).unwrap();
    // The sentence of the page about the table itself is generated from it.
    let lines = page.lines().filter(|line| !line.starts_with("File tools [change only"));
    let page = lines.collect::<Vec<_>>().join("\n");
    let settings: BTreeSet<String> = hosts::written_settings_paths().collect();
    let names: BTreeSet<&str> =
        settings.iter().filter_map(|path| path.rsplit('/').next()).collect();
    let mut count = 0;
    for file in files_in(&page) {
        let is_bare = !file.contains('/') && names.contains(file);
        assert!(is_bare || is_covered(&settings, file), "{file} is in docs/hosts.md only");
        count += 1;
    }
    assert!(count > 20, "{count}");
}
