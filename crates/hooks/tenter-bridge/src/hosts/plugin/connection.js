import { spawn, spawnSync } from "node:child_process"
import { accessSync, constants } from "node:fs"

/** Maximum time for an answer, in milliseconds: `tenter-hook` itself stops hooks earlier. */
const DEADLINE = 600_000
const NO_ANSWER = "Tenter: tenter-hook gave no answer, so hooks did not see what happened."

/** Whether the program of this registration can be started. */
function isInstalled() {
  try {
    accessSync(registration.program, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Connects to `tenter-hook --serve`, which is started at the first event. `report` shows a text to the user. */
function connect(report) {
  const open = new Map()
  let program
  let lastId = 0
  let isSilent = false

  function start() {
    // A process group of its own: Ctrl-C must not end it before it has run the hooks of the session's end.
    const started = spawn(registration.program, registration.args, { detached: true, stdio: ["pipe", "pipe", "ignore"] })
    let rest = ""
    started.stdout.setEncoding("utf8")
    started.stdout.on("data", (text) => {
      rest += text
      if (!text.includes("\n")) return
      const lines = rest.split("\n")
      rest = lines.pop()
      lines.forEach(receive)
    })
    started.on("error", () => stopped(started))
    started.on("close", () => stopped(started))
    started.stdin.on("error", () => {})
    for (const handle of [started, started.stdin, started.stdout]) handle.unref?.()
    return started
  }

  function receive(line) {
    let response
    try {
      response = JSON.parse(line)
    } catch {
      return
    }
    isSilent = false
    finish(response.id, response)
  }

  /** The program has ended: each open request is sent to a new one, once. */
  function stopped(ended) {
    if (program !== ended) return
    program = undefined
    for (const [id, request] of [...open]) {
      if (request.isRetry) {
        finish(id)
      } else {
        request.isRetry = true
        write(request.line)
      }
    }
  }

  function write(line) {
    program ??= start()
    program.stdin.write(line)
  }

  function finish(id, response) {
    const request = open.get(id)
    if (!request) return
    open.delete(id)
    clearTimeout(request.timer)
    request.resolve(response)
  }

  function send(event, cwd, payload) {
    const id = ++lastId
    const line = JSON.stringify({ id, event, cwd, payload }) + "\n"
    return new Promise((resolve) => {
      open.set(id, { line, resolve, timer: setTimeout(() => finish(id), DEADLINE) })
      write(line)
    })
  }

  /** What hooks decided. `canDeny`: without an answer this is denied, if the registration fails closed. */
  async function ask(event, cwd, payload, canDeny = false) {
    const response = await send(event, cwd, payload)
    if (!response) {
      if (canDeny && registration.failClosed) return { deny: NO_ANSWER }
      if (!isSilent) report(NO_ANSWER)
      isSilent = true
      return {}
    }
    const answer = response.answer ?? {}
    const texts = [...(response.warnings ?? []), ...(answer.notices ?? [])]
    texts.forEach((text) => report(text))
    return answer
  }

  /** The same for one event, in a process of its own: everything else here waits until it ends. */
  function askNow(event, cwd, payload) {
    const [host, , ...options] = registration.args
    const input = JSON.stringify({ ...payload, cwd })
    const ended = spawnSync(registration.program, [host, event, ...options], { input, timeout: DEADLINE, encoding: "utf8" })
    const answer = ended.stdout ? JSON.parse(ended.stdout) : {}
    answer.notices?.forEach((text) => report(text))
    return answer
  }

  /** Ends the program, which runs the hooks of the session's end. */
  function close() {
    program?.stdin.end()
  }

  return { ask, askNow, close }
}
