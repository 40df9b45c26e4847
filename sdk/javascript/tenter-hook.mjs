/**
 * Write Tenter hooks in JavaScript. One module, no dependencies, Node 18 or newer.
 *
 *     import { Hook, deny } from "./tenter-hook.mjs";
 *
 *     const hook = new Hook();
 *     hook.beforeTool((payload) => {
 *       if (payload.tool_input.command?.includes("sudo")) return deny("no sudo here");
 *     });
 *     hook.run();
 *
 * `Hook.run` runs the hook in the form in which it was started: once for an event, or, with the argument `serve`, for many
 * events in one process. Whatever the hook logs goes to stderr. Child processes must not inherit its stdout.
 */

import { realpathSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { format } from "node:util";

const PROTOCOL = 1;
const MAX_LINE = 1 << 20;
const MAX_CONVERSATIONS = 256;

// --- generated: events ---

/** Every spelling of an event, with its name. */
export const EVENTS = {
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
};
/** What an executable hook prints for an event. */
export const EXECUTABLE_EVENTS = {
  before_agent: "user_message_send",
  before_tool: "before_tool_call",
  after_tool: "after_tool_call",
  after_tool_failure: "after_tool_call",
  after_turn: "after_turn",
  before_stop: "agent_stop",
};
/** The method of `Hook` for an event. */
const METHODS = {
  session_start: "sessionStart",
  before_agent: "beforeAgent",
  before_tool: "beforeTool",
  after_tool: "afterTool",
  after_tool_failure: "afterToolFailure",
  after_turn: "afterTurn",
  before_stop: "beforeStop",
  after_agent: "afterAgent",
  subagent_start: "subagentStart",
  subagent_stop: "subagentStop",
  pre_compact: "preCompact",
  post_compact: "postCompact",
  session_end: "sessionEnd",
};

// --- end of the generated part ---

// Replies. Combine them with `{...one, ...other}`.

/** Allows what is about to happen. Another hook may still deny it. */
export const allow = (reason) => (reason === undefined ? { decision: "allow" } : { decision: "allow", reason });
/** Denies what is about to happen, or gives the model the reason where nothing can be denied. */
export const deny = (reason) => ({ decision: "deny", reason });
/** Lets the user decide whether the tool may run. */
export const askUser = (reason) => ({ decision: "ask", reason });
/** Adds text that the model reads. */
export const context = (text) => ({ additional_context: text });
/** Lets the tool run with this complete input. */
export const modifyInput = (input) => ({ modified_input: input });
/** Replaces fields of the tool's result, or all of it. */
export const modifyOutput = (output) => ({ modified_output: output });
/** Replaces the user's message. */
export const modifyPrompt = (prompt) => ({ modified_prompt: prompt });
/** Lets the agent continue with these messages instead of stopping. */
export const followUp = (...messages) => ({ follow_up_messages: messages });
/** Replaces the history. */
export const replaceHistory = (messages) => ({ result: "mutate", messages });
/** Runs a recipe on the history. */
export const runRecipe = (name, args = {}) => ({ result: "callback", callback: name, callback_args: args });

/** Why a service was not provided: see `name`. */
export class ServiceError extends Error {
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

/** The call of a handler: services of the agent, and memory. */
export class Call {
  #send;
  #abort = new AbortController();

  constructor(send, memory, services = []) {
    this.#send = send;
    this.memory = memory;
    this.services = new Set(services);
    this.state = {
      get: async (key, { scope = "session", fallback } = {}) => {
        const { value, version } = await this.state.getWithVersion(key, { scope });
        return version ? value : fallback;
      },
      getWithVersion: async (key, { scope = "session" } = {}) => {
        const { value = null, version = 0 } = await send("state.get", { key, scope });
        return { value, version };
      },
      set: async (key, value, { scope = "session", ifVersion } = {}) =>
        (await send("state.set", { key, scope, value, ...(ifVersion !== undefined && { if_version: ifVersion }) })).version,
      add: async (key, by = 1, { scope = "session" } = {}) => (await send("state.add", { key, scope, by })).value,
      delete: async (key, { scope = "session" } = {}) => {
        await send("state.delete", { key, scope });
      },
    };
  }

  /** Aborted when the reply is not needed any more. */
  get signal() {
    return this.#abort.signal;
  }

  /** Whether the reply is not needed any more. */
  get cancelled() {
    return this.#abort.signal.aborted;
  }

  /** Aborts the signal. */
  cancel() {
    this.#abort.abort();
  }

  async history({ last, light, convId } = {}) {
    const params = { last, light: light || undefined, conv_id: convId };
    return (await this.#send("history.get", params)).messages;
  }

  async model(prompt, { system, maxTokens, model = "default" } = {}) {
    return this.#send("model.complete", { prompt, system, max_tokens: maxTokens, model });
  }

  async ask(question, choices = []) {
    const params = choices.length ? { question, choices } : { question };
    return (await this.#send("ask", params)).answer;
  }

  async notify(text) {
    try {
      await this.#send("notify", { text });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      log(`${text} (not shown: ${error.message})`);
    }
  }
}

const noServices = async () => {
  throw new ServiceError("unsupported", "services need a runtime hook: write `metadata.runtime: serve` in the HOOK.md");
};

/** A hook: register a function for each event, then call `run`. */
export class Hook {
  #handlers = new Map();
  #memory = new Map();

  constructor({ concurrency = 1 } = {}) {
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 16) {
      throw new RangeError("concurrency must be 1 to 16");
    }
    this.concurrency = concurrency;
    for (const event of Object.keys(METHODS)) {
      this[METHODS[event]] = (handler) => {
        this.#handlers.set(event, handler);
        return this;
      };
    }
  }

  /** Runs the hook if the module with this `import.meta` is the program, so that a test can import the module. */
  async main(meta) {
    const program = process.argv[1];
    if (program && realpathSync(program) === realpathSync(fileURLToPath(meta.url))) await this.run();
  }

  /** Runs the hook as its arguments say, and exits. */
  async run(argv = process.argv.slice(2)) {
    const write = redirect();
    if (argv.length === 1 && argv[0] === "serve") {
      await new Server(this, write).serve();
      process.exit(0);
    } else if (argv.length === 1 && argv[0] === "hook") {
      await write(this.#subscriptions().join("\n"));
    } else {
      const chunks = [];
      for await (const chunk of process.stdin) chunks.push(chunk);
      const reply = await this.handle(JSON.parse(Buffer.concat(chunks).toString("utf8")));
      if (reply && Object.keys(reply).length) await write(JSON.stringify(reply));
    }
    process.exit(0);
  }

  /** Calls the handler of the payload's event. Returns its reply, in the form of the payload's protocol. */
  async handle(payload, call) {
    const spelling = payload.event_type ?? payload.event ?? "";
    let event = EVENTS[spelling] ?? spelling;
    const isExecutable = !("event_type" in payload);
    if (isExecutable && event === "after_tool" && payload.tool_output?.success === false) {
      if (this.#handlers.has("after_tool_failure")) event = "after_tool_failure";
    }
    const handler = this.#handlers.get(event);
    if (!handler) return null;
    const given = isExecutable ? withManifestFields(payload, event) : payload;
    const reply = (await handler(given, call ?? new Call(noServices, this.memoryOf(given)))) ?? null;
    if (event === "session_end") this.#memory.delete(given.session_id);
    if (reply !== null && (typeof reply !== "object" || Array.isArray(reply))) {
      throw new TypeError(`the handler of ${event} returned ${typeof reply} instead of an object or nothing`);
    }
    return isExecutable && reply ? forExecutable(reply, event) : reply;
  }

  /** What the hook remembers of the payload's conversation. */
  memoryOf(payload) {
    const conversation = payload.session_id ?? payload.conv_id ?? "";
    const memory = this.#memory.get(conversation) ?? {};
    this.#memory.delete(conversation);
    this.#memory.set(conversation, memory);
    if (this.#memory.size > MAX_CONVERSATIONS) this.#memory.delete(this.#memory.keys().next().value);
    return memory;
  }

  /** What an executable hook prints when it is asked for its events. */
  #subscriptions() {
    const found = new Set();
    for (const event of this.#handlers.keys()) {
      const spelling = EXECUTABLE_EVENTS[event];
      if (!spelling) {
        log(`executable hooks have no event ${event}; write a HOOK.md`);
        process.exit(1);
      }
      found.add(spelling);
    }
    return process.env.TENTER_SERVE === "1" ? [...found, "serve"] : [...found];
  }
}

/** Lets everything that is printed go to stderr. Returns a function that writes a line to stdout. */
function redirect() {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  for (const name of ["log", "info", "debug", "dir", "table"]) console[name] = console.error;
  process.stdout.on("error", () => process.exit(0));
  return (line) => new Promise((resolve) => write(`${line}\n`, resolve));
}

function log(...values) {
  process.stderr.write(`${format(...values)}\n`);
}

/** The payload of an executable hook with the names that manifest hooks read, too. */
function withManifestFields(payload, event) {
  const names = { session_id: "conv_id", work_dir: "cwd", tool_use_id: "tool_user_id", prompt: "message" };
  const found = Object.entries(names).filter(([, old]) => old in payload);
  return { ...payload, ...Object.fromEntries(found.map(([name, old]) => [name, payload[old]])), event_type: event };
}

/** The reply in the form that executable hooks print. */
function forExecutable({ decision, log: line, ...reply }, event) {
  const names = { modified_input: "input", modified_output: "output", modified_prompt: "message" };
  const result = Object.fromEntries(Object.entries(reply).map(([key, value]) => [names[key] ?? key, value]));
  if (line !== undefined) log(line);
  const denies = decision === "deny" || decision === "block";
  if (event === "before_agent" || event === "before_tool") {
    if (decision === "ask") throw new Error("an executable hook cannot reply `ask`; write a HOOK.md");
    if (decision !== undefined) result.blocked = denies;
  } else if (decision !== undefined) {
    const { reason } = result;
    delete result.reason;
    if (denies && reason) {
      if (event === "before_stop") result.follow_up_messages ??= [reason];
      else result.additional_context ??= reason;
    }
  }
  return result;
}

/** Answers the requests of the agent, one line each, until stdin ends. */
class Server {
  #services = [];
  #lastId = 0;
  #waiting = new Map();
  #calls = new Map();

  constructor(hook, write) {
    this.hook = hook;
    this.write = write;
  }

  async serve() {
    process.on("unhandledRejection", (error) => log(error));
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
      if (line.trim()) this.#receive(line);
    }
  }

  #receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch (error) {
      return this.#fail(null, -32700, `the line is not JSON: ${error.message}`);
    }
    if (message === null || typeof message !== "object" || Array.isArray(message)) {
      return this.#fail(null, -32600, "a message must be an object; batches are not supported");
    }
    const { id, method, params = {} } = message;
    if (method === undefined) return this.#answered(message);
    if (method === "initialize") {
      this.#services = params.services ?? [];
      return this.#send({ id, result: { protocol: PROTOCOL, concurrency: this.hook.concurrency } });
    }
    if (method === "cancel") return this.#calls.get(params.id)?.cancel();
    if (id === undefined) return undefined;
    if (!(method in EVENTS)) return this.#fail(id, -32601, `there is no method ${JSON.stringify(method)}`);
    return this.#handle(id, params);
  }

  async #handle(id, payload) {
    const send = (method, params) => this.#request(method, { request: id, ...params });
    const call = new Call(send, this.hook.memoryOf(payload), this.#services);
    this.#calls.set(id, call);
    try {
      this.#send({ id, result: await this.hook.handle(payload, call) });
    } catch (error) {
      log(error);
      const isService = error instanceof ServiceError;
      const message = isService ? `the service failed: ${error.message}` : `${error?.name}: ${error?.message ?? error}`;
      this.#fail(id, -32603, message, isService ? { name: error.name } : undefined);
    } finally {
      this.#calls.delete(id);
    }
  }

  #answered({ id, error, result }) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    if (error) waiting.reject(new ServiceError(error.data?.name ?? "failed", error.message ?? ""));
    else waiting.resolve(result ?? {});
  }

  #request(method, params) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      try {
        this.#send({ id, method, params });
      } catch (error) {
        this.#waiting.delete(id);
        reject(error);
      }
    });
  }

  #fail(id, code, message, data) {
    this.#send({ id, error: { code, message: message.slice(0, 4000), ...(data && { data }) } });
  }

  #send(message) {
    let line = JSON.stringify({ jsonrpc: "2.0", ...message });
    if (Buffer.byteLength(line) >= MAX_LINE) {
      if ("method" in message) throw new ServiceError("limit", "the request is longer than 1 MiB");
      const error = { code: -32603, message: "the reply is longer than 1 MiB" };
      line = JSON.stringify({ jsonrpc: "2.0", id: message.id, error });
    }
    this.write(line);
  }
}

