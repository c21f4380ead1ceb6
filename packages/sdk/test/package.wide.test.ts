// Costly: the packed package is what people install, and other runtimes are other programs.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildSdk } from "../../../scripts/build-sdk.ts";
import { type ContractServer, startContractServer } from "./support/contract-server.ts";

const run = promisify(execFile);
let dir: string;
let server: ContractServer;

// Packed as npm publishes it, in an otherwise empty project.
beforeAll(async () => {
  server = await startContractServer();
  dir = await mkdtemp(join(tmpdir(), "emend-sdk-"));
  await buildSdk(join(dir, "built"));
  await run("npm", ["pack", "--silent", "--pack-destination", dir, join(dir, "built")], { cwd: dir });
  const [tarball = ""] = (await readdir(dir)).filter((name) => name.endsWith(".tgz"));
  const installed = join(dir, "node_modules", "@emend", "sdk");
  await mkdir(installed, { recursive: true });
  await run("tar", ["-xzf", join(dir, tarball), "-C", installed, "--strip-components=1"]);
  await writeFile(join(dir, "package.json"), '{"type":"module"}');
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});

const consumer = `
import { Emend, EmendError, type AgentJob, type JobEvent, type JobRun, type WebhookEvent } from "@emend/sdk";
const jobs = new Emend({ baseUrl: process.argv[2] ?? "", apiKey: "emend_test" }).jobs("docs");
const job: AgentJob = await jobs.create({ prompt: "go" });
const status: "active" | "completed" | "archived" | "failed" = job.status;
const ref: string | null = job.source.ref;
const code = (run: JobRun) => run.failure?.code === "budget_exceeded";
const phase = (event: JobEvent) => (event.kind === "phase" ? event.data.phase : event.kind === "step" ? event.data.tools[0]?.name : null);
const merged = (event: WebhookEvent): number | null => (event.type === "pull_request.merged" ? event.data.pullRequest.number : null);
const wrong = (error: EmendError) => error.code === "rate_limited" && error.requestId;
// @ts-expect-error there is no such kind
void ((event: JobEvent) => event.kind === "finished");
void [phase, merged, wrong];
// @ts-expect-error a prompt is text
void (() => jobs.create({ prompt: 5 }));
// @ts-expect-error the job has nine fields and no other
void (() => job.title);
console.log(JSON.stringify({ status, ref, code: typeof code, error: EmendError.name }));
`;

test.each([
  ["nodenext", ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
  ["bundler", ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
  ["nodenext", ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext, "cts"],
])(
  "its types hold alone and strictly, resolved the way of %s",
  async (_name, module, moduleResolution, ending = "ts") => {
    const file = join(dir, `consumer.${ending}`);
    // CommonJS has no top-level await.
    const code =
      ending === "ts"
        ? consumer
        : consumer.replace(/^const job: AgentJob = await (.*);$/m, "declare const job: AgentJob; void $1;");
    await writeFile(file, `declare const process: { argv: string[] };${code}`);
    const program = ts.createProgram([file], {
      target: ts.ScriptTarget.ES2023,
      lib: ["lib.es2023.d.ts", "lib.dom.d.ts"],
      types: [],
      module,
      moduleResolution,
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipDefaultLibCheck: true,
    });
    const said = ts.getPreEmitDiagnostics(program);
    expect(said.map((one) => ts.flattenDiagnosticMessageText(one.messageText, " "))).toEqual([]);
  },
);

test("runs as it is packed, and brings no dependency", async () => {
  const file = join(dir, "consumer.js");
  await writeFile(file, ts.transpile(consumer, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext }));
  const { stdout } = await run(process.execPath, [file, server.url]);
  expect(JSON.parse(stdout)).toEqual({ status: "active", ref: "emend/job_1", code: "function", error: "EmendError" });
  // CommonJS: Node 20 cannot `require` an ES module.
  const required = `const { Emend, EmendError } = require("@emend/sdk");
    new Emend({ baseUrl: process.argv[2], apiKey: "k" }).jobs("docs").get("job_1").then((job) => console.log(job.id, EmendError.name));`;
  await writeFile(join(dir, "consumer.cjs"), required);
  const off = process.allowedNodeEnvironmentFlags.has("--experimental-require-module")
    ? ["--no-experimental-require-module"]
    : [];
  const said = await run(process.execPath, [...off, join(dir, "consumer.cjs"), server.url]);
  expect(said.stdout).toBe("job_1 EmendError\n");
  const manifest = JSON.parse(await readFile(join(dir, "node_modules/@emend/sdk/package.json"), "utf8"));
  expect(manifest).not.toHaveProperty("dependencies");
});

test("its fields carry their descriptions into the editor", async () => {
  const shapes = await readFile(join(dir, "node_modules/@emend/sdk/contract.d.ts"), "utf8");
  expect(shapes).toMatch(/\/\*\* URL of the pull request created by the agent\..*\*\/\n +prLink: string \| null;/);
  expect(shapes).toMatch(/\/\*\* Branch to start from .*\*\/\n +baseRef\?: string;/);
  expect(shapes).toMatch(/kind: "pull_request";/);
});
