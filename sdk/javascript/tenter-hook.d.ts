/** Types of `tenter-hook.mjs`, with which Tenter hooks are written in JavaScript and TypeScript. */

// --- generated: events, payloads and replies ---

/** Every spelling of an event, with its name. */
export const EVENTS: Record<string, string>;
/** What an executable hook prints for an event. */
export const EXECUTABLE_EVENTS: Record<string, string>;

/** The subagent of another agent than Tenter's. Only for a subagent that has an id there. */
export interface Agent {
  /** The subagent's id. */
  id: string;
  /** The subagent's type, such as `Explore`. */
  type: string;
  /** The number of agents above it. Only if the agent provides it. */
  depth?: number;
}

/** Data for which the specification has no field. */
export interface Context {
  /** The agent that caused the event: `main` or `subagent`. Only if the agent provides it. */
  invoked_by?: "main" | "subagent";
  /** The conversation that started the subagent. Only for a subagent. */
  parent_session_id?: string;
  /** The recipe that the agent was started with. A plugin's hook reads the short name of a recipe of its own plugin. Only with a recipe. */
  recipe_name?: string;
  /** The recipe's full name, `ORG/REPO/NAME`. Only if `recipe_name` is a short name. */
  recipe_full_name?: string;
  /** The subagent of another agent than Tenter's. Only for a subagent that has an id there. */
  agent?: Agent;
  /** The version of the protocol: 1. */
  protocol_version: number;
}

/** The agent that fires the event, in its own words. */
export interface Host {
  /** The agent's name: `tenter`, `claude-code`, … */
  name: string;
  /** The agent's version. Not for `tenter`; only if it is known. */
  version?: string;
  /** The agent's own name of the event. Not for `tenter`. */
  event?: string;
  /** The agent's own name of the tool. Not for `tenter`; only for a tool. */
  tool_name?: string;
  /** The tool's input in the agent's own fields. Only if it differs from `tool_input`; not for a manifest hook with `payload: light`. */
  tool_input?: Record<string, any>;
  /** The fields that are left out because the agent does not provide them. Only if there are any. */
  unknown?: Array<string>;
}

/** The fields of every payload. */
export interface Payload {
  /** The time, as RFC 3339 in UTC. */
  timestamp: string;
  /** The conversation's id. A subagent has its own. */
  session_id: string;
  /** The agent's working directory. Tools run in it; hooks start in the project root. */
  work_dir: string;
  /** Data for which the specification has no field. */
  context: Context;
  /** The agent that fires the event, in its own words. */
  host: Host;
}

/** The payload of `session_start`, which fires once, before the first user message of a process on a conversation. */
export interface SessionStartPayload extends Payload {
  event_type: "session_start" | "pre-session";
  /** The model, as `--model` names it. Only if the agent provides it. */
  model?: string;
  /** The start of the agent: `ui` (`run` or `chat`) and `agent`. */
  args: Record<string, any>;
}

/** The fields of every reply, except that a call of a tool also has the decision `ask`. */
export interface Reply {
  /**
   * `deny` blocks or, where nothing can be blocked, gives the model the reason. `ask` lets the user decide. `confine` runs the call with
   * fewer rights. `allow` permits; another hook may still deny. `block` and `approve` are accepted for `deny` and `allow`.
   */
  decision?: "allow" | "deny" | "approve" | "block";
  /** Why. The model or the user reads it. */
  reason?: string;
  /** Text for the journal. */
  log?: string;
}

/** The fields of replies that may add context. */
export interface ContextReply extends Reply {
  /** Text that the model also reads. */
  additional_context?: string;
}

/** A reply to `session_start`. */
export interface SessionStartReply extends ContextReply {
}

/** The payload of `before_agent`, which fires when a user message is about to be added. */
export interface BeforeAgentPayload extends Payload {
  event_type: "before_agent" | "pre-agent-turn";
  /** The message, as changed by earlier hooks. */
  prompt: string;
}

/** A reply to `before_agent`. */
export interface BeforeAgentReply extends ContextReply {
  /** Replaces the user's message. */
  modified_prompt?: string;
}

