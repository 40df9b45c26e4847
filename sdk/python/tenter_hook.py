"""Write Tenter hooks in Python. One module, standard library only, Python 3.9 or newer.

    from tenter_hook import Hook, deny

    hook = Hook()

    @hook.before_tool
    def check(payload):
        if "sudo" in payload["tool_input"].get("command", ""):
            return deny("no sudo here")

    hook.run()

`Hook.run` runs the hook in the form in which it was started: once for an event, or, with the argument `serve`, for many
events in one process. Whatever the hook prints goes to stderr, which is its log.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Literal,
    NamedTuple,
    Optional,
    Tuple,
    TypedDict,
    TypeVar,
    Union,
)

PROTOCOL = 1
MAX_LINE = 1 << 20
MAX_CONVERSATIONS = 256

P = TypeVar("P")
R = TypeVar("R")
Handler = Union[Callable[[P], Optional[R]], Callable[[P, "Call"], Optional[R]]]

# --- generated: events, payloads and replies ---

#: Every spelling of an event, with its name.
EVENTS: Dict[str, str] = {
    "session_start": "session_start",
    "pre-session": "session_start",
    "before_agent": "before_agent",
    "pre-agent-turn": "before_agent",
    "user_message_send": "before_agent",
    "before_tool": "before_tool",
    "pre-tool-call": "before_tool",
    "before_tool_call": "before_tool",
    "after_tool": "after_tool",
    "post-tool-call": "after_tool",
    "after_tool_call": "after_tool",
    "after_tool_failure": "after_tool_failure",
    "post-tool-call-failure": "after_tool_failure",
    "after_turn": "after_turn",
    "turn_end": "after_turn",
    "before_stop": "before_stop",
    "pre-agent-turn-stop": "before_stop",
    "agent_stop": "before_stop",
    "after_agent": "after_agent",
    "post-agent-turn": "after_agent",
    "subagent_start": "subagent_start",
    "pre-subagent": "subagent_start",
    "subagent_stop": "subagent_stop",
    "post-subagent": "subagent_stop",
    "pre_compact": "pre_compact",
    "pre-context-compact": "pre_compact",
    "post_compact": "post_compact",
    "post-context-compact": "post_compact",
    "session_end": "session_end",
    "post-session": "session_end",
}
#: What an executable hook prints for an event.
EXECUTABLE_EVENTS: Dict[str, str] = {
    "before_agent": "user_message_send",
    "before_tool": "before_tool_call",
    "after_tool": "after_tool_call",
    "after_tool_failure": "after_tool_call",
    "after_turn": "after_turn",
    "before_stop": "agent_stop",
}

if TYPE_CHECKING:
    from typing_extensions import NotRequired

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
        # The recipe that the agent was started with. A plugin's hook reads the short name of a recipe of its
        # own plugin. Only with a recipe.
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
        # The tool's input in the agent's own fields. Only if it differs from `tool_input`; not for a manifest
        # hook with `payload: light`.
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
        """The payload of `session_start`, which fires once, before the first user message of a process on a
        conversation."""
        event_type: Literal["session_start", "pre-session"]
        # The model, as `--model` names it. Only if the agent provides it.
        model: NotRequired[str]
        # The start of the agent: `ui` (`run` or `chat`) and `agent`.
        args: Dict[str, Any]


    class Reply(TypedDict):
        """The fields of every reply, except that a call of a tool also has the decision `ask`."""
        # `deny` blocks or, where nothing can be blocked, gives the model the reason. `ask` lets the user
        # decide. `confine` runs the call with fewer rights. `allow` permits; another hook may still deny.
        # `block` and `approve` are accepted for `deny` and `allow`.
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
        """The source of its input: the indices of `commands`, a `text`, or a `file`. Only if it is not
        inherited."""
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
        """A command that the text would run. A wrapper such as `sudo` is a command of its own, before the
        command that it runs."""
        # The program's base name, without `.exe`.
        program: str
        # The program as written. Only if that contains a slash.
        path: NotRequired[str]
        # The first operand after the global options, such as `push` for `git`. Only for programs that have
        # subcommands.
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
        # The programs and constructs that run the command, outermost first: wrappers such as `sudo`,
        # interpreters such as `bash`, and `substitution`, `process`, `function`, `alias`, `coproc`. Only if
        # there are any.
        via: NotRequired[List[str]]
        # The source of its input: the indices of `commands`, a `text`, or a `file`. Only if it is not
        # inherited.
        stdin_from: NotRequired[StdinFrom]
        # Its own redirections, not of wrappers and blocks around the command. Only if there are any.
        redirects: NotRequired[List[Redirect]]
        # The command as written.
        text: str
        # The machine or container that it runs on: `local`, `remote` (as with `ssh`), or `container` (as with
        # `docker exec`).
        where: Literal["local", "remote", "container"]
        # The parts of the command that are not known before it runs: `program`, `cwd`, and indices of `args`.
        # Only if there are any.
        uncertain: NotRequired[List[Any]]


    class Path(TypedDict):
        """A path that a command would touch."""
        # The absolute path, without symlinks and `..`.
        path: str
        # The path as written.
        given: str
        # The operation on it: `read`, `write`, `create`, `delete`, `move`, `execute`, `link`, `mode`
        # (permissions or owner), or `list` (search a directory). File tools write files that they create.
        op: Literal["read", "write", "create", "delete", "move", "execute", "link", "mode", "list"]
        # `true` if everything below the path is included. Only if `true`.
        recursive: NotRequired[bool]
        # The place: in the `project`, a `temp` directory, the `home` directory, elsewhere (`system`), a
        # `device`, or on a `remote` machine.
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
        # The tool's name. A manifest hook reads the name that its matcher matched, for example `Shell` for
        # `bash`.
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
        # `true` if a part of the commands could not be read: bash would reject it, or it exceeds a limit.
        # Only if `true`.
        unparsed: NotRequired[bool]


    class BeforeToolPayload(ToolPayload):
        """The payload of `before_tool`, which fires before a tool runs."""
        event_type: Literal["before_tool", "pre-tool-call"]


    class Network(TypedDict):
        """The hosts that these rules allow, over HTTP and HTTPS, and a loopback interface of its own."""
        allow: List[str]


    class Confine(TypedDict):
        """Runs the call with fewer rights, which the operating system keeps: `write` (the only places that may
        be written), `read_not` (what may not be read), `network`, or a `profile`. `{}` is the profile
        `standard`. All confinements of all hooks apply."""
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
        # `deny` blocks or, where nothing can be blocked, gives the model the reason. `ask` lets the user
        # decide. `confine` runs the call with fewer rights. `allow` permits; another hook may still deny.
        # `block` and `approve` are accepted for `deny` and `allow`.
        decision: NotRequired[Literal["allow", "deny", "ask", "confine", "approve", "block"]]
        # Why. The model or the user reads it.
        reason: NotRequired[str]
        # Runs the call with fewer rights, which the operating system keeps: `write` (the only places that may
        # be written), `read_not` (what may not be read), `network`, or a `profile`. `{}` is the profile
        # `standard`. All confinements of all hooks apply.
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
        # The data of the result. The text that the model reads is made from it. Not if the tool failed
        # without a result.
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
        # The new result. With `toolName` and `success` it is a complete result; otherwise it replaces the
        # fields that it has. `metadata` is always replaced as a whole.
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


    class Result(TypedDict):
        """The result, like `tool_output`. Only for `tool_result`."""
        # The tool's own name.
        toolName: str
        # `true` if the tool succeeded; `null` if the agent does not know.
        success: Union[bool, None]
        # The error message. Only after a failure.
        error: NotRequired[str]
        # The type of `metadata`: `bash`, `file_read`, `blocked`, … Only with `metadata`.
        metadataType: NotRequired[str]
        # The data of the result. The text that the model reads is made from it. Not if the tool failed
        # without a result.
        metadata: NotRequired[Dict[str, Any]]
        # The time when the tool finished, as RFC 3339 in UTC.
        timestamp: str


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
        result: NotRequired[Result]


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
        """The payload of `after_turn`, which fires after every model response, once the tool results of that
        response (if any) are recorded."""
        event_type: Literal["after_turn"]
        # The number of model responses since the last user message. Only if the agent provides it.
        turn_number: NotRequired[int]
        # The number of model responses in the whole conversation. Only if the agent provides it.
        session_turn: NotRequired[int]
        # `true` if the response called tools.
        tools_used: bool
        # The text of the response.
        response: str


    class AfterTurnReplyMessage(TypedDict):
        """The type of `message`."""
        role: Literal["user", "assistant"]
        content: NotRequired[str]
        blocks: NotRequired[List[Dict[str, Any]]]


    class HistoryReply(ContextReply):
        """The fields of replies that may replace the history."""
        # With `callback`: the name of the recipe.
        callback: NotRequired[str]
        # With `callback`: the arguments of the recipe, all strings.
        callback_args: NotRequired[Dict[str, str]]


    class AfterTurnReply(HistoryReply):
        """A reply to `after_turn`."""
        # `mutate` replaces the history with `messages`; `callback` runs a recipe on it; `continue`, which is
        # optional, goes with `follow_up_messages`.
        result: NotRequired[Literal["mutate", "callback"]]
        # With `mutate`: the new history. Each message has a `role` and `content` or `blocks`; the last one is
        # a user message.
        messages: NotRequired[List[AfterTurnReplyMessage]]


    class FinalMessage(TypedDict):
        """The last response; `null` if it has no text."""
        # Always `assistant`.
        role: Literal["user", "assistant"]
        # The text.
        content: str


    class BeforeStopPayload(HistoryPayload):
        """The payload of `before_stop`, which fires when the agent would stop: a response without tool calls,
        or the turn limit."""
        event_type: Literal["before_stop", "pre-agent-turn-stop"]
        # The reason why the agent stops: `no_tool_calls`, `tool_rejected` (all calls of the previous response
        # were blocked) or `max_steps` (the turn limit).
        stop_reason: Literal["no_tool_calls", "tool_rejected", "max_steps"]
        # The number of model responses since the last user message. Only if the agent provides it.
        step_count: NotRequired[int]
        # The last response; `null` if it has no text.
        final_message: Union[FinalMessage, None]
        # `true` if the agent is running because a hook made it continue.
        stop_hook_active: bool
        # The number of times in a row that hooks made the agent continue.
        continuation_count: int


    class BeforeStopReplyMessage(TypedDict):
        """The type of `message`."""
        role: Literal["user", "assistant"]
        content: NotRequired[str]
        blocks: NotRequired[List[Dict[str, Any]]]


    class BeforeStopReply(HistoryReply):
        """A reply to `before_stop`."""
        # `mutate` replaces the history with `messages`; `callback` runs a recipe on it; `continue`, which is
        # optional, goes with `follow_up_messages`.
        result: NotRequired[Literal["continue", "mutate", "callback"]]
        # With `mutate`: the new history. Each message has a `role` and `content` or `blocks`; the last one is
        # a user message.
        messages: NotRequired[List[BeforeStopReplyMessage]]
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
        # The cause of the compaction: `auto` (the threshold), `manual` (the user), `hook`, or `overflow` (a
        # request was too long for the model).
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
        # The reason why the session ends: `done`, `user_exit`, `interrupted`, `blocked`, `max_turns` or
        # `error`.
        exit_reason: Literal["done", "user_exit", "interrupted", "blocked", "max_turns", "error"]


    class SessionEndReply(Reply):
        """A reply to `session_end`."""

else:

    def __getattr__(name: str) -> Any:
        if name[:1].isupper():
            return dict
        raise AttributeError(f"module 'tenter_hook' has no attribute {name!r}")


class _Events:
    def _on(self, event: str, handler: Any) -> Any:
        raise NotImplementedError

    def session_start(self, handler: Handler[SessionStartPayload, SessionStartReply]) -> Handler[SessionStartPayload, SessionStartReply]:
        """Registers the function for `session_start`, which fires once, before the first user message of a process on a conversation."""
        return self._on("session_start", handler)

    def before_agent(self, handler: Handler[BeforeAgentPayload, BeforeAgentReply]) -> Handler[BeforeAgentPayload, BeforeAgentReply]:
        """Registers the function for `before_agent`, which fires when a user message is about to be added."""
        return self._on("before_agent", handler)

    def before_tool(self, handler: Handler[BeforeToolPayload, BeforeToolReply]) -> Handler[BeforeToolPayload, BeforeToolReply]:
        """Registers the function for `before_tool`, which fires before a tool runs."""
        return self._on("before_tool", handler)

    def after_tool(self, handler: Handler[AfterToolPayload, AfterToolReply]) -> Handler[AfterToolPayload, AfterToolReply]:
        """Registers the function for `after_tool`, which fires after a tool succeeded."""
        return self._on("after_tool", handler)

    def after_tool_failure(self, handler: Handler[AfterToolFailurePayload, AfterToolFailureReply]) -> Handler[AfterToolFailurePayload, AfterToolFailureReply]:
        """Registers the function for `after_tool_failure`, which fires after a tool failed or was blocked."""
        return self._on("after_tool_failure", handler)

    def after_turn(self, handler: Handler[AfterTurnPayload, AfterTurnReply]) -> Handler[AfterTurnPayload, AfterTurnReply]:
        """Registers the function for `after_turn`, which fires after every model response, once the tool results of that response (if any) are recorded."""
        return self._on("after_turn", handler)

    def before_stop(self, handler: Handler[BeforeStopPayload, BeforeStopReply]) -> Handler[BeforeStopPayload, BeforeStopReply]:
        """Registers the function for `before_stop`, which fires when the agent would stop: a response without tool calls, or the turn limit."""
        return self._on("before_stop", handler)

    def after_agent(self, handler: Handler[AfterAgentPayload, AfterAgentReply]) -> Handler[AfterAgentPayload, AfterAgentReply]:
        """Registers the function for `after_agent`, which fires when the agent is done with one user message."""
        return self._on("after_agent", handler)

    def subagent_start(self, handler: Handler[SubagentStartPayload, SubagentStartReply]) -> Handler[SubagentStartPayload, SubagentStartReply]:
        """Registers the function for `subagent_start`, which fires when a subagent is about to start."""
        return self._on("subagent_start", handler)

    def subagent_stop(self, handler: Handler[SubagentStopPayload, SubagentStopReply]) -> Handler[SubagentStopPayload, SubagentStopReply]:
        """Registers the function for `subagent_stop`, which fires when a subagent ended."""
        return self._on("subagent_stop", handler)

    def pre_compact(self, handler: Handler[PreCompactPayload, PreCompactReply]) -> Handler[PreCompactPayload, PreCompactReply]:
        """Registers the function for `pre_compact`, which fires when history is about to be replaced by a summary."""
        return self._on("pre_compact", handler)

    def post_compact(self, handler: Handler[PostCompactPayload, PostCompactReply]) -> Handler[PostCompactPayload, PostCompactReply]:
        """Registers the function for `post_compact`, which fires when history was replaced by a summary."""
        return self._on("post_compact", handler)

    def session_end(self, handler: Handler[SessionEndPayload, SessionEndReply]) -> Handler[SessionEndPayload, SessionEndReply]:
        """Registers the function for `session_end`, which fires once, last, also after an error or Ctrl-C."""
        return self._on("session_end", handler)


# --- end of the generated part ---


# Replies. Combine them with `|`.


def allow(reason: Optional[str] = None) -> Dict[str, Any]:
    """Allows what is about to happen. Another hook may still deny it."""
    return {"decision": "allow"} if reason is None else {"decision": "allow", "reason": reason}


def deny(reason: str) -> Dict[str, Any]:
    """Denies what is about to happen, or gives the model the reason where nothing can be denied."""
    return {"decision": "deny", "reason": reason}


def ask_user(reason: str) -> Dict[str, Any]:
    """Lets the user decide whether the tool may run."""
    return {"decision": "ask", "reason": reason}


def context(text: str) -> Dict[str, Any]:
    """Adds text that the model reads."""
    return {"additional_context": text}


def modify_input(tool_input: Dict[str, Any]) -> Dict[str, Any]:
    """Lets the tool run with this complete input."""
    return {"modified_input": tool_input}


def modify_output(tool_output: Dict[str, Any]) -> Dict[str, Any]:
    """Replaces fields of the tool's result, or all of it."""
    return {"modified_output": tool_output}


