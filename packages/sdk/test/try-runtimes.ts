// Runs one journey with the packed client on each supported runtime: `npm run test:runtimes`. The runtimes come from the
// package registry into a temporary folder, because they are too large to be dependencies.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { buildSdk } from "../../../scripts/build-sdk.ts";
import { startContractServer } from "./support/contract-server.ts";

const run = promisify(execFile);
const runtimes = { node: "20.9.0", bun: "1.4.4", deno: "2.9.6", "edge-runtime": "4.0.1" } as const;
const expected = ["active", "failed", "failed", "invalid_signature"];

const journey = `
import { Emend, verifyWebhook } from "./sdk/index.js";
export async function journey(baseUrl) {
  const seen = [];
  const jobs = new Emend({ baseUrl, apiKey: "emend_test" }).jobs("docs");
  const { id } = await jobs.create({ prompt: "go" });
  for await (const job of jobs.list()) { seen.push(job.status); break; }
  await jobs.cancel(id);
  for await (const event of jobs.events(id)) seen.push(event.kind);
  seen.push((await jobs.wait(id)).status);
  await verifyWebhook({ secret: "whsec_AAAA", headers: {}, body: "" }).catch((error) => seen.push(error.kind));
  return seen;
}`;

const dir = await mkdtemp(join(tmpdir(), "emend-runtimes-"));
try {
  await buildSdk(join(dir, "sdk"));
  const allowScripts = { node: true, bun: true, deno: true };
  await writeFile(join(dir, "package.json"), JSON.stringify({ private: true, type: "module", allowScripts }));
  await writeFile(join(dir, "journey.js"), journey);
  const call = 'import { journey } from "./journey.js";\nconsole.log(JSON.stringify(await journey(';
  await writeFile(join(dir, "argv.js"), `${call}process.argv[2])));`);
  await writeFile(join(dir, "deno.js"), `${call}Deno.args[0])));`);
  const bundle = await rolldown({ input: join(dir, "journey.js") });
  await bundle.write({ file: join(dir, "edge-code.js"), format: "iife", name: "it" });
  await bundle.close();
  await writeFile(
    join(dir, "edge.js"),
    `import { readFileSync } from "node:fs";
import { EdgeRuntime } from "edge-runtime";
const runtime = new EdgeRuntime();
const code = readFileSync(new URL("edge-code.js", import.meta.url), "utf8");
const seen = await runtime.evaluate(code + ";it.journey(" + JSON.stringify(process.argv[2]) + ")");
console.log(JSON.stringify([...seen]));
process.exit(0);`,
  );
  const packages = Object.entries(runtimes).map(([name, version]) => `${name}@${version}`);
  await run("npm", ["install", "--no-save", "--no-audit", "--no-fund", ...packages], { cwd: dir });
  const program = (name: string) => join(dir, "node_modules", ".bin", name);
  const lines: readonly (readonly [string, string, string[]])[] = [
    [`Node ${runtimes.node}`, program("node"), ["argv.js"]],
    [`Bun ${runtimes.bun}`, program("bun"), ["run", "argv.js"]],
    [`Deno ${runtimes.deno}`, program("deno"), ["run", "--allow-net", "deno.js"]],
    [`edge-runtime ${runtimes["edge-runtime"]}`, process.execPath, ["edge.js"]],
  ];
  for (const [name, command, args] of lines) {
    const server = await startContractServer();
    try {
      server.tell("job_1", "failed");
      const { stdout } = await run(command, [...args, server.url], { cwd: dir, timeout: 60_000 });
      const isRight = stdout.trim() === JSON.stringify(expected);
      console.log(`${name}: ${isRight ? "works" : `differs: ${stdout.trim()}`}`);
      if (!isRight) process.exitCode = 1;
    } finally {
      await server.stop();
    }
  }
} finally {
  await rm(dir, { recursive: true, force: true });
}
