"""The types of payloads and replies of `tenter_hook.py`, for editors and type checkers. Hooks do not load this module."""

import sys
from typing import Any, Dict, List, Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired  # type checkers know it, also where it is not installed

# --- generated: payloads and replies ---


class Agent(TypedDict):
    """The subagent of another agent than Tenter's. Only for a subagent that has an id there."""
    # The subagent's id.
    id: str
    # The subagent's type, such as `Explore`.
    type: str
    # The number of agents above it. Only if the agent provides it.
    depth: NotRequired[int]


class Context(TypedDict):
    """Data for which the specification has no field."""
    # The agent that caused the event: `main` or `subagent`. Only if the agent provides it.
    invoked_by: NotRequired[Literal["main", "subagent"]]
    # The conversation that started the subagent. Only for a subagent.
    parent_session_id: NotRequired[str]
    # The recipe that the agent was started with. A plugin's hook reads the short name of a recipe of its own plugin. Only with a recipe.
    recipe_name: NotRequired[str]
    # The recipe's full name, `ORG/REPO/NAME`. Only if `recipe_name` is a short name.
    recipe_full_name: NotRequired[str]
    # The subagent of another agent than Tenter's. Only for a subagent that has an id there.
    agent: NotRequired[Agent]
    # The version of the protocol: 1.
    protocol_version: int


class Host(TypedDict):
    """The agent that fires the event, in its own words."""
    # The agent's name: `tenter`, `claude-code`, …
    name: str
    # The agent's version. Not for `tenter`; only if it is known.
    version: NotRequired[str]
    # The agent's own name of the event. Not for `tenter`.
    event: NotRequired[str]
    # The agent's own name of the tool. Not for `tenter`; only for a tool.
    tool_name: NotRequired[str]
    # The tool's input in the agent's own fields. Only if it differs from `tool_input`; not for a manifest hook with `payload: light`.
    tool_input: NotRequired[Dict[str, Any]]
    # The fields that are left out because the agent does not provide them. Only if there are any.
    unknown: NotRequired[List[str]]


class Payload(TypedDict):
    """The fields of every payload."""
    # The time, as RFC 3339 in UTC.
    timestamp: str
    # The conversation's id. A subagent has its own.
    session_id: str
    # The agent's working directory. Tools run in it; hooks start in the project root.
    work_dir: str
    # Data for which the specification has no field.
    context: Context
    # The agent that fires the event, in its own words.
    host: Host


class SessionStartPayload(Payload):
    """The payload of `session_start`, which fires once, before the first user message of a process on a conversation."""
    event_type: Literal["session_start", "pre-session"]
    # The model, as `--model` names it. Only if the agent provides it.
    model: NotRequired[str]
    # The start of the agent: `ui` (`run` or `chat`) and `agent`.
    args: Dict[str, Any]


class Reply(TypedDict):
    """The fields of every reply, except that a call of a tool also has the decision `ask`."""
    # `deny` blocks or, where nothing can be blocked, gives the model the reason. `ask` lets the user decide. `confine` runs the call with
    # fewer rights. `allow` permits; another hook may still deny. `block` and `approve` are accepted for `deny` and `allow`.
    decision: NotRequired[Literal["allow", "deny", "approve", "block"]]
    # Why. The model or the user reads it.
    reason: NotRequired[str]
    # Text for the journal.
    log: NotRequired[str]


class ContextReply(Reply):
    """The fields of replies that may add context."""
    # Text that the model also reads.
    additional_context: NotRequired[str]


class SessionStartReply(ContextReply):
    """A reply to `session_start`."""


class BeforeAgentPayload(Payload):
    """The payload of `before_agent`, which fires when a user message is about to be added."""
    event_type: Literal["before_agent", "pre-agent-turn"]
    # The message, as changed by earlier hooks.
    prompt: str


class BeforeAgentReply(ContextReply):
    """A reply to `before_agent`."""
    # Replaces the user's message.
    modified_prompt: NotRequired[str]


class StdinFrom(TypedDict):
    """The source of its input: the indices of `commands`, a `text`, or a `file`. Only if it is not inherited."""
    # The output of commands, by their indices.
    commands: NotRequired[List[int]]
    # A here-document or here-string, as far as it is known.
    text: NotRequired[str]
    # A file, as written.
    file: NotRequired[str]