def modify_prompt(prompt: str) -> Dict[str, Any]:
    """Replaces the user's message."""
    return {"modified_prompt": prompt}


def follow_up(*messages: str) -> Dict[str, Any]:
    """Lets the agent continue with these messages instead of stopping."""
    return {"follow_up_messages": list(messages)}


def replace_history(messages: List[Dict[str, Any]]) -> Dict[str, Any]:
    """Replaces the history."""
    return {"result": "mutate", "messages": messages}


def run_recipe(name: str, **args: str) -> Dict[str, Any]:
    """Runs a recipe on the history."""
    return {"result": "callback", "callback": name, "callback_args": args}


# Services.


class ServiceError(Exception):
    """Why a service was not provided. `name` is `unsupported`, `limit`, `no_request`, `cancelled`, `refused`, `conflict`,
    `invalid_params` or `failed`."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class CompletionUsage(TypedDict):
    """What an answer of the model cost."""

    input_tokens: int
    output_tokens: int
    cost_usd: float


class Completion(NamedTuple):
    """An answer of the model."""

    text: str
    usage: CompletionUsage


Scope = Literal["session", "project"]


class State:
    """Values that a hook keeps between runs, for a conversation or for the project. Changes are atomic across processes."""

    def __init__(self, call: "Call") -> None:
        self._call = call

    def get(self, key: str, default: Any = None, scope: Scope = "session") -> Any:
        """A value, or `default` if there is none."""
        value, version = self.get_with_version(key, scope)
        return value if version else default

    def get_with_version(self, key: str, scope: Scope = "session") -> Tuple[Any, int]:
        """A value and its version, which is 0 if there is none."""
        found = self._call._request("state.get", {"key": key, "scope": scope})
        return found.get("value"), found.get("version", 0)

    def set(self, key: str, value: Any, scope: Scope = "session", if_version: Optional[int] = None) -> int:
        """Sets a value and returns its version. With `if_version`, another version is the error `conflict`."""
        params = {"key": key, "scope": scope, "value": value}
        if if_version is not None:
            params["if_version"] = if_version
        return self._call._request("state.set", params)["version"]

    def add(self, key: str, by: float = 1, scope: Scope = "session") -> Any:
        """Adds to a number, which is 0 if there is none, and returns the sum."""
        return self._call._request("state.add", {"key": key, "scope": scope, "by": by})["value"]

    def delete(self, key: str, scope: Scope = "session") -> None:
        """Deletes a value."""
        self._call._request("state.delete", {"key": key, "scope": scope})


Send = Callable[[str, Dict[str, Any]], Dict[str, Any]]


class Call:
    """The call of a handler: services of the agent, which `metadata.services` must list, and memory."""

    def __init__(self, send: Send, memory: Dict[str, Any], services: Iterable[str] = ()) -> None:
        self._send = send
        self._cancelled = threading.Event()
        #: What the hook remembers of this conversation, as long as its process lives.
        self.memory = memory
        #: The services that the hook may use.
        self.services = frozenset(services)
        self.state = State(self)

    @property
    def cancelled(self) -> bool:
        """Whether the reply is not needed any more: the hook timed out, or the agent was interrupted."""
        return self._cancelled.is_set()

    def history(
        self, last: Optional[int] = None, light: bool = False, conv_id: Optional[str] = None
    ) -> List[Dict[str, Any]]:
        """The messages of the conversation, oldest first; `light` shortens the results of tools."""
        params: Dict[str, Any] = {"light": True} if light else {}
        params.update({key: value for key, value in (("last", last), ("conv_id", conv_id)) if value is not None})
        return self._request("history.get", params)["messages"]

    def model(
        self,
        prompt: str,
        system: Optional[str] = None,
        max_tokens: Optional[int] = None,
        model: Literal["default", "weak"] = "default",
    ) -> Completion:
        """Asks the model, without tools."""
        params: Dict[str, Any] = {"prompt": prompt, "model": model}
        params.update(
            {key: value for key, value in (("system", system), ("max_tokens", max_tokens)) if value is not None}
        )
        result = self._request("model.complete", params)
        return Completion(result["text"], result["usage"])

    def ask(self, question: str, choices: Iterable[str] = ()) -> str:
        """Asks the user. The hook's time stands still meanwhile."""
        params: Dict[str, Any] = {"question": question}
        if listed := list(choices):
            params["choices"] = listed
        return self._request("ask", params)["answer"]

    def notify(self, text: str) -> None:
        """Shows the user a line. Where that is impossible, the line is only in the hook's log."""
        try:
            self._request("notify", {"text": text})
        except ServiceError as error:
            print(f"{text} (not shown: {error})", file=sys.stderr)

    def _request(self, method: str, params: Dict[str, Any]) -> Dict[str, Any]:
        return self._send(method, params)


