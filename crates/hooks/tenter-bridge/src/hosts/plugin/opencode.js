/** Hooks for the sessions of a process: `load` returns the host's record of a session. */
function sessions(tenter, directory, load) {
  /** Where each session belongs: promises, by id. */
  const places = new Map()
  const created = new Set()
  const subagents = new Set()

  /** The root session, and the subagent whose session this is. */
  function placeOf(id, record) {
    if (!places.has(id)) places.set(id, findPlace(id, record))
    return places.get(id)
  }

  async function findPlace(id, record) {
    const info = record ?? (await load(id).catch(() => undefined))
    if (!info?.parentID) {
      const source = created.has(id) ? "startup" : "resume"
      await tenter.ask("session.start", directory, { session: id, input: { source } })
      return { session: id }
    }
    subagents.add(id)
    const { session } = await placeOf(info.parentID)
    const place = { session, agent: { id, type: info.agent } }
    await tenter.ask("session.created", directory, { ...place, input: { info } })
    return place
  }

  async function ask(event, id, payload, canDeny) {
    return tenter.ask(event, directory, { ...(await placeOf(id)), ...payload }, canDeny)
  }

  return { placeOf, isSubagent: (id) => subagents.has(id), created, ask }
}

/** The plugin for the first version of OpenCode, and for Kilo. */
async function server({ client, directory }) {
  if (!isInstalled() && !registration.failClosed) return {}
  const tenter = connect(report)
  const load = async (id) => (await client.session.get({ path: { id } })).data
  const { placeOf, isSubagent, created, ask } = sessions(tenter, directory, load)
  const isRun = process.argv.includes("run")
  const isOpenCode = registration.args[0] === "opencode"
  /** What is passed on of each session for which nobody waits, in order: promises, by id. */
  const queues = new Map()
  /** Sessions whose work ended with an error. */
  const failed = new Set()
  /** The last text of the model, and the agent and model of the user's last message, by session. */
  const texts = new Map()
  const choices = new Map()
  /** Messages and parts that hooks have seen: the host reports them more than once. */
  const seen = new Set()
  let mcp = []

  function report(message) {
    if (isRun) console.error(message)
    client.tui.showToast({ body: { title: "Tenter", message, variant: "warning" } }).catch(() => {})
  }

  /** Passes on an event for which nobody waits, after those before it. */
  function tell(id, send) {
    const before = queues.get(id) ?? Promise.resolve()
    const answer = before.then(send).catch(() => ({}))
    queues.set(id, answer)
    return answer
  }

  async function idle(id) {
    if (failed.delete(id) || isSubagent(id)) return
    const event = ["session.idle", directory, { session: id, input: { text: texts.get(id) } }]
    // Without its terminal interface, the host ends after this event unless it has a message by then.
    const answer = isRun ? tenter.askNow(...event) : await tell(id, () => tenter.ask(...event))
    if (!answer.continue) return
    if (isRun && isOpenCode) report("Tenter: a hook makes the agent continue, and `opencode run` ends anyway.")
    const parts = [{ type: "text", text: answer.continue }]
    await client.session.promptAsync({ path: { id }, body: { ...choices.get(id), parts } })
  }

  function isNew(id) {
    const isKnown = seen.has(id)
    seen.add(id)
    return !isKnown
  }

  return {
    config: async (config) => {
      mcp = Object.keys(config.mcp ?? {})
    },

    event: async ({ event: { type, properties } }) => {
      const { info, part } = properties
      const id = properties.sessionID ?? info?.sessionID ?? part?.sessionID ?? info?.id
      switch (id && type) {
        case "session.created":
          if (info.parentID) await placeOf(id, info)
          else created.add(id)
          break
        case "session.idle":
          await idle(id)
          break
        case "session.error":
          failed.add(id)
          await tell(id, () => ask(type, id, { input: properties }))
          break
        case "session.compacted":
          await tell(id, () => ask(type, id, { input: properties }))
          break
        case "message.updated": {
          const isTurn = info.role === "assistant" && info.time?.completed && info.finish === "tool-calls"
          if (isTurn && isNew(info.id)) await tell(id, () => ask(type, id, { input: properties }))
          break
        }
        case "message.part.updated": {
          const isFailure = part.type === "tool" && part.state?.status === "error"
          if (isFailure && isNew(part.id)) await tell(id, () => ask(type, id, { input: properties }))
          break
        }
      }
    },

    "chat.message": async (input, output) => {
      const id = input.sessionID
      const { agent, model } = output.message
      choices.set(id, { agent, model })
      failed.delete(id)
      texts.delete(id)
      const answer = await ask("chat.message", id, { input, output }, true)
      if (answer.deny) {
        // The host shows a rejected message as an unexpected error, without the reason.
        report(answer.deny)
        throw new Error(answer.deny)
      }
      if (answer.message !== undefined) replaceText(output.parts, answer.message)
      if (answer.context) output.parts.push(note(output, answer.context))
    },

    "tool.execute.before": async (input, output) => {
      const answer = await ask("tool.execute.before", input.sessionID, { mcp, input, output }, true)
      if (answer.deny) throw new Error(answer.deny)
      if (answer.input) replaceFields(output.args, answer.input)
    },

    "tool.execute.after": async (input, output) => {
      const answer = await ask("tool.execute.after", input.sessionID, { mcp, input, output })
      // Tools of MCP servers have blocks.
      const field = Array.isArray(output.content) ? "content" : "output"
      output[field] = changed(output[field], answer)
    },

    "experimental.text.complete": async (input, output) => {
      texts.set(input.sessionID, output.text)
    },

    "experimental.session.compacting": async (input, output) => {
      const answer = await ask("experimental.session.compacting", input.sessionID, { input })
      if (answer.context) output.context.push(answer.context)
    },

    dispose: async () => tenter.close(),
  }
}

