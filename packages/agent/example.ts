// node example.ts https://host/docs.git "Rename the term cat to dog.": prints what the agent would change.
// A third argument names a language model, such as anthropic/claude-sonnet-5 with ANTHROPIC_API_KEY set.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openModel, runAgent } from "@emend/agent";
import { createLogger } from "@emend/base/logger.ts";
import { createGit, createMirrors, createOverlay } from "@emend/tree";

const [url = "", prompt = "", name = "emend/rules"] = process.argv.slice(2);
const git = createGit({ allowedProtocols: ["file", "http"] });
const mirrors = createMirrors({
  dir: await mkdtemp(join(tmpdir(), "mirrors-")),
  git,
  log: createLogger({ level: "warn" }),
});
const signal = AbortSignal.timeout(600_000);
const mirror = await mirrors.open("docs");
const remote = { url, authorization: null };
const { commit } = await mirror.fetchBase({ remote, jobId: "example", baseRef: null }, signal);

const base = mirror.treeAt(commit);
const overlay = await createOverlay(base);
const endpoints = { anthropic: { apiKey: process.env.ANTHROPIC_API_KEY ?? null, baseUrl: null } };
const model = await openModel({ endpoints, prices: {}, fetch, keyOf: async () => null }, { name, projectId: null });
const limits = { stepsMax: 50, tokensMax: 500_000, costUsdMax: 2, wallTimeMsMax: 600_000, toolOutputBytesMax: 50_000 };
const task = { jobId: "example", prompt, docsDir: ".", base, overlay, steps: [] };
const { kind, summary } = await runAgent({ model, limits, saveStep: async () => {} }, task, signal);
console.log(`${kind}: ${summary}\n${await overlay.diff()}`);
await mirrors.close();