def _no_services(_method: str, _params: Dict[str, Any]) -> Dict[str, Any]:
    raise ServiceError("unsupported", "services need a runtime hook: write `metadata.runtime: serve` in the HOOK.md")


# Hooks.


class Hook(_Events):
    """A hook: register a function for each event, then call `run`.

    With a `concurrency` of more than 1, as many events of parallel tool calls are handled at once, each in a thread.
    """

    def __init__(self, concurrency: int = 1) -> None:
        if not 1 <= concurrency <= 16:
            raise ValueError("concurrency must be 1 to 16")
        self.concurrency = concurrency
        self._handlers: Dict[str, Callable[..., Any]] = {}
        self._memory: Dict[str, Dict[str, Any]] = {}
        self._lock = threading.Lock()

    def _on(self, event: str, handler: Any) -> Any:
        self._handlers[event] = handler
        return handler

    def run(self, argv: Optional[List[str]] = None) -> None:
        """Runs the hook as its arguments say, and exits."""
        arguments = sys.argv[1:] if argv is None else argv
        # What the hook and its child processes print goes to stderr.
        out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        sys.stdout.flush()
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        if arguments == ["serve"]:
            _Server(self, out).serve()
        elif arguments == ["hook"]:
            _write(out, "\n".join(self._subscriptions()))
        else:
            payload = json.loads(sys.stdin.buffer.read().decode("utf-8", "replace"))
            reply = self.handle(payload)
            if reply:
                _write(out, _line(reply))
        out.close()
        sys.exit(0)

    def handle(self, payload: Dict[str, Any], call: Optional[Call] = None) -> Optional[Dict[str, Any]]:
        """Calls the handler of the payload's event. Returns its reply, in the form of the payload's protocol."""
        spelling = payload.get("event_type") or payload.get("event") or ""
        event = EVENTS.get(spelling, spelling)
        if event == "after_tool" and payload.get("event") and not payload.get("tool_output", {}).get("success", True):
            event = "after_tool_failure" if "after_tool_failure" in self._handlers else event
        handler = self._handlers.get(event)
        if handler is None:
            return None
        is_executable = "event_type" not in payload
        if is_executable:
            payload = _with_manifest_fields(payload, event)
        if call is None:
            call = Call(_no_services, self._memory_of(payload))
        reply = handler(payload, call) if _takes_call(handler) else handler(payload)
        if event == "session_end":
            self._memory.pop(payload.get("session_id", ""), None)
        if reply is not None and not isinstance(reply, dict):
            raise TypeError(f"the handler of {event} returned {type(reply).__name__} instead of a dict or None")
        return _for_executable(reply, event) if is_executable and reply else reply

    def _memory_of(self, payload: Dict[str, Any]) -> Dict[str, Any]:
        conversation = payload.get("session_id") or payload.get("conv_id") or ""
        with self._lock:
            memory = self._memory.pop(conversation, {})
            self._memory[conversation] = memory
            while len(self._memory) > MAX_CONVERSATIONS:
                self._memory.pop(next(iter(self._memory)))
            return memory

    def _subscriptions(self) -> List[str]:
        """What an executable hook prints when it is asked for its events."""
        found = []
        for event in self._handlers:
            spelling = EXECUTABLE_EVENTS.get(event)
            if spelling is None:
                print(f"executable hooks have no event {event}; write a HOOK.md", file=sys.stderr)
                sys.exit(1)
            if spelling not in found:
                found.append(spelling)
        return found + (["serve"] if os.environ.get("TENTER_SERVE") == "1" else [])


