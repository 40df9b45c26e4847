#!/usr/bin/env node
"use strict";
// Starts the native program of this platform. Registrations in other agents never name this file: a copy of the native
// tenter-hook is registered.
const { spawnSync } = require("node:child_process");

const name = `tenter-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/tenter`);
} catch {
  console.error(
    `error: the package ${name} is not installed\n` +
      "help: install again without --omit=optional; if no such package exists for this platform, use `cargo install`",
  );
  process.exit(1);
}

// Ctrl-C reaches the program as well, which decides what it means.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const result = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (result.error) {
  console.error(`error: cannot start ${program}: ${result.error.message}`);
  process.exit(1);
}
if (result.signal) {
  process.removeAllListeners(result.signal);
  process.kill(process.pid, result.signal);
}
process.exit(result.status ?? 1);
