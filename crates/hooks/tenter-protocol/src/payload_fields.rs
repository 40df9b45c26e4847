//! The table of payload fields: what a hook reads at each event, under the names of both protocols.
//!
//! JSON Schemas, `docs/events.md`, the comments in new hooks and the check of field names in templates derive from this table.
//! Tests compare it with the payloads that [`executable`](crate::executable) and [`manifest`](crate::manifest) write.

use crate::EventName;
use crate::field_type::FieldType;

pub use crate::field_type::PayloadField;

/// A field with the same name in both protocols.
const fn same(name: &'static str, kind: FieldType, meaning: &'static str) -> PayloadField {
    named(name, name, kind, meaning)
}

/// A field with a name of its own in each protocol.
const fn named(
    executable: &'static str,
    manifest: &'static str,
    kind: FieldType,
    meaning: &'static str,
) -> PayloadField {
    let (executable, manifest) = (Some(executable), Some(manifest));
    PayloadField { executable, manifest, kind, meaning, optional: None }
}

const fn executable(name: &'static str, kind: FieldType, meaning: &'static str) -> PayloadField {
    PayloadField { manifest: None, ..same(name, kind, meaning) }
}

const fn manifest(name: &'static str, kind: FieldType, meaning: &'static str) -> PayloadField {
    PayloadField { executable: None, ..same(name, kind, meaning) }
}

use FieldType::{
    Any, AnyObject, Boolean, BooleanOrNull, Count, List, Number, Object, ObjectOrNull, Objects,
    OneOf, StringMap, Strings, Text, Time,
};

const IF_KNOWN: &str = "Only if the agent provides it.";

/// The fields of every payload, except for the event's name.
pub const COMMON: &[PayloadField] = &[
    named("conv_id", "session_id", Text, "The conversation's id. A subagent has its own."),
    named("cwd", "work_dir", Text, "The agent's working directory. Tools run in it; hooks start in the project root."),
    same("timestamp", Time, "The time, as RFC 3339 in UTC."),
    named("invoked_by", "context.invoked_by", OneOf(&["main", "subagent"]), "Which agent caused the event: `main` or `subagent`.").when(IF_KNOWN),
    named("parent_conv_id", "context.parent_session_id", Text, "The conversation that started the subagent.").when("Only for a subagent."),
    named("recipe_name", "context.recipe_name", Text, "The recipe that the agent was started with. A plugin's hook reads the short name of a recipe of its own plugin.").when("Only with a recipe."),
    named("recipe_full_name", "context.recipe_full_name", Text, "The recipe's full name, `ORG/REPO/NAME`.").when("Only if `recipe_name` is a short name."),
    named("agent", "context.agent", Object(AGENT), "The subagent of another agent than Tenter's.").when("Only for a subagent that has an id there."),
    same("host", Object(HOST), "The agent that fires the event, in its own words."),
    named("protocol_version", "context.protocol_version", Count, "The version of the protocol: 1."),
];

/// `host`.
pub const HOST: &[PayloadField] = &[
    same("name", Text, "The agent's name: `tenter`, `claude-code`, …"),
    same("version", Text, "The agent's version.").when("Not for `tenter`; only if it is known."),
    same("event", Text, "The agent's own name of the event.").when("Not for `tenter`."),
    same("tool_name", Text, "The agent's own name of the tool.")
        .when("Not for `tenter`; only for a tool."),
    same("tool_input", AnyObject, "The tool's input in the agent's own fields.").when(
        "Only if it differs from `tool_input`; not for a manifest hook with `payload: light`.",
    ),
    same(
        "unknown",
        Strings,
        "The fields that are left out because the agent does not provide them.",
    )
    .when("Only if there are any."),
];

/// `agent`.
pub const AGENT: &[PayloadField] = &[
    same("id", Text, "The subagent's id."),
    same("type", Text, "The subagent's type."),
    same("depth", Count, "How many agents are above it.").when(IF_KNOWN),
];