/** Runs the handlers of a hook in a test, without an agent. */
export class HookTest {
  #state = new Map();

  constructor(hook, { model, ask, history = [], costUsd = 0 } = {}) {
    Object.assign(this, { hook, notices: [], answers: { model, ask }, messages: history, costUsd });
  }

  /** Fires an event whose payload has these fields, and returns the reply. */
  async fire(event, fields = {}) {
    const ofTool = ["before_tool", "after_tool", "after_tool_failure"].includes(event);
    const payload = {
      event_type: event,
      session_id: "test",
      work_dir: process.cwd(),
      timestamp: "2026-01-01T00:00:00Z",
      context: { protocol_version: 1 },
      host: { name: "test" },
      ...(ofTool && { tool_name: "bash", tool_input: {}, tool_use_id: "call-1", tool_aliases: [] }),
      ...fields,
    };
    const services = ["history", "model", "ask", "state", "notify"];
    const call = new Call(async (...request) => this.#service(...request), this.hook.memoryOf(payload), services);
    return this.hook.handle(payload, call);
  }

  async #service(method, params) {
    switch (method) {
      case "history.get":
        return { messages: structuredClone(params.last === undefined ? this.messages : this.messages.slice(-params.last)) };
      case "model.complete":
        return {
          text: await answer(this.answers.model, params.prompt, "model"),
          usage: { input_tokens: 0, output_tokens: 0, cost_usd: this.costUsd },
        };
      case "ask":
        return { answer: await answer(this.answers.ask, params.question, "user") };
      case "notify":
        this.notices.push(params.text);
        return {};
      default:
        return this.#changeState(method, params);
    }
  }

  #changeState(method, { key, scope, value, by, if_version: expected }) {
    const name = `${scope}/${key}`;
    const found = this.#state.get(name) ?? { value: null, version: 0 };
    if (expected !== undefined && expected !== found.version) {
      throw new ServiceError("conflict", `the version is ${found.version}`);
    }
    if (method === "state.delete") {
      this.#state.delete(name);
      return { value: null, version: 0 };
    }
    if (method === "state.get") return structuredClone(found);
    const next = method === "state.set" ? value : (found.value ?? 0) + by;
    const changed = { value: structuredClone(next), version: found.version + 1 };
    this.#state.set(name, changed);
    return structuredClone(changed);
  }
}

async function answer(given, asked, who) {
  if (given === undefined) throw new ServiceError("unsupported", `the test has no ${who}`);
  return typeof given === "function" ? given(asked) : given;
}