class Redirect(TypedDict):
    """A redirection."""
    # The file descriptor: `2`, `{name}`. Only if it is written.
    fd: NotRequired[str]
    # The operator, such as `>`.
    op: str
    # The file, the descriptor, the delimiter of a here-document, or the text of a here-string.
    target: str


class Command(TypedDict):
    """A command that the text would run. A wrapper such as `sudo` is a command of its own, before the command that it runs."""
    # The program's base name, without `.exe`.
    program: str
    # The program as written. Only if that contains a slash.
    path: NotRequired[str]
    # The first operand after the global options, such as `push` for `git`. Only for programs that have subcommands.
    subcommand: NotRequired[str]
    # The options: bundles split, abbreviations completed, values after `=`. Only if there are any.
    flags: NotRequired[List[str]]
    # The arguments that are no options, without the subcommand. Only if there are any.
    operands: NotRequired[List[str]]
    # All words after the program. Only if there are any.
    args: NotRequired[List[str]]
    # Variables that the text sets for this command, or exports before it. Only if there are any.
    env: NotRequired[Dict[str, str]]
    # The absolute working directory. Only if it is known.
    cwd: NotRequired[str]
    # The programs and constructs that run the command, outermost first: wrappers such as `sudo`, interpreters such as `bash`, and
    # `substitution`, `process`, `function`, `alias`, `coproc`. Only if there are any.
    via: NotRequired[List[str]]
    # The source of its input: the indices of `commands`, a `text`, or a `file`. Only if it is not inherited.
    stdin_from: NotRequired[StdinFrom]
    # Its own redirections, not of wrappers and blocks around the command. Only if there are any.
    redirects: NotRequired[List[Redirect]]
    # The command as written.
    text: str
    # The machine or container that it runs on: `local`, `remote` (as with `ssh`), or `container` (as with `docker exec`).
    where: Literal["local", "remote", "container"]
    # The parts of the command that are not known before it runs: `program`, `cwd`, and indices of `args`. Only if there are any.
    uncertain: NotRequired[List[Any]]


class Path(TypedDict):
    """A path that a command would touch."""
    # The absolute path, without symlinks and `..`.
    path: str
    # The path as written.
    given: str
    # The operation on it: `read`, `write`, `create`, `delete`, `move`, `execute`, `link`, `mode` (permissions or owner), or `list` (search a
    # directory). File tools write files that they create.
    op: Literal["read", "write", "create", "delete", "move", "execute", "link", "mode", "list"]
    # `true` if everything below the path is included. Only if `true`.
    recursive: NotRequired[bool]
    # The place: in the `project`, a `temp` directory, the `home` directory, elsewhere (`system`), a `device`, or on a `remote` machine.
    place: Literal["remote", "device", "project", "temp", "home", "system"]
    # `true` if it is in the project.
    inside_project: bool
    # The index of the command in `commands`. Only for a path of a command.
    command: NotRequired[int]
    # `true` if the path is known and could be resolved.
    certain: bool
    # `true` if the path is a pattern, and the files that it matches are touched. Only if `true`.
    glob: NotRequired[bool]


class Code(TypedDict):
    """A program in another language that the text contains."""
    # The language.
    language: Literal["python", "node", "perl", "ruby", "php", "awk", "powershell", "other"]
    # The program.
    text: str
    # `true` if it runs a command that cannot be read. Only if `true`.
    dynamic: NotRequired[bool]
    # The index of the interpreter in `commands`.
    command: int


class From(TypedDict):
    """The output of a command, or a file that it wrote before."""
    command: int


# Data that goes from a command into another.
Flow = TypedDict(
    "Flow",
    {
        # `{"command": INDEX}`, or `network` for a connection.
        "from": Union[Literal["network"], From],
        # The index of the command that receives the data.
        "into": int,
        # The use of the data: the command runs it as `code`, reads it as `data`, or has it as an `argument`.
        "as": Literal["code", "data", "argument"],
    },
)