def _takes_call(handler: Callable[..., Any]) -> bool:
    """Whether a handler has a second parameter."""
    code = getattr(handler, "__code__", None)
    if code is not None:
        return code.co_argcount - hasattr(handler, "__self__") > 1
    import inspect  # It takes long to load.

    return len(inspect.signature(handler).parameters) > 1


def _with_manifest_fields(payload: Dict[str, Any], event: str) -> Dict[str, Any]:
    """The payload of an executable hook with the names that manifest hooks read, too."""
    names = {"session_id": "conv_id", "work_dir": "cwd", "tool_use_id": "tool_user_id", "prompt": "message"}
    found = {new: payload[old] for new, old in names.items() if old in payload}
    return {**payload, **found, "event_type": event}


def _for_executable(reply: Dict[str, Any], event: str) -> Dict[str, Any]:
    """The reply in the form that executable hooks print."""
    names = {"modified_input": "input", "modified_output": "output", "modified_prompt": "message"}
    result = {names.get(key, key): value for key, value in reply.items()}
    decision, log = result.pop("decision", None), result.pop("log", None)
    if log is not None:
        print(log, file=sys.stderr)
    if event in ("before_agent", "before_tool"):
        if decision == "ask":
            raise ValueError("an executable hook cannot reply `ask`; write a HOOK.md")
        if decision is not None:
            result["blocked"] = decision in ("deny", "block")
    elif decision is not None:
        reason = result.pop("reason", None)
        if decision in ("deny", "block") and reason:
            key = "follow_up_messages" if event == "before_stop" else "additional_context"
            result.setdefault(key, [reason] if event == "before_stop" else reason)
    return result


