// A job's start on a large repository, over HTTP: the mirror beside what `git clone` takes in the same run. Aims: a warm
// start ≥ 50× faster than `git clone --depth 1`, a first mirror ≤ 1.3 × a depth-1 bare clone, 50 jobs at once without one
// failing.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import { generatePages, makeRepository } from "@emend/testkit/make-repository.ts";
import { createGit, createMirrors } from "@emend/tree";
import { writeFigure } from "../../site/bench/results.ts";
import { median } from "./measure.ts";

const pages = 14_000;
const rounds = 5;
/** Starts are short, and a busy machine delays single ones. */
const startsARound = 5;
const jobs = 50;
const dir = mkdtempSync(join(tmpdir(), "emend-bench-mirror-"));
const repository = makeRepository(join(dir, "remotes/docs.git"));
repository.commit(generatePages(pages));
repository.git("repack", "-adq");
const server = await startGitHttpServer({ root: join(dir, "remotes") });
const remote = { url: `${server.url}/docs.git`, authorization: null };
const git = createGit({ allowedProtocols: ["http"] });
const log = createLogger({ level: "silent" });
const { signal } = new AbortController();

/** In a separate process, so that the server here can answer it. */
async function clone(name: string, ...args: string[]): Promise<number> {
  const startedAt = performance.now();
  const child = spawn("git", ["clone", "--quiet", "--depth=1", ...args, remote.url, join(dir, name)], {
    stdio: "inherit",
  });
  await new Promise((resolve) => child.once("exit", resolve));
  return performance.now() - startedAt;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

try {
  const first: { ours: number; bare: number }[] = [];
  const warm: { ours: number; clone: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const mirrors = createMirrors({ dir: join(dir, `mirrors-${round}`), git, log });
    const mirror = await mirrors.open("prj_bench");
    const fetch = (jobId: string) => mirror.fetchBase({ remote, jobId, baseRef: null }, signal);
    first.push({ ours: await timed(() => fetch("job_first")), bare: await clone(`bare-${round}`, "--bare") });
    await mirror.treeAt((await fetch("job_second")).commit).list();
    const starts: number[] = [];
    for (let start = 0; start < startsARound; start += 1) {
      starts.push(await timed(async () => mirror.treeAt((await fetch(`job_warm${start}`)).commit).list()));
    }
    warm.push({ ours: median(starts), clone: await clone(`clone-${round}`) });
    await mirrors.close();
  }
  const mirrors = createMirrors({ dir: join(dir, "mirrors-0"), git, log });
  const mirror = await mirrors.open("prj_bench");
  const one = async (jobId: string) => {
    const base = await mirror.fetchBase({ remote, jobId, baseRef: null }, signal);
    const { commitId } = await mirror.commit(
      {
        jobId,
        base: base.commit,
        entries: [{ path: `${jobId}.md`, mode: "100644", content: Buffer.from(jobId) }],
        message: jobId,
        author: { name: "Bench", email: "bench@example.com" },
        date: new Date(0),
      },
      signal,
    );
    return mirror.push({ remote, branch: `emend/${jobId}`, commit: commitId, expected: null }, signal);
  };
  const startedAt = performance.now();
  const outcomes = await Promise.allSettled(Array.from({ length: jobs }, (_, index) => one(`job_${index}`)));
  const failed = outcomes.filter((outcome) => outcome.status === "rejected" || outcome.value.kind !== "pushed");
  await mirrors.close();
  const show = (ms: number) => `${ms.toFixed(0)} ms`;
  console.log(
    `job start, mirror warm: ${show(median(warm.map(({ ours }) => ours)))}, git clone --depth 1 ${show(median(warm.map((round) => round.clone)))}: ${median(warm.map((round) => round.clone / round.ours)).toFixed(0)}× faster (aim ≥ 50×), ${pages} pages, ${rounds} rounds`,
  );
  await writeFigure("preparing a job", "npm run bench -- mirror --write", {
    what: "preparing a job, faster than a clone",
    figure: `${median(warm.map((round) => round.clone / round.ours)).toFixed(0)}×`,
    aim: "≥ 50×",
  });
  console.log(
    `first mirror: ${show(median(first.map(({ ours }) => ours)))}, depth-1 bare clone ${show(median(first.map(({ bare }) => bare)))}: ${median(first.map(({ ours, bare }) => ours / bare)).toFixed(2)} × (aim ≤ 1.3)`,
  );
  console.log(
    `${jobs} jobs at once on one mirror, from base to pushed branch: ${failed.length} failed, ${show(performance.now() - startedAt)} together`,
  );
} finally {
  await server.close();
  rmSync(dir, { recursive: true, force: true });
}
