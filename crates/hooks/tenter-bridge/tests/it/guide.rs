//! `docs/hosts.md` is generated from the bridge's data. `TENTER_UPDATE=1` writes it, except its proved part.

use std::fs;
use std::path::Path;

use tenter_bridge::guide;

#[test]
#[expect(clippy::disallowed_methods, reason = "the author's request to write the page")]
fn the_page_about_agents_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/hosts.md");
    let old = fs::read_to_string(&path).unwrap_or_default();
    let proved = guide::proved(&old).unwrap_or_default();
    let page = guide::with_proved(&guide::page(), proved).unwrap();
    if std::env::var_os("TENTER_UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == page, "docs/hosts.md is out of date; write it with TENTER_UPDATE=1");
}
