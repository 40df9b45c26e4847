//! A message in the user's editor (Ctrl-G).

use std::{fs, io};

use tenter_base::private_dir;
use tenter_commands::git::how;
use tenter_terminal::{Failure, editor};

use super::Chat;

/// Opens the user's editor on a text, and returns the new one. The text is unchanged if the editor fails.
pub(super) fn edited(chat: &Chat, text: &str) -> Result<String, Failure> {
    let env = chat.project.env;
    let file = env.state_dir().join(format!("message-{}.md", std::process::id()));
    let failure =
        |error: io::Error| Failure::new(format!("cannot edit {}: {error}", file.display()));
    private_dir::create_parent(&file).map_err(failure)?;
    fs::write(&file, text).map_err(failure)?;
    let vars = chat.project.program_environment();
    let interrupts = &chat.dialogue.interrupts;
    let end = chat.dialogue.lend_terminal(|| editor::open(env, interrupts, &env.cwd, &vars, &file));
    let new_text = fs::read_to_string(&file);
    let _ = fs::remove_file(&file);
    if !end.is_success() {
        return Err(Failure::new(format!("the editor {}; the text is unchanged", how(&end))));
    }
    Ok(new_text.map_err(failure)?.trim_end().to_owned())
}
