/** The extension for Pi. */
export default function (pi) {
  if (!isInstalled() && !registration.failClosed) return
  let ui
  const tenter = connect((message) => {
    if (ui) ui.notify(message, "warning")
    else console.error(message)
  })
  /** What hooks add to the message that the agent is about to read. */
  let context
  /** True if Pi asks extensions before it ends: since version 0.87.0, in which the ends of turns have entries. */
  let asksBeforeEnd = false
  /** The message with which a hook makes the agent continue, until Pi asks. */
  let next

  function ask(event, native, ctx, canDeny) {
    ui = ctx.hasUI ? ctx.ui : undefined
    const session = ctx.sessionManager.getSessionId()
    return tenter.ask(event, ctx.cwd, { session, input: native }, canDeny)
  }

  const text = (block) => ({ type: "text", text: block })

  pi.on("session_start", async (event, ctx) => {
    await ask("session_start", { ...event, model: ctx.model?.id }, ctx)
  })

  pi.on("input", async (event, ctx) => {
    const answer = await ask("input", event, ctx, true)
    if (answer.deny) {
      if (ctx.hasUI) ctx.ui.notify(answer.deny, "error")
      else console.error(answer.deny)
      return { action: "handled" }
    }
    context = answer.context
    if (answer.message !== undefined) return { action: "transform", text: answer.message, images: event.images }
    return { action: "continue" }
  })

  pi.on("before_agent_start", async () => {
    if (!context) return
    const message = { customType: "tenter", content: context, display: false }
    context = undefined
    return { message }
  })

  pi.on("tool_call", async (event, ctx) => {
    const answer = await ask("tool_call", event, ctx, true)
    if (answer.deny) return { block: true, reason: answer.deny }
    if (!answer.input) return
    for (const field of Object.keys(event.input)) delete event.input[field]
    Object.assign(event.input, answer.input)
  })

  pi.on("tool_result", async (event, ctx) => {
    const answer = await ask("tool_result", event, ctx)
    if (answer.output === undefined && !answer.context) return
    const content = answer.output === undefined ? event.content : [text(answer.output)]
    return { content: answer.context ? [...content, text(answer.context)] : content }
  })

  pi.on("turn_end", async (event, ctx) => {
    asksBeforeEnd = Array.isArray(event.entries)
    if (event.toolResults.length > 0) await ask("turn_end", { usage: event.message.usage }, ctx)
  })

  pi.on("agent_end", async (event, ctx) => {
    const last = event.messages.findLast((message) => message.role === "assistant")
    const answer = await ask("agent_end", { last }, ctx)
    next = asksBeforeEnd ? answer.continue : undefined
    if (!answer.continue || asksBeforeEnd) return
    if (!ctx.hasUI) console.error("Tenter: a hook makes the agent continue, and `pi -p` ends anyway.")
    pi.sendUserMessage(answer.continue, { deliverAs: "followUp" })
  })

  pi.on("agent_before_settle", async (event) => {
    if (!next) return
    const message = { type: "custom_message", customType: "tenter", content: next, display: true }
    next = undefined
    return { entries: [...event.entries, message], continue: true }
  })

  pi.on("session_before_compact", async (event, ctx) => {
    const trigger = event.customInstructions === undefined ? "auto" : "manual"
    const answer = await ask("session_before_compact", { trigger, tokens: event.preparation?.tokensBefore }, ctx, true)
    if (answer.deny) return { cancel: true }
  })

  pi.on("session_compact", async (event, ctx) => {
    await ask("session_compact", {}, ctx)
  })

  pi.on("session_shutdown", async (event, ctx) => {
    // Without a terminal, `agent_end` comes later. The end of the process is the end of the session, too.
    if (event.reason === "quit") return
    await ask("session_shutdown", { reason: event.reason }, ctx)
    tenter.close()
  })
}