/** The source of its input: the indices of `commands`, a `text`, or a `file`. Only if it is not inherited. */
export interface StdinFrom {
  /** The output of commands, by their indices. */
  commands?: Array<number>;
  /** A here-document or here-string, as far as it is known. */
  text?: string;
  /** A file, as written. */
  file?: string;
}

/** A redirection. */
export interface Redirect {
  /** The file descriptor: `2`, `{name}`. Only if it is written. */
  fd?: string;
  /** The operator, such as `>`. */
  op: string;
  /** The file, the descriptor, the delimiter of a here-document, or the text of a here-string. */
  target: string;
}

/** A command that the text would run. A wrapper such as `sudo` is a command of its own, before the command that it runs. */
export interface Command {
  /** The program's base name, without `.exe`. */
  program: string;
  /** The program as written. Only if that contains a slash. */
  path?: string;
  /** The first operand after the global options, such as `push` for `git`. Only for programs that have subcommands. */
  subcommand?: string;
  /** The options: bundles split, abbreviations completed, values after `=`. Only if there are any. */
  flags?: Array<string>;
  /** The arguments that are no options, without the subcommand. Only if there are any. */
  operands?: Array<string>;
  /** All words after the program. Only if there are any. */
  args?: Array<string>;
  /** Variables that the text sets for this command, or exports before it. Only if there are any. */
  env?: Record<string, string>;
  /** The absolute working directory. Only if it is known. */
  cwd?: string;
  /**
   * The programs and constructs that run the command, outermost first: wrappers such as `sudo`, interpreters such as `bash`, and
   * `substitution`, `process`, `function`, `alias`, `coproc`. Only if there are any.
   */
  via?: Array<string>;
  /** The source of its input: the indices of `commands`, a `text`, or a `file`. Only if it is not inherited. */
  stdin_from?: StdinFrom;
  /** Its own redirections, not of wrappers and blocks around the command. Only if there are any. */
  redirects?: Array<Redirect>;
  /** The command as written. */
  text: string;
  /** The machine or container that it runs on: `local`, `remote` (as with `ssh`), or `container` (as with `docker exec`). */
  where: "local" | "remote" | "container";
  /** The parts of the command that are not known before it runs: `program`, `cwd`, and indices of `args`. Only if there are any. */
  uncertain?: Array<any>;
}

/** A path that a command would touch. */
export interface Path {
  /** The absolute path, without symlinks and `..`. */
  path: string;
  /** The path as written. */
  given: string;
  /**
   * The operation on it: `read`, `write`, `create`, `delete`, `move`, `execute`, `link`, `mode` (permissions or owner), or `list` (search a
   * directory). File tools write files that they create.
   */
  op: "read" | "write" | "create" | "delete" | "move" | "execute" | "link" | "mode" | "list";
  /** `true` if everything below the path is included. Only if `true`. */
  recursive?: boolean;
  /** The place: in the `project`, a `temp` directory, the `home` directory, elsewhere (`system`), a `device`, or on a `remote` machine. */
  place: "remote" | "device" | "project" | "temp" | "home" | "system";
  /** `true` if it is in the project. */
  inside_project: boolean;
  /** The index of the command in `commands`. Only for a path of a command. */
  command?: number;
  /** `true` if the path is known and could be resolved. */
  certain: boolean;
  /** `true` if the path is a pattern, and the files that it matches are touched. Only if `true`. */
  glob?: boolean;
}

/** A program in another language that the text contains. */
export interface Code {
  /** The language. */
  language: "python" | "node" | "perl" | "ruby" | "php" | "awk" | "powershell" | "other";
  /** The program. */
  text: string;
  /** `true` if it runs a command that cannot be read. Only if `true`. */
  dynamic?: boolean;
  /** The index of the interpreter in `commands`. */
  command: number;
}

/** The output of a command, or a file that it wrote before. */
export interface From {
  command: number;
}

/** Data that goes from a command into another. */
export interface Flow {
  /** `{"command": INDEX}`, or `network` for a connection. */
  from: "network" | From;
  /** The index of the command that receives the data. */
  into: number;
  /** The use of the data: the command runs it as `code`, reads it as `data`, or has it as an `argument`. */
  as: "code" | "data" | "argument";
}