class ToolPayload(Payload):
    """The fields of the payloads of tool events."""
    # The tool's name. A manifest hook reads the name that its matcher matched, for example `Shell` for `bash`.
    tool_name: str
    # The tool's input, as changed by earlier hooks; for `bash`, `{"command": "ls"}`.
    tool_input: Dict[str, Any]
    # The call's id, the same before and after the call.
    tool_use_id: str
    # The other names of the tool, here and in other agents.
    tool_aliases: List[str]
    # The commands that a shell would run, read without running them. Only for a shell tool.
    commands: NotRequired[List[Command]]
    # The paths that the tool or its commands touch, resolved. Only if there are any.
    paths: NotRequired[List[Path]]
    # Programs in other languages that the commands contain. Only if there are any.
    code: NotRequired[List[Code]]
    # Data that goes from one command to another. Only if there is any.
    flows: NotRequired[List[Flow]]
    # `true` if the commands start copies of themselves without an end. Only if `true`.
    forkbomb: NotRequired[bool]
    # `true` if a part of the commands could not be read: bash would reject it, or it exceeds a limit. Only if `true`.
    unparsed: NotRequired[bool]


class BeforeToolPayload(ToolPayload):
    """The payload of `before_tool`, which fires before a tool runs."""
    event_type: Literal["before_tool", "pre-tool-call"]


class Network(TypedDict):
    """The hosts that these rules allow, over HTTP and HTTPS, and a loopback interface of its own."""
    allow: List[str]


class Confine(TypedDict):
    """Runs the call with fewer rights, which the operating system keeps: `write` (the only places that may be written), `read_not` (what may
    not be read), `network`, or a `profile`. `{}` is the profile `standard`. All confinements of all hooks apply."""
    # The name of a profile, which applies besides the other fields.
    profile: NotRequired[str]
    # The only places that may be written: `project`, `temp`, `home`, `caches`, paths and globs.
    write: NotRequired[List[str]]
    # Paths and globs in them that may not be written, in addition to hooks and settings of agents.
    write_not: NotRequired[List[str]]
    # The files that may not be read: `secrets`, paths and globs.
    read_not: NotRequired[List[str]]
    # The network that may be used.
    network: NotRequired[Union[Literal["any", "local", "none"], Network]]
    # The fallback if this machine cannot keep a part of it; by default the user is asked.
    otherwise: NotRequired[Literal["run", "ask", "deny"]]


class BeforeToolReply(TypedDict):
    """A reply to `before_tool`."""
    # `deny` blocks or, where nothing can be blocked, gives the model the reason. `ask` lets the user decide. `confine` runs the call with
    # fewer rights. `allow` permits; another hook may still deny. `block` and `approve` are accepted for `deny` and `allow`.
    decision: NotRequired[Literal["allow", "deny", "ask", "confine", "approve", "block"]]
    # Why. The model or the user reads it.
    reason: NotRequired[str]
    # Runs the call with fewer rights, which the operating system keeps: `write` (the only places that may be written), `read_not` (what may
    # not be read), `network`, or a `profile`. `{}` is the profile `standard`. All confinements of all hooks apply.
    confine: NotRequired[Confine]
    # Text for the journal.
    log: NotRequired[str]
    # Text that the model also reads.
    additional_context: NotRequired[str]
    # The tool runs with this input: the complete input, not only the changed fields.
    modified_input: NotRequired[Dict[str, Any]]


class ToolOutput(TypedDict):
    """The tool's result, as changed by earlier hooks."""
    # The tool's own name.
    toolName: str
    # `true` if the tool succeeded; `null` if the agent does not know.
    success: Union[bool, None]
    # The error message. Only after a failure.
    error: NotRequired[str]
    # The type of `metadata`: `bash`, `file_read`, `blocked`, … Only with `metadata`.
    metadataType: NotRequired[str]
    # The data of the result. The text that the model reads is made from it. Not if the tool failed without a result.
    metadata: NotRequired[Dict[str, Any]]
    # The time when the tool finished, as RFC 3339 in UTC.
    timestamp: str


class AfterToolPayload(ToolPayload):
    """The payload of `after_tool`, which fires after a tool succeeded."""
    event_type: Literal["after_tool", "post-tool-call"]
    # The tool's result, as changed by earlier hooks.
    tool_output: ToolOutput


class OutputReply(ContextReply):
    """The fields of replies that may rewrite the output of a tool."""
    # The new result. With `toolName` and `success` it is a complete result; otherwise it replaces the fields that it has. `metadata` is
    # always replaced as a whole.
    modified_output: NotRequired[Dict[str, Any]]


class AfterToolReply(OutputReply):
    """A reply to `after_tool`."""


class AfterToolFailurePayload(ToolPayload):
    """The payload of `after_tool_failure`, which fires after a tool failed or was blocked."""
    event_type: Literal["after_tool_failure", "post-tool-call-failure"]
    # The error message.
    tool_error: str
    # The tool's result, as changed by earlier hooks.
    tool_output: ToolOutput


