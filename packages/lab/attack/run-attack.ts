// `npm run attack`: the attacks of docs/security-model.md against a running installation, then the related test suites.
// `npm run attack -- content` counts what becomes of every recorded edit (see content.ts).
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runContent } from "./content.ts";
import { experiments } from "./experiments.ts";
import { startInstallation } from "./installation.ts";

/** Attacks that are tests, because they need no running server, or a scripted service. */
const suites = [
  ["orders of an injected page, to a model that obeys", "packages/agent/src/obedient-model.test.ts"],
  ["a change that asks the gate's model to excuse it", "packages/server/src/gate/read-with-model.test.ts"],
  ["forms of address, as a real browser reads them", "packages/review/src/address-forms.test.ts"],
  ["the same forms, in a browser", "packages/dashboard/test/browser/address-forms.wide.test.ts"],
  ["builder plugins and lock files that attack the server", "packages/build/src/hostile.test.ts"],
  ["repositories nobody vouches for", "packages/tree/src/attacks.test.ts"],
  ["every role at every route of the dashboard", "packages/server/src/dashboard/roles.test.ts"],
  ["pages of other sites, at every route of the dashboard", "packages/server/src/dashboard/attacks.test.ts"],
  ["requests fuzzed from the OpenAPI document", "packages/server/src/http/fuzz.test.ts"],
  ["answers of a model without bounds", "packages/agent/src/models/bound-answer.wide.test.ts"],
  ["addresses of webhooks inside the network", "packages/server/src/notify/public-address.test.ts"],
  ["texts that grow, to every reader", "packages/lab/test/growth.wide.test.ts"],
] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    live: { type: "boolean", default: false },
    only: { type: "string" },
  },
});
if (positionals[0] === "content") process.exit((await runContent(values.only)) === 0 ? 0 : 1);
const root = fileURLToPath(new URL("../../../", import.meta.url));
let failures = 0;

function tell(name: string, problem: string | null, found = ""): void {
  if (problem !== null) failures += 1;
  console.log(
    `${problem === null ? "held" : "BROKE"}  ${name}${problem === null ? (found ? `: ${found}` : "") : `\n${problem}`}`,
  );
}

const host = await startInstallation();
try {
  for (const { name, run } of experiments.filter(({ name }) => name.includes(values.only ?? ""))) {
    await run(host).then(
      (found) => tell(name, null, found),
      (error: unknown) => tell(name, error instanceof Error ? error.message : String(error)),
    );
  }
} finally {
  await host.stop();
}
if (!values.live) {
  for (const [name, file] of suites) {
    const args = ["scripts/run.mjs", "node_modules/vitest/vitest.mjs", "run", file];
    const { status, stdout } = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, EVERY_ADDRESS: "1" },
    });
    tell(name, status === 0 ? null : stdout.slice(-4_000), file);
  }
}
console.log(failures === 0 ? "Every promise held." : `${failures} did not hold.`);
process.exitCode = failures === 0 ? 0 : 1;