const SESSION_START: &[PayloadField] = &[
    manifest("model", Text, "The model, as `--model` names it.").when(IF_KNOWN),
    manifest("args", AnyObject, "How the agent was started: `ui` (`run` or `chat`) and `agent`."),
];

const BEFORE_AGENT: &[PayloadField] =
    &[named("message", "prompt", Text, "The message, as changed by earlier hooks.")];

const TOOL_NAME: PayloadField = same(
    "tool_name",
    Text,
    "The tool's name. A manifest hook reads the name that its matcher matched, for example `Shell` for `bash`.",
);
const TOOL_INPUT: PayloadField = same(
    "tool_input",
    AnyObject,
    "The tool's input, as changed by earlier hooks; for `bash`, `{\"command\": \"ls\"}`.",
);
const TOOL_CALL_ID: PayloadField = named(
    "tool_user_id",
    "tool_use_id",
    Text,
    "The call's id, the same before and after the call.",
);
const TOOL_ERROR: PayloadField = manifest("tool_error", Text, "What went wrong.");
const TOOL_OUTPUT: PayloadField =
    same("tool_output", Object(RESULT), "The tool's result, as changed by earlier hooks.");
const TOOL_ALIASES: PayloadField =
    same("tool_aliases", Strings, "The other names of the tool, here and in other agents.");
const COMMANDS: PayloadField = same(
    "commands",
    Objects(COMMAND),
    "The commands that a shell would run, read without running them.",
)
.when("Only for a shell tool.");
const PATHS: PayloadField =
    same("paths", Objects(PATH), "The paths that the tool or its commands touch, resolved.")
        .when("Only if there are any.");
const CODE: PayloadField =
    same("code", Objects(CODE_TEXT), "Programs in other languages that the commands contain.")
        .when("Only if there are any.");
const FLOWS: PayloadField =
    same("flows", Objects(FLOW), "Data that goes from one command to another.")
        .when("Only if there is any.");
const FORKBOMB: PayloadField =
    same("forkbomb", Boolean, "`true` if the commands start copies of themselves without an end.")
        .when("Only if `true`.");
const UNPARSED: PayloadField =
    same("unparsed", Boolean, "`true` if a part of the commands could not be read.")
        .when("Only if `true`.");

const BEFORE_TOOL: &[PayloadField] = &[
    TOOL_NAME,
    TOOL_INPUT,
    TOOL_CALL_ID,
    TOOL_ALIASES,
    COMMANDS,
    PATHS,
    CODE,
    FLOWS,
    FORKBOMB,
    UNPARSED,
];
const AFTER_TOOL: &[PayloadField] = &[
    TOOL_NAME,
    TOOL_INPUT,
    TOOL_CALL_ID,
    TOOL_OUTPUT,
    TOOL_ALIASES,
    COMMANDS,
    PATHS,
    CODE,
    FLOWS,
    FORKBOMB,
    UNPARSED,
];
const AFTER_TOOL_FAILURE: &[PayloadField] = &[
    TOOL_NAME,
    TOOL_INPUT,
    TOOL_CALL_ID,
    TOOL_ERROR,
    TOOL_OUTPUT,
    TOOL_ALIASES,
    COMMANDS,
    PATHS,
    CODE,
    FLOWS,
    FORKBOMB,
    UNPARSED,
];

/// `tool_output`.
pub const RESULT: &[PayloadField] = &[
    same("toolName", Text, "The tool's own name."),
    same(
        "success",
        BooleanOrNull,
        "Whether the tool succeeded; `null` if the agent does not know.",
    ),
    same("error", Text, "What went wrong.").when("Only after a failure."),
    same("metadataType", Text, "The type of `metadata`: `bash`, `file_read`, `blocked`, …")
        .when("Only with `metadata`."),
    same(
        "metadata",
        AnyObject,
        "What the tool did and found. The text that the model reads is made from it.",
    )
    .when("Not if the tool failed without a result."),
    same("timestamp", Time, "When the tool finished, as RFC 3339 in UTC."),
];