class AfterToolFailureReply(OutputReply):
    """A reply to `after_tool_failure`."""


class Turn(TypedDict):
    """The counts of the last exchange alone."""
    # Tokens sent, cached or not.
    input_tokens: int
    # Tokens received, including reasoning.
    output_tokens: int
    # Input tokens read from the provider's cache. Only if not 0.
    cached_input_tokens: NotRequired[int]
    # Input tokens written to the provider's cache. Only if not 0.
    cache_write_tokens: NotRequired[int]


class Usage(TypedDict):
    """Token counts. Only if the agent provides them."""
    # Tokens sent to models in this conversation, including subagents.
    input_tokens: int
    # Tokens received from models in this conversation, including subagents.
    output_tokens: int
    # The size of the last exchange, in tokens.
    current_context_window: int
    # The size of the model's context window, in tokens.
    max_context_window: int
    # `true` if the provider did not report all counts and some are estimates. Only if `true`.
    estimated: NotRequired[bool]
    # The cost of the conversation so far, in US dollars. Only if prices are known.
    cost_usd: NotRequired[float]
    # The counts of the last exchange alone.
    turn: Turn


class Block(TypedDict):
    """A piece of a message."""
    # `text`, `reasoning`, `image`, `tool_use` or `tool_result`.
    type: Literal["text", "reasoning", "image", "tool_use", "tool_result"]
    # The text. Only for `text` or `reasoning`.
    text: NotRequired[str]
    # The media type of the image, such as `image/png`. Only for `image`.
    media_type: NotRequired[str]
    # The image as base64, instead of `url`. Only for `image`.
    data: NotRequired[str]
    # The address of the image, instead of `data`. Only for `image`.
    url: NotRequired[str]
    # The call's id. Only for `tool_use`.
    id: NotRequired[str]
    # The tool's name. Only for `tool_use`.
    name: NotRequired[str]
    # The tool's input, which is always an object. Only for `tool_use`.
    input: NotRequired[Dict[str, Any]]
    # The id of the call. Only for `tool_result`.
    call_id: NotRequired[str]
    # The result, like `tool_output`. Only for `tool_result`.
    result: NotRequired[ToolOutput]


class Message(TypedDict):
    """A message in a payload: as plain text, as in the documents, and as typed blocks (R57)."""
    # `user` or `assistant`. Tool results are in `user` messages.
    role: Literal["user", "assistant"]
    # The message as plain text, including tool calls and results.
    content: str
    # The message as typed blocks.
    blocks: List[Block]


class HistoryPayload(Payload):
    """The fields of the payloads of events at which the history can be replaced."""
    # Token counts. Only if the agent provides them.
    usage: NotRequired[Usage]
    # `true` if long histories are summarized automatically.
    auto_compact_enabled: bool
    # The part of the context window at which that happens, for example 0.8. Only if it is enabled.
    auto_compact_threshold: NotRequired[float]
    # The conversation. Only if the agent provides it; not for a manifest hook with `payload: light`.
    messages: NotRequired[List[Message]]


class AfterTurnPayload(HistoryPayload):
    """The payload of `after_turn`, which fires after every model response, once the tool results of that response (if any) are recorded."""
    event_type: Literal["after_turn"]
    # The number of model responses since the last user message. Only if the agent provides it.
    turn_number: NotRequired[int]
    # The number of model responses in the whole conversation. Only if the agent provides it.
    session_turn: NotRequired[int]
    # `true` if the response called tools.
    tools_used: bool
    # The text of the response.
    response: str


class ReplyMessage(TypedDict):
    """The type of `message`."""
    role: Literal["user", "assistant"]
    content: NotRequired[str]
    blocks: NotRequired[List[Dict[str, Any]]]


class HistoryReply(ContextReply):
    """The fields of replies that may replace the history."""
    # With `mutate`: the new history. Each message has a `role` and `content` or `blocks`; the last one is a user message.
    messages: NotRequired[List[ReplyMessage]]
    # With `callback`: the name of the recipe.
    callback: NotRequired[str]
    # With `callback`: the arguments of the recipe, all strings.
    callback_args: NotRequired[Dict[str, str]]


