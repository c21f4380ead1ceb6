#!/usr/bin/env node
// Plain, old JavaScript on purpose: whatever Node a machine has must be able to read it and say what is missing.
var version = process.versions.node.split(".").map(Number);
if (version[0] < 22 || (version[0] === 22 && version[1] < 18)) {
  console.error(`emend needs Node 22.18 or newer and this is ${process.version}; see https://nodejs.org`);
  process.exit(1);
}
// Node calls its own SQLite experimental; whoever types a command is not helped by hearing it.
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") console.error(`emend: ${warning.message}`);
});
// In a checkout it stands beside the source, in the published package beside what was compiled.
const source = `${__dirname}/../src/main.ts`;
import(
  require("node:fs").existsSync(source)
    ? require("../../../scripts/bundle-of.cjs").bundleOf(source)
    : "../packages/cli/src/main.js"
);