/** The fields of the payloads of tool events. */
export interface ToolPayload extends Payload {
  /** The tool's name. A manifest hook reads the name that its matcher matched, for example `Shell` for `bash`. */
  tool_name: string;
  /** The tool's input, as changed by earlier hooks; for `bash`, `{"command": "ls"}`. */
  tool_input: Record<string, any>;
  /** The call's id, the same before and after the call. */
  tool_use_id: string;
  /** The other names of the tool, here and in other agents. */
  tool_aliases: Array<string>;
  /** The commands that a shell would run, read without running them. Only for a shell tool. */
  commands?: Array<Command>;
  /** The paths that the tool or its commands touch, resolved. Only if there are any. */
  paths?: Array<Path>;
  /** Programs in other languages that the commands contain. Only if there are any. */
  code?: Array<Code>;
  /** Data that goes from one command to another. Only if there is any. */
  flows?: Array<Flow>;
  /** `true` if the commands start copies of themselves without an end. Only if `true`. */
  forkbomb?: boolean;
  /** `true` if a part of the commands could not be read: bash would reject it, or it exceeds a limit. Only if `true`. */
  unparsed?: boolean;
}

/** The payload of `before_tool`, which fires before a tool runs. */
export interface BeforeToolPayload extends ToolPayload {
  event_type: "before_tool" | "pre-tool-call";
}

/** The hosts that these rules allow, over HTTP and HTTPS, and a loopback interface of its own. */
export interface Network {
  allow: Array<string>;
}

/**
 * Runs the call with fewer rights, which the operating system keeps: `write` (the only places that may be written), `read_not` (what may
 * not be read), `network`, or a `profile`. `{}` is the profile `standard`. All confinements of all hooks apply.
 */
export interface Confine {
  /** The name of a profile, which applies besides the other fields. */
  profile?: string;
  /** The only places that may be written: `project`, `temp`, `home`, `caches`, paths and globs. */
  write?: Array<string>;
  /** Paths and globs in them that may not be written, in addition to hooks and settings of agents. */
  write_not?: Array<string>;
  /** The files that may not be read: `secrets`, paths and globs. */
  read_not?: Array<string>;
  /** The network that may be used. */
  network?: "any" | "local" | "none" | Network;
  /** The fallback if this machine cannot keep a part of it; by default the user is asked. */
  otherwise?: "run" | "ask" | "deny";
}

/** A reply to `before_tool`. */
export interface BeforeToolReply {
  /**
   * `deny` blocks or, where nothing can be blocked, gives the model the reason. `ask` lets the user decide. `confine` runs the call with
   * fewer rights. `allow` permits; another hook may still deny. `block` and `approve` are accepted for `deny` and `allow`.
   */
  decision?: "allow" | "deny" | "ask" | "confine" | "approve" | "block";
  /** Why. The model or the user reads it. */
  reason?: string;
  /**
   * Runs the call with fewer rights, which the operating system keeps: `write` (the only places that may be written), `read_not` (what may
   * not be read), `network`, or a `profile`. `{}` is the profile `standard`. All confinements of all hooks apply.
   */
  confine?: Confine;
  /** Text for the journal. */
  log?: string;
  /** Text that the model also reads. */
  additional_context?: string;
  /** The tool runs with this input: the complete input, not only the changed fields. */
  modified_input?: Record<string, any>;
}

/** The tool's result, as changed by earlier hooks. */
export interface ToolOutput {
  /** The tool's own name. */
  toolName: string;
  /** `true` if the tool succeeded; `null` if the agent does not know. */
  success: boolean | null;
  /** The error message. Only after a failure. */
  error?: string;
  /** The type of `metadata`: `bash`, `file_read`, `blocked`, … Only with `metadata`. */
  metadataType?: string;
  /** The data of the result. The text that the model reads is made from it. Not if the tool failed without a result. */
  metadata?: Record<string, any>;
  /** The time when the tool finished, as RFC 3339 in UTC. */
  timestamp: string;
}

/** The payload of `after_tool`, which fires after a tool succeeded. */
export interface AfterToolPayload extends ToolPayload {
  event_type: "after_tool" | "post-tool-call";
  /** The tool's result, as changed by earlier hooks. */
  tool_output: ToolOutput;
}

