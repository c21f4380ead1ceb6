// Everything that must hold before a change lands, in the order of what fails fastest.
import { spawnSync } from "node:child_process";

const stages: ReadonlyArray<{ name: string; command: string; args: string[] }> = [
  { name: "lint", command: "node_modules/.bin/biome", args: ["check", "."] },
  { name: "types", command: process.execPath, args: ["node_modules/typescript/bin/tsc", "--noEmit"] },
  {
    name: "types of the dashboard",
    command: process.execPath,
    args: ["node_modules/typescript/bin/tsc", "--noEmit", "--project", "packages/dashboard"],
  },
  {
    name: "boundaries",
    command: process.execPath,
    args: [
      "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs",
      "packages",
      "--config",
      ".dependency-cruiser.cjs",
      "--output-type",
      "err",
    ],
  },
  { name: "unused", command: process.execPath, args: ["node_modules/knip/bin/knip.js"] },
  {
    name: "tests",
    command: process.execPath,
    args: ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)],
  },
];

for (const stage of stages) {
  const startedAt = performance.now();
  const { status } = spawnSync(stage.command, stage.args, { stdio: "inherit" });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (status !== 0) {
    console.error(`\n${stage.name}: failed after ${seconds} s`);
    process.exit(status ?? 1);
  }
  console.log(`${stage.name}: passed in ${seconds} s`);
}