/// An entry of `paths`.
pub const PATH: &[PayloadField] = &[
    same("path", Text, "The absolute path, without symlinks and `..`."),
    same("given", Text, "The path as written."),
    same(
        "op",
        OneOf(&["read", "write", "create", "delete", "move", "execute", "link", "mode", "list"]),
        "What happens to it: `read`, `write`, `create`, `delete`, `move`, `execute`, `link`, `mode` (permissions or owner), or `list` (search a directory). File tools write files that they create.",
    ),
    same("recursive", Boolean, "`true` if everything below the path is included.")
        .when("Only if `true`."),
    same(
        "place",
        OneOf(&["project", "temp", "home", "system", "device", "remote"]),
        "Where it is: in the `project`, a `temp` directory, the `home` directory, elsewhere (`system`), a `device`, or on a `remote` machine.",
    ),
    same("inside_project", Boolean, "Whether it is in the project."),
    same("command", Count, "The index of the command in `commands`.")
        .when("Only for a path of a command."),
    same("certain", Boolean, "Whether the path is known and could be resolved."),
    same(
        "glob",
        Boolean,
        "`true` if the path is a pattern, and the files that it matches are touched.",
    )
    .when("Only if `true`."),
];

/// An entry of `commands`.
pub const COMMAND: &[PayloadField] = &[
    same("program", Text, "The program's base name."),
    same("path", Text, "The program as written.").when("Only if that contains a slash."),
    same("subcommand", Text, "The first operand after the global options, such as `push` for `git`.")
        .when("Only for programs that have subcommands."),
    same("flags", Strings, "The options: bundles split, abbreviations completed, values after `=`.")
        .when("Only if there are any."),
    same("operands", Strings, "The arguments that are no options, without the subcommand.")
        .when("Only if there are any."),
    same("args", Strings, "All words after the program.").when("Only if there are any."),
    same("env", StringMap, "Variables that are set for this command alone.")
        .when("Only if there are any."),
    same("cwd", Text, "The absolute working directory.").when("Only if it is known."),
    same(
        "via",
        Strings,
        "What runs the command, outermost first: wrappers such as `sudo`, interpreters such as `bash`, and `substitution`, `process`, `function`, `alias`, `coproc`.",
    )
    .when("Only if something does."),
    same("stdin_from", AnyObject, "The source of its input: the indices of `commands`, a `text`, or a `file`.")
        .when("Only if it is not inherited."),
    same("redirects", Objects(REDIRECT), "Its redirections.").when("Only if there are any."),
    same("text", Text, "The command as written."),
    same(
        "where",
        OneOf(&["local", "remote", "container"]),
        "Where it runs: `local`, `remote` (as with `ssh`), or `container` (as with `docker exec`).",
    ),
    same(
        "uncertain",
        List,
        "What is not known before the command runs: `program`, `cwd`, and indices of `args`.",
    )
    .when("Only if something is not known."),
];

const REDIRECT: &[PayloadField] = &[
    same("fd", Text, "The file descriptor.").when("Only if it is written."),
    same("op", Text, "The operator, such as `>`."),
    same("target", Text, "The file, or the delimiter of a here-document."),
];

/// An entry of `code`.
pub const CODE_TEXT: &[PayloadField] = &[
    same(
        "language",
        OneOf(&["python", "node", "perl", "ruby", "php", "awk", "powershell"]),
        "The language.",
    ),
    same("text", Text, "The program."),
    same("dynamic", Boolean, "`true` if it runs a command that cannot be read.")
        .when("Only if `true`."),
    same("command", Count, "The index of the interpreter in `commands`."),
];

/// An entry of `flows`.
pub const FLOW: &[PayloadField] = &[
    same("from", Any, "`{\"command\": INDEX}`, or `network` for a connection."),
    same("into", Count, "The index of the command that receives the data."),
    same(
        "as",
        OneOf(&["code", "data", "argument"]),
        "What the command does with it: runs it as `code`, reads it as `data`, or has it as an `argument`.",
    ),
];

const TURN_NUMBER: &str = "The number of model responses since the last user message.";
const USAGE_FIELD: PayloadField = same("usage", Object(USAGE), "Token counts.").when(IF_KNOWN);
const AUTO_COMPACT: PayloadField =
    same("auto_compact_enabled", Boolean, "Whether long histories are summarized automatically.");