def _line(message: Any) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def _write(out: IO[str], line: str) -> None:
    out.write(line + "\n")
    out.flush()


class _Waiting:
    """A request to the agent that was not answered yet."""

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.message: Dict[str, Any] = {}


class _Server:
    """Answers the requests of the agent, one line each, until stdin ends."""

    def __init__(self, hook: Hook, out: IO[str]) -> None:
        self.hook = hook
        self.out = out
        self.services: List[str] = []
        self.lock = threading.Lock()
        self.last_id = 0
        self.waiting: Dict[int, _Waiting] = {}
        self.calls: Dict[Any, Call] = {}
        self.requests: "queue.Queue[Tuple[Any, Dict[str, Any], Call]]" = queue.Queue()

    def serve(self) -> None:
        for _ in range(self.hook.concurrency):
            threading.Thread(target=self._work, daemon=True).start()
        for line in sys.stdin.buffer:
            if line.strip():
                self._receive(line)

    def _receive(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode("utf-8"))
        except ValueError as error:
            return self._fail(None, -32700, f"the line is not JSON: {error}")
        if not isinstance(message, dict):
            return self._fail(None, -32600, "a message must be an object; batches are not supported")
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            return self._answered(message)
        if method == "initialize":
            return self._initialize(message["id"], params)
        if method == "cancel":
            call = self.calls.get(params.get("id"))
            if call is not None:
                call._cancelled.set()
            return None
        if "id" not in message:
            return None
        if method not in EVENTS:
            return self._fail(message["id"], -32601, f"there is no method {method!r}")
        number = message["id"]

        def send(service: str, values: Dict[str, Any]) -> Dict[str, Any]:
            return self._request(service, {"request": number, **values})

        call = Call(send, self.hook._memory_of(params), self.services)
        self.calls[number] = call
        self.requests.put((number, params, call))
        return None

    def _initialize(self, number: Any, params: Dict[str, Any]) -> None:
        self.services = params.get("services", [])
        self._send({"id": number, "result": {"protocol": PROTOCOL, "concurrency": self.hook.concurrency}})

    def _answered(self, message: Dict[str, Any]) -> None:
        with self.lock:
            waiting = self.waiting.pop(message.get("id"), None)
        if waiting is not None:
            waiting.message = message
            waiting.answered.set()

    def _work(self) -> None:
        while True:
            number, payload, call = self.requests.get()
            try:
                self._send({"id": number, "result": self.hook.handle(payload, call)})
            except ServiceError as error:
                self._fail(number, -32603, f"the service failed: {error}", {"name": error.name})
            except BaseException as error:  # noqa: BLE001 - whatever a handler does must not end this thread
                import traceback  # It takes long to load.

                traceback.print_exc()
                self._fail(number, -32603, f"{type(error).__name__}: {error}")
            finally:
                self.calls.pop(number, None)

    def _request(self, method: str, params: Dict[str, Any]) -> Dict[str, Any]:
        waiting = _Waiting()
        with self.lock:
            self.last_id += 1
            number = self.last_id
            self.waiting[number] = waiting
        self._send({"id": number, "method": method, "params": params})
        waiting.answered.wait()
        error = waiting.message.get("error")
        if error is not None:
            name = (error.get("data") or {}).get("name", "failed")
            raise ServiceError(name, error.get("message", ""))
        return waiting.message.get("result") or {}

    def _fail(self, number: Any, code: int, message: str, data: Optional[Dict[str, Any]] = None) -> None:
        error: Dict[str, Any] = {"code": code, "message": message[:4000]}
        if data is not None:
            error["data"] = data
        self._send({"id": number, "error": error})

    def _send(self, message: Dict[str, Any]) -> None:
        line = _line({"jsonrpc": "2.0", **message})
        if len(line.encode("utf-8", "replace")) >= MAX_LINE:
            if "method" in message:
                with self.lock:
                    self.waiting.pop(message["id"], None)
                raise ServiceError("limit", "the request is longer than 1 MiB")
            error = {"code": -32603, "message": "the reply is longer than 1 MiB"}
            line = _line({"jsonrpc": "2.0", "id": message["id"], "error": error})
        with self.lock:
            try:
                _write(self.out, line)
            except BrokenPipeError:
                os._exit(0)