/** The fields of replies that may rewrite the output of a tool. */
export interface OutputReply extends ContextReply {
  /**
   * The new result. With `toolName` and `success` it is a complete result; otherwise it replaces the fields that it has. `metadata` is
   * always replaced as a whole.
   */
  modified_output?: Record<string, any>;
}

/** A reply to `after_tool`. */
export interface AfterToolReply extends OutputReply {
}

/** The payload of `after_tool_failure`, which fires after a tool failed or was blocked. */
export interface AfterToolFailurePayload extends ToolPayload {
  event_type: "after_tool_failure" | "post-tool-call-failure";
  /** The error message. */
  tool_error: string;
  /** The tool's result, as changed by earlier hooks. */
  tool_output: ToolOutput;
}

/** A reply to `after_tool_failure`. */
export interface AfterToolFailureReply extends OutputReply {
}

/** The counts of the last exchange alone. */
export interface Turn {
  /** Tokens sent, cached or not. */
  input_tokens: number;
  /** Tokens received, including reasoning. */
  output_tokens: number;
  /** Input tokens read from the provider's cache. Only if not 0. */
  cached_input_tokens?: number;
  /** Input tokens written to the provider's cache. Only if not 0. */
  cache_write_tokens?: number;
}

/** Token counts. Only if the agent provides them. */
export interface Usage {
  /** Tokens sent to models in this conversation, including subagents. */
  input_tokens: number;
  /** Tokens received from models in this conversation, including subagents. */
  output_tokens: number;
  /** The size of the last exchange, in tokens. */
  current_context_window: number;
  /** The size of the model's context window, in tokens. */
  max_context_window: number;
  /** `true` if the provider did not report all counts and some are estimates. Only if `true`. */
  estimated?: boolean;
  /** The cost of the conversation so far, in US dollars. Only if prices are known. */
  cost_usd?: number;
  /** The counts of the last exchange alone. */
  turn: Turn;
}

/** A piece of a message. */
export interface Block {
  /** `text`, `reasoning`, `image`, `tool_use` or `tool_result`. */
  type: "text" | "reasoning" | "image" | "tool_use" | "tool_result";
  /** The text. Only for `text` or `reasoning`. */
  text?: string;
  /** The media type of the image, such as `image/png`. Only for `image`. */
  media_type?: string;
  /** The image as base64, instead of `url`. Only for `image`. */
  data?: string;
  /** The address of the image, instead of `data`. Only for `image`. */
  url?: string;
  /** The call's id. Only for `tool_use`. */
  id?: string;
  /** The tool's name. Only for `tool_use`. */
  name?: string;
  /** The tool's input, which is always an object. Only for `tool_use`. */
  input?: Record<string, any>;
  /** The id of the call. Only for `tool_result`. */
  call_id?: string;
  /** The result, like `tool_output`. Only for `tool_result`. */
  result?: ToolOutput;
}

/** A message in a payload: as plain text, as in the documents, and as typed blocks (R57). */
export interface Message {
  /** `user` or `assistant`. Tool results are in `user` messages. */
  role: "user" | "assistant";
  /** The message as plain text, including tool calls and results. */
  content: string;
  /** The message as typed blocks. */
  blocks: Array<Block>;
}

/** The fields of the payloads of events at which the history can be replaced. */
export interface HistoryPayload extends Payload {
  /** Token counts. Only if the agent provides them. */
  usage?: Usage;
  /** `true` if long histories are summarized automatically. */
  auto_compact_enabled: boolean;
  /** The part of the context window at which that happens, for example 0.8. Only if it is enabled. */
  auto_compact_threshold?: number;
  /** The conversation. Only if the agent provides it; not for a manifest hook with `payload: light`. */
  messages?: Array<Message>;
}

/** The payload of `after_turn`, which fires after every model response, once the tool results of that response (if any) are recorded. */
export interface AfterTurnPayload extends HistoryPayload {
  event_type: "after_turn";
  /** The number of model responses since the last user message. Only if the agent provides it. */
  turn_number?: number;
  /** The number of model responses in the whole conversation. Only if the agent provides it. */
  session_turn?: number;
  /** `true` if the response called tools. */
  tools_used: boolean;
  /** The text of the response. */
  response: string;
}

