//! Hooks and recipes in four layers: precedence, names, and payloads (R8, R9, R53).

use crate::sandbox;

/// Returns a hook that writes its payload into a file named after `mark`.
fn telling(mark: &str) -> String {
    format!(
        "#!/bin/sh\n[ \"$1\" = hook ] && {{ echo user_message_send; exit; }}\ncat > \"$HOME/told-{mark}\"\n"
    )
}

#[test]
fn a_plugins_hook_is_found_by_both_forms_of_its_plugins_name() {
    let sandbox = sandbox();
    sandbox.write_program(".kodelet/plugins/ada@guards/hooks/guard", telling("x"));
    let _ = sandbox.run("trust --yes").expect_code(0);
    for line in ["hooks show", "hooks disable", "hooks enable", "trust --revoke"] {
        let name = "ada@guards/guard";
        let words: Vec<&str> = line.split(' ').chain([name]).collect();
        let _ = sandbox.run(&words).expect_code(0);
    }
    let json = sandbox.run("hooks show ada/guards/guard --json").json();
    assert_eq!(json[0]["status"], "untrusted");
}
