//! Hooks watch, deny and change calls of tools, add contexts, and make the agent continue.

use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::{Plan, prompts, touch};
use crate::client::Client;
use crate::hook_file::{HookFile, quote};
use crate::sandbox::Sandbox;

/// The file of a call that a reply denies, the hook, and its reason.
pub(crate) const DENIED: &str = "denied.txt";
pub(crate) const DENY_HOOK: &str = "deny-call";
pub(crate) const DENY_REASON: &str = "REASON-OF-REPLY";
/// The file of a call that an exit code denies, the hook, and what it writes to stderr.
pub(crate) const WRITTEN: &str = "by-file-tool.txt";
pub(crate) const EXIT_HOOK: &str = "deny-by-exit-code";
pub(crate) const EXIT_REASON: &str = "REASON-OF-EXIT-CODE";
/// The file that the first command makes.
pub(crate) const TOUCHED: &str = "touched.txt";
/// The files of a call that a hook rewrites, and of the rewritten call.
pub(crate) const ORIGINAL: &str = "original.txt";
pub(crate) const REWRITTEN: &str = "rewritten.txt";
/// The output of a command, which the command itself does not contain, and the output by which a hook replaces it.
pub(crate) const OUTPUT: &str = "output-42-end";
pub(crate) const REPLACED: &str = "OUTPUT-OF-HOOK";
/// The files of parallel calls, of which the second is denied, and the reason.
pub(crate) const PARALLEL: [&str; 3] = ["parallel-1.txt", "parallel-2.txt", "parallel-3.txt"];
pub(crate) const PARALLEL_HOOK: &str = "deny-second";
pub(crate) const PARALLEL_REASON: &str = "REASON-OF-SECOND";
/// The file of a call after the agent left the project, and the reason why it is denied.
pub(crate) const OUTSIDE: &str = "outside.txt";
pub(crate) const OUTSIDE_HOOK: &str = "deny-outside";
pub(crate) const OUTSIDE_REASON: &str = "REASON-OUTSIDE";
/// The message with which the agent continues, and the file that it makes then.
pub(crate) const CONTINUE: &str = "MESSAGE-OF-STOP";
pub(crate) const CONTINUED: &str = "continued.txt";
/// The events at which hooks add contexts here.
const CONTEXTS: [EventName; 6] = [
    EventName::SessionStart,
    EventName::BeforeAgent,
    EventName::BeforeTool,
    EventName::AfterTool,
    EventName::AfterToolFailure,
    EventName::AfterTurn,
];

/// Returns the word that a hook adds for the model at an event.
pub(crate) fn context_word(event: EventName) -> String {
    format!("CONTEXT-OF-{}", event.as_str().to_uppercase().replace('_', "-"))
}

/// Returns a hook that adds a word for the model at an event; at events of calls, only for those that contain `word`.
pub(crate) fn context_hook(event: EventName, word: &str) -> HookFile {
    let name = format!("context-{}", event.as_str().replace('_', "-"));
    let hook = HookFile::context(&name, event, &context_word(event));
    if event.lifecycle().matcher { hook.only("(Bash|Write|Edit)", word) } else { hook }
}

pub(super) fn plan(client: &Client, sandbox: &Sandbox) -> Plan {
    let shell = |command: &str| (client.shell)(ModelReply::new(), command);
    let parallel =
        PARALLEL.iter().fold(ModelReply::new(), |reply, file| (client.shell)(reply, &touch(file)));
    let outside = quote(&sandbox.project().join(OUTSIDE));
    let replies = vec![
        shell(&format!("echo context && {}", touch(TOUCHED))),
        shell(&touch(DENIED)),
        (client.write)(ModelReply::new(), &sandbox.project().join(WRITTEN), "text\n"),
        shell(&touch(ORIGINAL)),
        // The call that the model is asked for if the agent cannot rewrite one; else it changes nothing.
        shell(&touch(REWRITTEN)),
        client.failing_call(ModelReply::new(), "context"),
        shell("echo output-$((40+2))-end"),
        parallel,
        shell("cd / && pwd"),
        shell(&format!("touch {outside}")),
        ModelReply::text("All finished."),
        shell(&touch(CONTINUED)),
        ModelReply::text("Now all is finished."),
    ];
    Plan { prompts: prompts(client), ..Plan::new(hooks(sandbox), replies) }
}

fn hooks(sandbox: &Sandbox) -> Vec<HookFile> {
    let contexts = CONTEXTS.iter().map(|event| context_hook(*event, "context"));
    let at_call = EventName::BeforeTool;
    let input = format!(r#"{{"modified_input": {{"command": "{}"}}}}"#, touch(REWRITTEN));
    let output = format!(r#"{{"modified_output": {{"metadata": {{"output": "{REPLACED}"}}}}}}"#);
    let continued = format!(r#"{{"follow_up_messages": ["{CONTINUE}: run one more command"]}}"#);
    let flag = quote(&sandbox.flag("continued"));
    let others = [
        HookFile::deny(DENY_HOOK, at_call, DENY_REASON).only("Bash", DENIED),
        HookFile::script(EXIT_HOOK, at_call, format!("echo {EXIT_REASON} >&2\nexit 2\n"))
            .only("(Write|Edit)", WRITTEN),
        HookFile::printing("rewrite", at_call, &input).only("Bash", ORIGINAL),
        HookFile::printing("replace-output", EventName::AfterTool, &output).only("Bash", "output-"),
        HookFile::deny(PARALLEL_HOOK, at_call, PARALLEL_REASON).only("Bash", PARALLEL[1]),
        HookFile::deny(OUTSIDE_HOOK, at_call, OUTSIDE_REASON).only("Bash", OUTSIDE),
        HookFile::printing("continue", EventName::BeforeStop, &continued)
            .first(&format!("[ -e {flag} ] && exit 0\n: > {flag}\n")),
    ];
    contexts.chain(others).collect()
}