/** The type of `message`. */
export interface ReplyMessage {
  role: "user" | "assistant";
  content?: string;
  blocks?: Array<Record<string, any>>;
}

/** The fields of replies that may replace the history. */
export interface HistoryReply extends ContextReply {
  /** With `mutate`: the new history. Each message has a `role` and `content` or `blocks`; the last one is a user message. */
  messages?: Array<ReplyMessage>;
  /** With `callback`: the name of the recipe. */
  callback?: string;
  /** With `callback`: the arguments of the recipe, all strings. */
  callback_args?: Record<string, string>;
}

/** A reply to `after_turn`. */
export interface AfterTurnReply extends HistoryReply {
  /**
   * `mutate` replaces the history with `messages`; `callback` runs a recipe on it; `continue`, which is optional, goes with
   * `follow_up_messages`.
   */
  result?: "mutate" | "callback";
}

/** The last response; `null` if it has no text. */
export interface FinalMessage {
  /** Always `assistant`. */
  role: "user" | "assistant";
  /** The text. */
  content: string;
}

/** The payload of `before_stop`, which fires when the agent would stop: a response without tool calls, or the turn limit. */
export interface BeforeStopPayload extends HistoryPayload {
  event_type: "before_stop" | "pre-agent-turn-stop";
  /**
   * The reason why the agent stops: `no_tool_calls`, `tool_rejected` (all calls of the previous response were blocked) or `max_steps` (the
   * turn limit).
   */
  stop_reason: "no_tool_calls" | "tool_rejected" | "max_steps";
  /** The number of model responses since the last user message. Only if the agent provides it. */
  step_count?: number;
  /** The last response; `null` if it has no text. */
  final_message: FinalMessage | null;
  /** `true` if the agent is running because a hook made it continue. */
  stop_hook_active: boolean;
  /** The number of times in a row that hooks made the agent continue. */
  continuation_count: number;
}

/** A reply to `before_stop`. */
export interface BeforeStopReply extends HistoryReply {
  /**
   * `mutate` replaces the history with `messages`; `callback` runs a recipe on it; `continue`, which is optional, goes with
   * `follow_up_messages`.
   */
  result?: "continue" | "mutate" | "callback";
  /** Messages with which the agent continues instead of stopping. */
  follow_up_messages?: Array<string>;
}

/** The payload of `after_agent`, which fires when the agent is done with one user message. */
export interface AfterAgentPayload extends Payload {
  event_type: "after_agent" | "post-agent-turn";
  /** The last text of the model. */
  response: string;
}

/** A reply to `after_agent`. */
export interface AfterAgentReply extends Reply {
}

/** The fields of the payloads of a subagent's events. */
export interface SubagentPayload extends Payload {
  /** The subagent's name. */
  subagent_name: string;
  /** The subagent's type. */
  subagent_type: string;
  /** The subagent's task. */
  task_description: string;
}

/** The payload of `subagent_start`, which fires when a subagent is about to start. */
export interface SubagentStartPayload extends SubagentPayload {
  event_type: "subagent_start" | "pre-subagent";
}

/** A reply to `subagent_start`. */
export interface SubagentStartReply extends Reply {
}

/** The payload of `subagent_stop`, which fires when a subagent ended. */
export interface SubagentStopPayload extends SubagentPayload {
  event_type: "subagent_stop" | "post-subagent";
  /** The last text of the model. */
  response: string;
}

/** A reply to `subagent_stop`. */
export interface SubagentStopReply extends Reply {
}

/** The fields of the payloads of a compaction's events. */
export interface CompactionPayload extends Payload {
  /** The cause of the compaction: `auto` (the threshold), `manual` (the user), `hook`, or `overflow` (a request was too long for the model). */
  trigger: "auto" | "manual" | "hook" | "overflow";
  /** The size of the history before, in tokens. Only if the agent provides it. */
  tokens_before?: number;
}

/** The payload of `pre_compact`, which fires when history is about to be replaced by a summary. */
export interface PreCompactPayload extends CompactionPayload {
  event_type: "pre_compact" | "pre-context-compact";
}

/** A reply to `pre_compact`. */
export interface PreCompactReply extends ContextReply {
}

