// node example.ts https://host/docs.git: proposes one edit on a branch of its own. Nothing is checked out.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { createGit, createMirrors, createOverlay } from "@emend/tree";

const remote = { url: process.argv[2] ?? "", authorization: null };
const git = createGit({ allowedProtocols: ["file", "http"] });
const mirrors = createMirrors({
  dir: await mkdtemp(join(tmpdir(), "mirrors-")),
  git,
  log: createLogger({ level: "warn" }),
});
const signal = AbortSignal.timeout(60_000);
const mirror = await mirrors.open("docs");
const { commit: base, ref } = await mirror.fetchBase({ remote, jobId: "example", baseRef: null }, signal);

const overlay = await createOverlay(mirror.treeAt(base));
const page = (await overlay.read("README.md")) ?? "";
await overlay.set("README.md", Buffer.from(`${page}\nEdited without a work tree.\n`));
const input = {
  jobId: "example",
  base,
  entries: overlay.entries(),
  message: "Say how this was edited",
  date: new Date(),
};
const author = { name: "Example", email: "example@example.com" };
const { commitId: commit } = await mirror.commit({ ...input, author }, signal);
const { patch } = await mirror.diff({ from: base, to: commit }, signal);
console.log(patch.toString());
console.log(ref, await mirror.push({ remote, branch: "example", commit, expected: null }, signal));
await mirrors.close();
