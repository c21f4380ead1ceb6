// GITEA_TOKEN=… node example.ts https://host/owner/docs: proposes one edit. Run it again: the pull request stays the only one.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { createFetch } from "@emend/base/network.ts";
import { openRemoteForge, plainSettings } from "@emend/forges";
import { createWriteQueue, publishChange } from "@emend/publish";
import { createGit, createMirrors } from "@emend/tree";

const [repositoryUrl = ""] = process.argv.slice(2);
const { fetch, close } = createFetch({});
const project = { id: "docs", forge: "gitea", repositoryUrl, settings: plainSettings };
const forge = openRemoteForge({ fetch, project, credential: process.env.GITEA_TOKEN ?? "", tokens: new Map() });
const git = createGit({ allowedProtocols: ["http", "https"] });
const dir = await mkdtemp(join(tmpdir(), "mirrors-"));
const mirrors = createMirrors({ dir, git, log: createLogger({ level: "warn" }) });
const signal = AbortSignal.timeout(60_000);

const mirror = await mirrors.open("docs");
const remote = await forge.gitRemote(signal);
const base = await mirror.fetchBase({ remote, jobId: "example", baseRef: null }, signal);
// Everything that a commit contains is given, so that every run makes the same one.
const job = {
  id: "example",
  createdAt: new Date(0),
  branch: "emend/example",
  prompt: "Say hello.",
  followUps: [],
  url: "",
};
const entries = [{ path: "hello.md", mode: "100644" as const, content: Buffer.from("# Hello\n") }];
const published = await publishChange(
  {
    ...{ forge, mirror, writes: createWriteQueue(), crashPoint: () => {}, warn: async (words) => console.warn(words) },
    // A service stores these, and renews its lease before each request that changes something.
    store: { saveCommit: async () => {}, savePush: async () => {}, saveCreate: async () => {} },
    renewForEffect: async () => ({ sendBeforeMs: performance.now() + 20_000 }),
  },
  {
    ...{ job, base, entries, title: "Say hello", summary: "Adds a page.", draft: false, sources: [], baseConflict: [] },
    ...{ model: "none", usage: { steps: 0, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 } },
    checks: { introduced: [], fixed: [], findingsBefore: 0, findingsAfter: 0 },
    commit: { authorName: "Example", authorEmail: "example@example.com", signOff: false },
    ...{ stored: null, branchExpected: null, createLeftMs: null, mayRepeatCreate: true, continuesClosed: true },
  },
  signal,
);
console.log(published.kind, "pullRequest" in published ? published.pullRequest.url : published.branch);
await mirrors.close();
await close();
