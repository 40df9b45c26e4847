#!/usr/bin/env node
import { setTimeout as sleep } from "node:timers/promises";

import { Hook, askUser, context, deny, followUp, modifyInput } from "./tenter-hook.mjs";

const hook = new Hook({ concurrency: Number(process.env.CONCURRENCY ?? 1) });

hook.beforeTool(async (payload, call) => {
  switch (payload.tool_input.command) {
    case "deny":
      return { ...deny("no"), log: payload.session_id };
    case "ask":
      return askUser("sure?");
    case "rewrite":
      return { ...modifyInput({ command: "ls" }), ...context("rewritten") };
    case "print":
      console.log("from print");
      process.stdout.write("from stdout\n");
      return null;
    case "raise":
      throw new TypeError("broken");
    case "list":
      return ["deny"];
    case "big":
      return deny("x".repeat(1 << 20));
    case "count":
      call.memory.count = (call.memory.count ?? 0) + 1;
      return context(`count ${call.memory.count}`);
    case "model":
      return context((await call.model("hello", { maxTokens: 5, model: "weak" })).text);
    case "ask the user":
      return context(await call.ask("go?", ["yes", "no"]));
    case "history":
      return context(`history ${(await call.history({ last: 1 }))[0].role}`);
    case "state":
      await call.state.set("k", [1], { scope: "project", ifVersion: 0 });
      await call.state.delete("k");
      return context(`state ${await call.state.add("n", 2)}`);
    case "notify":
      return call.notify("look");
    case "wait":
      while (!call.cancelled) await sleep(5);
      return deny("cancelled");
  }
});

hook.beforeStop(() => followUp("continue"));

hook.run();
