#!/usr/bin/env node
// Starts the program that the package for this platform holds, and passes on
// what comes: arguments, stdin, signals, and how it ended.
"use strict";
const { spawn } = require("node:child_process");

const name = `jelly-mcp-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/jelly`);
} catch {
  console.error(
    `jelly: there is no program for ${process.platform} ${process.arch} here. Where ${name} exists, npm ` +
      "left it out: install again without --omit=optional, or with the lock file made on this platform. " +
      "Elsewhere, build it: cargo install --locked --git with the address of jelly's repository."
  );
  process.exit(70);
}

const child = spawn(program, process.argv.slice(2), {
  stdio: "inherit",
  // It ends when this process is killed.
  env: { ...process.env, JELLY_LAUNCHER_PID: String(process.pid) },
});
// A terminal sends its signals to both; the program decides when it is done.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => {
    // In the terminal's own group the program was sent it too, and a second one
    // would mean something else.
    if (signal === "SIGTERM" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("error", (error) => {
  console.error(`jelly: failed to start ${program}: ${error.message}`);
  process.exit(70);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  // As it ended, so does this.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