class AfterTurnReply(HistoryReply):
    """A reply to `after_turn`."""
    # `mutate` replaces the history with `messages`; `callback` runs a recipe on it; `continue`, which is optional, goes with
    # `follow_up_messages`.
    result: NotRequired[Literal["mutate", "callback"]]


class FinalMessage(TypedDict):
    """The last response; `null` if it has no text."""
    # Always `assistant`.
    role: Literal["user", "assistant"]
    # The text.
    content: str


class BeforeStopPayload(HistoryPayload):
    """The payload of `before_stop`, which fires when the agent would stop: a response without tool calls, or the turn limit."""
    event_type: Literal["before_stop", "pre-agent-turn-stop"]
    # The reason why the agent stops: `no_tool_calls`, `tool_rejected` (all calls of the previous response were blocked) or `max_steps` (the
    # turn limit).
    stop_reason: Literal["no_tool_calls", "tool_rejected", "max_steps"]
    # The number of model responses since the last user message. Only if the agent provides it.
    step_count: NotRequired[int]
    # The last response; `null` if it has no text.
    final_message: Union[FinalMessage, None]
    # `true` if the agent is running because a hook made it continue.
    stop_hook_active: bool
    # The number of times in a row that hooks made the agent continue.
    continuation_count: int


class BeforeStopReply(HistoryReply):
    """A reply to `before_stop`."""
    # `mutate` replaces the history with `messages`; `callback` runs a recipe on it; `continue`, which is optional, goes with
    # `follow_up_messages`.
    result: NotRequired[Literal["continue", "mutate", "callback"]]
    # Messages with which the agent continues instead of stopping.
    follow_up_messages: NotRequired[List[str]]


class AfterAgentPayload(Payload):
    """The payload of `after_agent`, which fires when the agent is done with one user message."""
    event_type: Literal["after_agent", "post-agent-turn"]
    # The last text of the model.
    response: str


class AfterAgentReply(Reply):
    """A reply to `after_agent`."""


class SubagentPayload(Payload):
    """The fields of the payloads of a subagent's events."""
    # The subagent's name.
    subagent_name: str
    # The subagent's type.
    subagent_type: str
    # The subagent's task.
    task_description: str


class SubagentStartPayload(SubagentPayload):
    """The payload of `subagent_start`, which fires when a subagent is about to start."""
    event_type: Literal["subagent_start", "pre-subagent"]


class SubagentStartReply(Reply):
    """A reply to `subagent_start`."""


class SubagentStopPayload(SubagentPayload):
    """The payload of `subagent_stop`, which fires when a subagent ended."""
    event_type: Literal["subagent_stop", "post-subagent"]
    # The last text of the model.
    response: str


class SubagentStopReply(Reply):
    """A reply to `subagent_stop`."""


class CompactionPayload(Payload):
    """The fields of the payloads of a compaction's events."""
    # The cause of the compaction: `auto` (the threshold), `manual` (the user), `hook`, or `overflow` (a request was too long for the model).
    trigger: Literal["auto", "manual", "hook", "overflow"]
    # The size of the history before, in tokens. Only if the agent provides it.
    tokens_before: NotRequired[int]


class PreCompactPayload(CompactionPayload):
    """The payload of `pre_compact`, which fires when history is about to be replaced by a summary."""
    event_type: Literal["pre_compact", "pre-context-compact"]


class PreCompactReply(ContextReply):
    """A reply to `pre_compact`."""


class PostCompactPayload(CompactionPayload):
    """The payload of `post_compact`, which fires when history was replaced by a summary."""
    event_type: Literal["post_compact", "post-context-compact"]
    # The size of the history after, in tokens. Only if the agent provides it.
    tokens_after: NotRequired[int]


class PostCompactReply(Reply):
    """A reply to `post_compact`."""


class SessionEndPayload(Payload):
    """The payload of `session_end`, which fires once, last, also after an error or Ctrl-C."""
    event_type: Literal["session_end", "post-session"]
    # The duration of the session, in seconds. Only if the agent provides it.
    duration_seconds: NotRequired[int]
    # The number of model responses in the session. Only if the agent provides it.
    total_steps: NotRequired[int]
    # The reason why the session ends: `done`, `user_exit`, `interrupted`, `blocked`, `max_turns` or `error`.
    exit_reason: Literal["done", "user_exit", "interrupted", "blocked", "max_turns", "error"]


class SessionEndReply(Reply):
    """A reply to `session_end`."""

# --- end of the generated part ---