const THRESHOLD: PayloadField = same(
    "auto_compact_threshold",
    Number,
    "The part of the context window at which that happens, for example 0.8.",
)
.when("Only if it is enabled.");
const MESSAGES: PayloadField = same("messages", Objects(MESSAGE), "The conversation.")
    .when("Only if the agent provides it; not for a manifest hook with `payload: light`.");
const INVOKED_RECIPE: PayloadField =
    executable("invoked_recipe", Text, "The same as `recipe_name`; empty without a recipe.");

const AFTER_TURN: &[PayloadField] = &[
    same("turn_number", Count, TURN_NUMBER).when(IF_KNOWN),
    same("session_turn", Count, "The number of model responses in the whole conversation.")
        .when(IF_KNOWN),
    same("tools_used", Boolean, "Whether the response called tools."),
    same("response", Text, "The text of the response."),
    executable("last_assistant_content", Text, "The same as `response`."),
    USAGE_FIELD,
    AUTO_COMPACT,
    THRESHOLD,
    INVOKED_RECIPE,
    MESSAGES,
];

const BEFORE_STOP: &[PayloadField] = &[
    executable(
        "stop_reason",
        OneOf(&["no_tool_calls", "tool_rejected", "max_turns"]),
        "Why the agent stops: `no_tool_calls`, `tool_rejected` (all calls of the previous response were blocked) or `max_turns` (the turn limit).",
    ),
    manifest(
        "stop_reason",
        OneOf(&["no_tool_calls", "tool_rejected", "max_steps"]),
        "Why the agent stops: `no_tool_calls`, `tool_rejected` (all calls of the previous response were blocked) or `max_steps` (the turn limit).",
    ),
    named("turn_number", "step_count", Count, TURN_NUMBER).when(IF_KNOWN),
    executable("last_assistant_content", Text, "The text of the last response."),
    manifest(
        "final_message",
        ObjectOrNull(FINAL_MESSAGE),
        "The last response; `null` if it has no text.",
    ),
    same(
        "stop_hook_active",
        Boolean,
        "Whether the agent is running because a hook made it continue.",
    ),
    same("continuation_count", Count, "How many times in a row hooks made the agent continue."),
    USAGE_FIELD,
    AUTO_COMPACT,
    THRESHOLD,
    INVOKED_RECIPE,
    MESSAGES,
];

const FINAL_MESSAGE: &[PayloadField] =
    &[same("role", OneOf(&["assistant"]), "`assistant`."), same("content", Text, "The text.")];

/// `usage`.
pub const USAGE: &[PayloadField] = &[
    same("input_tokens", Count, "Tokens sent to models in this conversation, including subagents."),
    same(
        "output_tokens",
        Count,
        "Tokens received from models in this conversation, including subagents.",
    ),
    same("current_context_window", Count, "The size of the last exchange, in tokens."),
    same("max_context_window", Count, "The size of the model's context window, in tokens."),
    same(
        "estimated",
        Boolean,
        "`true` if the provider did not report all counts and some are estimates.",
    )
    .when("Only if `true`."),
    same("cost_usd", Number, "The cost of the conversation so far, in US dollars.")
        .when("Only if prices are known."),
    same("turn", Object(TURN_USAGE), "The counts of the last exchange alone."),
];

const TURN_USAGE: &[PayloadField] = &[
    same("input_tokens", Count, "Tokens sent."),
    same("output_tokens", Count, "Tokens received."),
    same("cached_input_tokens", Count, "Input tokens read from the provider's cache.")
        .when("Only if not 0."),
    same("cache_write_tokens", Count, "Input tokens written to the provider's cache.")
        .when("Only if not 0."),
];

/// An entry of `messages`.
pub const MESSAGE: &[PayloadField] = &[
    same(
        "role",
        OneOf(&["user", "assistant"]),
        "`user` or `assistant`. Tool results are in `user` messages.",
    ),
    same("content", Text, "The message as plain text, including tool calls and results."),
    same("blocks", Objects(BLOCK), "The message as typed blocks."),
];

