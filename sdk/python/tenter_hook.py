"""Write Tenter hooks in Python. Needs only the standard library of Python 3.9 or newer. `tenter_hook_types.py` has the types.

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
    from tenter_hook_types import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        if name[:1].isupper():
            return dict
        raise AttributeError(f"module 'tenter_hook' has no attribute {name!r}")


class _Events:
    def _on(self, event: str, handler: R) -> R:
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
        return int(self._call._request("state.set", params)["version"])

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
        return list(self._request("history.get", params)["messages"])

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
        return str(self._request("ask", params)["answer"])

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
        self._handlers: Dict[str, Any] = {}
        self._memory: Dict[str, Dict[str, Any]] = {}
        self._lock = threading.Lock()

    def _on(self, event: str, handler: R) -> R:
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
        return bool(code.co_argcount - hasattr(handler, "__self__") > 1)
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
        self.waiting: Dict[Any, _Waiting] = {}
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