# Tests.


class HookTest:
    """Runs the handlers of a hook in a test, without an agent.

    `model` and `ask` answer `call.model` and `call.ask`: a text, or a function of the prompt or the question. `history` is
    what `call.history` returns. State is kept in memory, and `notices` are the lines for the user.
    """

    def __init__(
        self,
        hook: Hook,
        model: Union[None, str, Callable[[str], str]] = None,
        ask: Union[None, str, Callable[[str], str]] = None,
        history: Iterable[Dict[str, Any]] = (),
        cost_usd: float = 0.0,
    ) -> None:
        self.hook = hook
        self.notices: List[str] = []
        self.state: Dict[Tuple[str, str], Tuple[Any, int]] = {}
        self._model, self._ask, self._history, self._cost = model, ask, list(history), cost_usd

    def fire(self, event: str, **fields: Any) -> Optional[Dict[str, Any]]:
        """Fires an event whose payload has these fields, and returns the reply."""
        payload: Dict[str, Any] = {
            "event_type": event,
            "session_id": "test",
            "work_dir": os.getcwd(),
            "timestamp": "2026-01-01T00:00:00Z",
            "context": {"protocol_version": 1},
            "host": {"name": "test"},
        }
        if event in ("before_tool", "after_tool", "after_tool_failure"):
            payload.update({"tool_name": "bash", "tool_input": {}, "tool_use_id": "call-1", "tool_aliases": []})
        payload.update(fields)
        services = ["history", "model", "ask", "state", "notify"]
        return self.hook.handle(payload, Call(self._service, self.hook._memory_of(payload), services))

    def _service(self, method: str, params: Dict[str, Any]) -> Dict[str, Any]:
        if method == "history.get":
            messages = self._history if params.get("last") is None else self._history[-params["last"] :]
            return {"messages": _copied(messages)}
        if method == "model.complete":
            usage = {"input_tokens": 0, "output_tokens": 0, "cost_usd": self._cost}
            return {"text": _answer(self._model, params["prompt"], "model"), "usage": usage}
        if method == "ask":
            return {"answer": _answer(self._ask, params["question"], "user")}
        if method == "notify":
            self.notices.append(params["text"])
            return {}
        return self._change_state(method, params)

    def _change_state(self, method: str, params: Dict[str, Any]) -> Dict[str, Any]:
        key = (params["scope"], params["key"])
        value, version = self.state.get(key, (None, 0))
        if params.get("if_version", version) != version:
            raise ServiceError("conflict", f"the version is {version}")
        if method == "state.delete":
            self.state.pop(key, None)
            return {"value": None, "version": 0}
        if method != "state.get":
            value = params["value"] if method == "state.set" else (value or 0) + params["by"]
            version += 1
            self.state[key] = (_copied(value), version)
        return {"value": _copied(value), "version": version}


def _copied(value: Any) -> Any:
    """The value as it would be on the wire."""
    return json.loads(json.dumps(value))


def _answer(given: Union[None, str, Callable[[str], str]], asked: str, who: str) -> str:
    if given is None:
        raise ServiceError("unsupported", f"the test has no {who}")
    return given(asked) if callable(given) else given