/// An entry of `blocks`.
pub const BLOCK: &[PayloadField] = &[
    same(
        "type",
        OneOf(&["text", "reasoning", "image", "tool_use", "tool_result"]),
        "`text`, `reasoning`, `image`, `tool_use` or `tool_result`.",
    ),
    same("text", Text, "The text.").when("Only for `text` and `reasoning`."),
    same("media_type", Text, "The media type, for example `image/png`.").when("Only for `image`."),
    same("data", Text, "The image as base64.").when("Only for `image`, instead of `url`."),
    same("url", Text, "The address of the image.").when("Only for `image`, instead of `data`."),
    same("id", Text, "The call's id.").when("Only for `tool_use`."),
    same("name", Text, "The tool's name.").when("Only for `tool_use`."),
    same("input", AnyObject, "The tool's input.").when("Only for `tool_use`."),
    same("call_id", Text, "The id of the call.").when("Only for `tool_result`."),
    same("result", Object(RESULT), "The result, like `tool_output`.")
        .when("Only for `tool_result`."),
];

const RESPONSE: PayloadField = manifest("response", Text, "The last text of the model.");
const AFTER_AGENT: &[PayloadField] = &[RESPONSE];

const SUBAGENT_NAME: PayloadField = manifest("subagent_name", Text, "The subagent's name.");
const SUBAGENT_TYPE: PayloadField = manifest("subagent_type", Text, "The subagent's type.");
const TASK: PayloadField = manifest("task_description", Text, "The subagent's task.");
const SUBAGENT_START: &[PayloadField] = &[SUBAGENT_NAME, SUBAGENT_TYPE, TASK];
const SUBAGENT_STOP: &[PayloadField] = &[SUBAGENT_NAME, SUBAGENT_TYPE, TASK, RESPONSE];

const TRIGGER: PayloadField = manifest(
    "trigger",
    OneOf(&["auto", "manual", "hook", "overflow"]),
    "What caused the compaction: `auto` (the threshold), `manual` (the user), `hook`, or `overflow` (a request was too long for the model).",
);
const TOKENS_BEFORE: PayloadField =
    manifest("tokens_before", Count, "The size of the history before, in tokens.").when(IF_KNOWN);
const PRE_COMPACT: &[PayloadField] = &[TRIGGER, TOKENS_BEFORE];
const POST_COMPACT: &[PayloadField] = &[
    TRIGGER,
    TOKENS_BEFORE,
    manifest("tokens_after", Count, "The size of the history after, in tokens.").when(IF_KNOWN),
];

const SESSION_END: &[PayloadField] = &[
    manifest("duration_seconds", Count, "The duration of the session, in seconds.").when(IF_KNOWN),
    manifest("total_steps", Count, "The number of model responses in the session.").when(IF_KNOWN),
    manifest(
        "exit_reason",
        OneOf(&["done", "user_exit", "interrupted", "blocked", "max_turns", "error"]),
        "Why the session ends: `done`, `user_exit`, `interrupted`, `blocked`, `max_turns` or `error`.",
    ),
];

/// The fields that the payload of `event` has besides the event's name and [`COMMON`].
pub fn payload_fields(event: EventName) -> &'static [PayloadField] {
    match event {
        EventName::SessionStart => SESSION_START,
        EventName::BeforeAgent => BEFORE_AGENT,
        EventName::BeforeTool => BEFORE_TOOL,
        EventName::AfterTool => AFTER_TOOL,
        EventName::AfterToolFailure => AFTER_TOOL_FAILURE,
        EventName::AfterTurn => AFTER_TURN,
        EventName::BeforeStop => BEFORE_STOP,
        EventName::AfterAgent => AFTER_AGENT,
        EventName::SubagentStart => SUBAGENT_START,
        EventName::SubagentStop => SUBAGENT_STOP,
        EventName::PreCompact => PRE_COMPACT,
        EventName::PostCompact => POST_COMPACT,
        EventName::SessionEnd => SESSION_END,
    }
}
