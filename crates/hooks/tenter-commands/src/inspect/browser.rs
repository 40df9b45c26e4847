//! Opens the user's browser. The address is not in its command line, which other users can read, but in a private page that leads there.

use std::io::Write as _;
use std::time::Duration;

use tempfile::NamedTempFile;
use tenter_base::{private_dir, search_path};
use tenter_proc::{Cancel, Invocation, Limits};

use crate::project::Project;

/// Programs that open a file in the user's browser, on different systems.
const OPENERS: [&str; 2] = ["xdg-open", "open"];
/// Maximum time that such a program runs.
const OPENER_TIMEOUT: Duration = Duration::from_secs(30);

/// Opens `address`, if this session has a display. Returns the page that leads there, which is removed when it is dropped.
pub(super) fn open(project: &Project, address: &str) -> Option<NamedTempFile> {
    let env = project.env;
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env.var(name).is_some());
    if !has_display && !cfg!(target_os = "macos") {
        return None;
    }
    let opener = OPENERS.iter().find_map(|name| search_path::program(name, &env.vars))?;
    let directory = env.state_dir();
    private_dir::create(&directory).ok()?;
    let mut builder = tempfile::Builder::new();
    let mut page = builder.prefix("inspect-").suffix(".html").tempfile_in(&directory).ok()?;
    write!(page, "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={address}\">")
        .ok()?;
    let invocation = Invocation {
        program: opener,
        args: vec![page.path().into()],
        cwd: env.home.clone(),
        env: project.program_environment(),
        limits: Limits { timeout: OPENER_TIMEOUT, keep: 4096, ..Limits::default() },
        ..Invocation::default()
    };
    // Whether it opened shows on the screen; the address is printed in any case.
    std::thread::spawn(move || tenter_proc::run(&invocation, &Cancel::new()));
    Some(page)
}
