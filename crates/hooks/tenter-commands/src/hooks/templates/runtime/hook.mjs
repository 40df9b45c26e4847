// @NAME@: does nothing yet.
import { Hook, context, deny } from "./tenter-hook.mjs";

export const hook = new Hook();

hook.@METHOD@(async (payload, call) => {
  // Read a field, for example: payload.session_id
  // Reply, for example: return deny("not on a Friday"), or: return context("it is Friday")
  // Use a service, for example: await call.state.add("seen"). The list `services` in the HOOK.md must have it.
  return null;
});

hook.main(import.meta);