/** The payload of `post_compact`, which fires when history was replaced by a summary. */
export interface PostCompactPayload extends CompactionPayload {
  event_type: "post_compact" | "post-context-compact";
  /** The size of the history after, in tokens. Only if the agent provides it. */
  tokens_after?: number;
}

/** A reply to `post_compact`. */
export interface PostCompactReply extends Reply {
}

/** The payload of `session_end`, which fires once, last, also after an error or Ctrl-C. */
export interface SessionEndPayload extends Payload {
  event_type: "session_end" | "post-session";
  /** The duration of the session, in seconds. Only if the agent provides it. */
  duration_seconds?: number;
  /** The number of model responses in the session. Only if the agent provides it. */
  total_steps?: number;
  /** The reason why the session ends: `done`, `user_exit`, `interrupted`, `blocked`, `max_turns` or `error`. */
  exit_reason: "done" | "user_exit" | "interrupted" | "blocked" | "max_turns" | "error";
}

/** A reply to `session_end`. */
export interface SessionEndReply extends Reply {
}

/** A method for each event, which registers a function. */
export interface Events {
  /** Registers the function for `session_start`, which fires once, before the first user message of a process on a conversation. */
  sessionStart(handler: Handler<SessionStartPayload, SessionStartReply>): this;
  /** Registers the function for `before_agent`, which fires when a user message is about to be added. */
  beforeAgent(handler: Handler<BeforeAgentPayload, BeforeAgentReply>): this;
  /** Registers the function for `before_tool`, which fires before a tool runs. */
  beforeTool(handler: Handler<BeforeToolPayload, BeforeToolReply>): this;
  /** Registers the function for `after_tool`, which fires after a tool succeeded. */
  afterTool(handler: Handler<AfterToolPayload, AfterToolReply>): this;
  /** Registers the function for `after_tool_failure`, which fires after a tool failed or was blocked. */
  afterToolFailure(handler: Handler<AfterToolFailurePayload, AfterToolFailureReply>): this;
  /** Registers the function for `after_turn`, which fires after every model response, once the tool results of that response (if any) are recorded. */
  afterTurn(handler: Handler<AfterTurnPayload, AfterTurnReply>): this;
  /** Registers the function for `before_stop`, which fires when the agent would stop: a response without tool calls, or the turn limit. */
  beforeStop(handler: Handler<BeforeStopPayload, BeforeStopReply>): this;
  /** Registers the function for `after_agent`, which fires when the agent is done with one user message. */
  afterAgent(handler: Handler<AfterAgentPayload, AfterAgentReply>): this;
  /** Registers the function for `subagent_start`, which fires when a subagent is about to start. */
  subagentStart(handler: Handler<SubagentStartPayload, SubagentStartReply>): this;
  /** Registers the function for `subagent_stop`, which fires when a subagent ended. */
  subagentStop(handler: Handler<SubagentStopPayload, SubagentStopReply>): this;
  /** Registers the function for `pre_compact`, which fires when history is about to be replaced by a summary. */
  preCompact(handler: Handler<PreCompactPayload, PreCompactReply>): this;
  /** Registers the function for `post_compact`, which fires when history was replaced by a summary. */
  postCompact(handler: Handler<PostCompactPayload, PostCompactReply>): this;
  /** Registers the function for `session_end`, which fires once, last, also after an error or Ctrl-C. */
  sessionEnd(handler: Handler<SessionEndPayload, SessionEndReply>): this;
}

// --- end of the generated part ---

/** Allows what is about to happen. Another hook may still deny it. */
export function allow(reason?: string): { decision: "allow"; reason?: string };
/** Denies what is about to happen, or gives the model the reason where nothing can be denied. */
export function deny(reason: string): { decision: "deny"; reason: string };
/** Lets the user decide whether the tool may run. */
export function askUser(reason: string): { decision: "ask"; reason: string };
/** Adds text that the model reads. */
export function context(text: string): { additional_context: string };
/** Lets the tool run with this complete input. */
export function modifyInput(input: Record<string, unknown>): { modified_input: Record<string, unknown> };
/** Replaces fields of the tool's result, or all of it. */
export function modifyOutput(output: Record<string, unknown>): { modified_output: Record<string, unknown> };
/** Replaces the user's message. */
export function modifyPrompt(prompt: string): { modified_prompt: string };
/** Lets the agent continue with these messages instead of stopping. */
export function followUp(...messages: string[]): { follow_up_messages: string[] };
/** Replaces the history. */
export function replaceHistory(messages: Message[]): { result: "mutate"; messages: Message[] };
/** Runs a recipe on the history. */
export function runRecipe(
  name: string,
  args?: Record<string, string>,
): { result: "callback"; callback: string; callback_args: Record<string, string> };

