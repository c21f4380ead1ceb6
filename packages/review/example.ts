// node example.ts https://host/docs.git "<b onclick=alert(1)>": adds a line to README.md, and says whether it is only content.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { reviewChange } from "@emend/review";
import { createGit, createMirrors, createOverlay } from "@emend/tree";

const [url = "", line = ""] = process.argv.slice(2);
const git = createGit({ allowedProtocols: ["file", "http"] });
const dir = await mkdtemp(join(tmpdir(), "mirrors-"));
const mirrors = createMirrors({ dir, git, log: createLogger({ level: "warn" }) });
const mirror = await mirrors.open("docs");
const signal = AbortSignal.timeout(60_000);
const { commit } = await mirror.fetchBase(
  { remote: { url, authorization: null }, jobId: "example", baseRef: null },
  signal,
);

const base = mirror.treeAt(commit);
const overlay = await createOverlay(base);
await overlay.set("README.md", Buffer.from(`${await overlay.read("README.md")}\n${line}\n`));
const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1_000_000 };
console.log(await reviewChange({ base, overlay, policy }, signal));
await mirrors.close();