/** The plugin for the second version of OpenCode. */
async function setup(context) {
  if (!isInstalled() && !registration.failClosed) return undefined
  const tenter = connect((message) => console.error(message))
  const directory = context.location?.directory ?? process.cwd()
  const { ask } = sessions(tenter, directory, (sessionID) => context.session.get({ sessionID }))

  await context.session.hook("prompt", async (event) => {
    const parts = [{ type: "text", text: event.prompt.text }]
    const answer = await ask("chat.message", event.sessionID, { output: { parts } }, true)
    if (answer.deny) {
      console.error(answer.deny)
      throw new Error(answer.deny)
    }
    event.prompt.text = changed(answer.message ?? event.prompt.text, { context: answer.context })
  })

  const call = (event) => ({ tool: event.tool, callID: event.callID, args: event.input })

  await context.tool.hook("execute.before", async (event) => {
    const payload = { input: call(event), output: { args: event.input } }
    const answer = await ask("tool.execute.before", event.sessionID, payload, true)
    if (answer.deny) throw new Error(answer.deny)
    if (answer.input) event.input = answer.input
  })

  await context.tool.hook("execute.after", async (event) => {
    if (event.status === "error") return
    const { content } = event.result
    const output = typeof content === "string" ? { output: content } : { content }
    const answer = await ask("tool.execute.after", event.sessionID, { input: call(event), output })
    if (answer.output !== undefined || answer.context) event.result = { ...event.result, content: changed(content, answer) }
  })

  return () => tenter.close()
}

/** A result, as text or blocks, with what hooks replace and add. */
function changed(result, answer) {
  if (Array.isArray(result)) {
    const block = (text) => ({ type: "text", text })
    const blocks = answer.output === undefined ? result : [block(answer.output)]
    return answer.context ? [...blocks, block(answer.context)] : blocks
  }
  const text = answer.output ?? result
  return answer.context ? `${text}\n\n${answer.context}` : text
}

/** Replaces the fields of an object that the host goes on to use. */
function replaceFields(object, fields) {
  for (const field of Object.keys(object)) delete object[field]
  Object.assign(object, fields)
}

/** Replaces the user's own texts in the parts of a message. */
function replaceText(parts, text) {
  const isOwn = (part) => part.type === "text" && !part.synthetic
  const first = parts.find(isOwn)
  if (!first) return
  first.text = text
  const kept = parts.filter((part) => part === first || !isOwn(part))
  parts.splice(0, parts.length, ...kept)
}

/** A part of the user's message that the model reads and the user does not see. */
function note({ message, parts }, text) {
  const id = `${parts.at(-1)?.id ?? "prt_"}z`
  return { id, messageID: message.id, sessionID: message.sessionID, type: "text", text, synthetic: true }
}

export default { id: "tenter", server, setup }