/** The name of a `ServiceError`. */
export type ServiceErrorName =
  | "unsupported"
  | "limit"
  | "no_request"
  | "cancelled"
  | "refused"
  | "conflict"
  | "invalid_params"
  | "failed";

/** Why a service was not provided. */
export class ServiceError extends Error {
  constructor(name: ServiceErrorName, message: string);
  name: ServiceErrorName;
}

/** An answer of the model, and what it cost. */
export interface Completion {
  text: string;
  usage: { input_tokens: number; output_tokens: number; cost_usd: number };
}

/** Whose value it is: the conversation's, which is the default, or the project's. */
export type Scope = "session" | "project";

/** Values that a hook keeps between runs. Changes are atomic across processes. */
export interface State {
  /** A value, or `fallback` if there is none. */
  get<T = unknown>(key: string, options?: { scope?: Scope; fallback?: T }): Promise<T | undefined>;
  /** A value and its version, which is 0 if there is none. */
  getWithVersion<T = unknown>(key: string, options?: { scope?: Scope }): Promise<{ value: T | null; version: number }>;
  /** Sets a value and returns its version. With `ifVersion`, another version is the error `conflict`. */
  set(key: string, value: unknown, options?: { scope?: Scope; ifVersion?: number }): Promise<number>;
  /** Adds to a number, which is 0 if there is none, and returns the sum. */
  add(key: string, by?: number, options?: { scope?: Scope }): Promise<number>;
  /** Deletes a value. */
  delete(key: string, options?: { scope?: Scope }): Promise<void>;
}

/** The call of a handler: services of the agent, which `metadata.services` must list, and memory. */
export interface Call {
  /** What the hook remembers of this conversation, as long as its process lives. */
  readonly memory: Record<string, any>;
  /** The services that the hook may use. */
  readonly services: ReadonlySet<string>;
  /** Aborted when the reply is not needed any more. */
  readonly signal: AbortSignal;
  /** Whether the reply is not needed any more. */
  readonly cancelled: boolean;
  readonly state: State;
  /** The messages of the conversation, oldest first; `light` shortens the results of tools. */
  history(options?: { last?: number; light?: boolean; convId?: string }): Promise<Message[]>;
  /** Asks the model, without tools. */
  model(
    prompt: string,
    options?: { system?: string; maxTokens?: number; model?: "default" | "weak" },
  ): Promise<Completion>;
  /** Asks the user. The hook's time stands still meanwhile. */
  ask(question: string, choices?: string[]): Promise<string>;
  /** Shows the user a line. Where that is impossible, the line is only in the hook's log. */
  notify(text: string): Promise<void>;
}

/** A function for an event. */
export type Handler<P, R> = (payload: P, call: Call) => R | null | undefined | void | Promise<R | null | undefined | void>;

/** A hook: register a function for each event, then call `run`. */
export class Hook implements Events {
  /** With a `concurrency` of more than 1, as many events of parallel tool calls are handled at once. */
  constructor(options?: { concurrency?: number });
  /** Runs the hook if the module with this `import.meta` is the program, so that a test can import the module. */
  main(meta: { url: string }): Promise<void>;
  /** Runs the hook as its arguments say, and exits. */
  run(argv?: string[]): Promise<never>;
}
export interface Hook extends Events {}

/** Runs the handlers of a hook in a test, without an agent. */
export class HookTest {
  constructor(
    hook: Hook,
    options?: {
      model?: string | ((prompt: string) => string | Promise<string>);
      ask?: string | ((question: string) => string | Promise<string>);
      history?: Message[];
      costUsd?: number;
    },
  );
  /** The lines for the user. */
  readonly notices: string[];
  /** Fires an event whose payload has these fields, and returns the reply. */
  fire(event: string, fields?: Record<string, unknown>): Promise<Record<string, any> | null>;
}
