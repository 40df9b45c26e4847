//! Ways on which models' keys could leave.

use tenter_testkit::needs;

use crate::manifests::hook as manifest_hook;
use crate::sandbox;

const KEY: &str = "k-3f9a-not-of-a-known-form-77";

#[test]
#[cfg(target_os = "linux")]
fn a_command_cannot_read_the_key_from_its_parent_process() {
    let sandbox = sandbox();
    let line = "tr '\\0' '\\n' < /proc/$PPID/environ; grep -c . /proc/$PPID/maps; echo looked";
    let call = format!("{{name: bash, input: {{command: \"{line}\"}}}}");
    let model = sandbox.script(&format!("turns: [{{tool_calls: [{call}]}}, {{text: ok}}]"));
    // Root can read everything, so an unprivileged user tries to.
    let root = sandbox.root();
    let unprivileged = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    let become_unprivileged =
        format!("chown -R 65534:65534 {} && {unprivileged} tenter --version", root.display());
    let switch = if sandbox.shell("[ $(id -u) != 0 ]").code == Some(0) {
        ""
    } else if sandbox.shell(&become_unprivileged).code == Some(0) {
        unprivileged
    } else {
        needs::skipped("user", "root sees everything, and cannot become another user");
        return;
    };
    let run =
        format!("OPENAI_API_KEY={KEY} exec {switch} tenter run --headless --model {model} go");
    let output = sandbox.shell(&run).expect_code(0);
    assert!(output.stdout.contains("looked"), "{output}");
    assert!(!output.stdout.contains(KEY), "{output}");
}

#[test]
fn a_model_key_in_a_tool_result_is_masked_for_model_terminal_and_store() {
    let key = "sk-live-9dKq27ZtXw01mRbV";
    let sandbox = sandbox();
    sandbox.write(".env", format!("OPENAI_API_KEY={key}\nOTHER_KEY=my-own-little-secret-word\n"));
    sandbox.user_hook(
        "log",
        "#!/bin/sh\n[ \"$1\" = hook ] && { echo after_tool_call; exit; }\ncat > ../seen\n",
    );
    let model = sandbox.script(
        "turns:\n- tool_calls: [{name: bash, input: {command: cat .env}}, {name: file_read, input: {file_path: .env}}]\n\
         - {text: ok, expect: {contains: ['OPENAI_API_KEY=[model key masked by Tenter]', my-own-little-secret-word]}}",
    );
    let run = |more: &str| {
        let line = format!(
            "OPENAI_API_KEY={key} OPENAI_KEY_HINT=my-own-little-secret-word exec tenter run {more} --model {model} go"
        );
        sandbox.shell(&line).expect_code(0)
    };
    for more in ["", "--headless"] {
        let output = run(more);
        assert!(output.stdout.contains("masked by Tenter"), "{output}");
        assert!(!format!("{}{}", output.stdout, output.stderr).contains(key), "{output}");
    }
    assert!(!sandbox.read("../seen").contains(key), "{}", sandbox.read("../seen"));
    let files = sandbox.shell(&format!("grep -rla {key} ../home/.local"));
    assert_eq!(files.stdout, "");
}

#[test]
fn a_model_key_in_the_text_of_a_model_is_masked_for_observers_also_in_a_subagents_stream() {
    let key = "sk-live-9dKq27ZtXw01mRbV";
    let sandbox = sandbox();
    let model = sandbox.script(&format!(
        "turns:\n- tool_calls: [{{name: subagent, input: {{question: which key}}}}]\n\
         - {{text: 'The key of the subagent is {key}.'}}\n- {{text: 'The key is {key}.'}}"
    ));
    for more in ["", "--headless", "--headless --stream-deltas"] {
        let line = format!("OPENAI_API_KEY={key} exec tenter run {more} --model {model} go");
        let output = sandbox.shell(&line).expect_code(0);
        let screen = format!("{}{}", output.stdout, output.stderr);
        assert!(!screen.contains(key) && screen.contains("masked by Tenter"), "{output}");
    }
}

/// A hook that asks for a key gets it; what it says of it to a model, to the user and to programs is masked.
#[test]
fn a_model_key_in_a_hooks_reply_is_masked_everywhere() {
    let key = "sk-live-9dKq27ZtXw01mRbV";
    let sandbox = sandbox();
    let front = "priority: 5\nmetadata:\n  env: [OPENAI_API_KEY]";
    let context = "echo \"{\\\"additional_context\\\": \\\"context $OPENAI_API_KEY\\\"}\"";
    let deny = "echo \"denied $OPENAI_API_KEY\" >&2; exit 2";
    let stop = "[ -e stopped ] || { touch stopped; echo \"{\\\"follow_up_messages\\\": [\\\"again $OPENAI_API_KEY\\\"]}\"; }";
    let fails = "echo \"broken $OPENAI_API_KEY\"; echo \"trace $OPENAI_API_KEY\" >&2; exit 3";
    manifest_hook(&sandbox, "context", "before_agent", front, context);
    manifest_hook(&sandbox, "deny", "before_tool", front, deny);
    manifest_hook(&sandbox, "stop", "before_stop", front, stop);
    manifest_hook(&sandbox, "fails", "after_turn", front, fails);
    let model = sandbox.script(
        "turns:\n- tool_calls: [{name: bash, input: {command: ls}}]\n- text: one\n\
         - {text: two, expect: {contains: ['context [model key', 'denied [model key', 'again [model key']}}",
    );
    for (round, more) in ["", "--headless"].into_iter().enumerate() {
        let line = format!("OPENAI_API_KEY={key} exec tenter run {more} --model {model} go");
        let output = sandbox.shell(&format!("rm -f stopped; {line}")).expect_code(0);
        assert!(output.stdout.contains("broken "), "round {round}\n{output}");
        assert!(!output.stdout.contains(key), "round {round}\n{output}");
    }
    let files = sandbox.shell(&format!("grep -rla {key} ../home/.local"));
    assert_eq!(files.stdout, "");
}
