// Costly: git's own programs merge what moved, and a killed process must not do it twice.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestForge, type TestForge } from "@emend/testkit/forge.ts";
import { type ForgeWorkerOrder, startForgeWorker } from "@emend/testkit/forge-worker.ts";
import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { makeRepository, type RepositoryFile, type TestRepository } from "@emend/testkit/make-repository.ts";
import { readEvents, readJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { programOf } from "@emend/testkit/test-programs.ts";
import { quickRows } from "@emend/testkit/tier.ts";
import { expireLeases, isFinal, waitForJob } from "@emend/testkit/worker-control.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CrashPoint } from "../src/run/crash-points.ts";

const childScript = programOf(new URL("../../testkit/src/forge-worker-process.ts", import.meta.url));
const prompt = 'Replace "API token" with "access key".';
const page = (...body: string[]) => `# Page\n\n${body.join("\n\n")}\n`;
const filler = Array.from({ length: 8 }, (_, index) => `Paragraph ${index}.`);
const dir = mkdtempSync(join(tmpdir(), "emend-moved-"));
let host: TestForge;
let far: FarEnd;
const repositories: Record<string, TestRepository> = {};

beforeAll(async () => {
  host = await startTestForge();
  const { pool } = host.database;
  await pool.query("create table turns (job_id text, number int, stored boolean)");
  mkdirSync(join(dir, "docs/guides"), { recursive: true });
  writeFileSync(join(dir, "docs/guides/start.md"), page("Use your API token."));
  await host.addProject("prj_local", join(dir, "docs"));
  repositories.local = makeRepository(join(host.forgeDir, "prj_local.git"));
  far = await startFarEnd(githubVendor);
  repositories.github = far.state.repository;
  await pool.query("insert into projects (id, name, forge, repository_url) values ('prj_github', 'g', 'github', $1)", [
    far.repositoryUrl,
  ]);
});
afterAll(async () => {
  await far.close();
  await host.close();
  rmSync(dir, { recursive: true, force: true });
  expect(far.violations).toEqual([]);
});

function orderFor(node: string): ForgeWorkerOrder {
  const { database, forgeDir, url: publicUrl } = host;
  return { databaseUrl: database.url, dir: join(dir, node), forgeDir, publicUrl, token: far.token };
}

/** Runs the job in this process. `happens` is called at a given point. */
async function runToEnd(jobId: string, happens: Partial<Record<CrashPoint, () => void>> = {}) {
  const worker = await startForgeWorker(orderFor("here"), (point) => happens[point]?.());
  return waitForJob(host.database.pool, jobId, isFinal).finally(() => worker.stop());
}

async function bodyOf(forge: string, jobId: string): Promise<string> {
  if (forge === "github") return far.pullsOf(`emend/${jobId}`)[0]?.body ?? "";
  return (await host.open("prj_local").findPullRequests({ head: `emend/${jobId}` }, host.signal))[0]?.body ?? "";
}

describe.each(quickRows(["local", "github"] as const, 1))("a base that moves while a job of %s works", (forge) => {
  const name = (number: number) => `guides/${forge}-${number}.md`;
  function start(files: Record<string, RepositoryFile>) {
    const repository = repositories[forge] as TestRepository;
    const base = repository.commit(files);
    const show = (jobId: string, path: string) => repository.git("show", `refs/heads/emend/${jobId}:${path}`);
    const parent = (jobId: string) => repository.git("rev-parse", `refs/heads/emend/${jobId}^`);
    return { repository, base, show, parent };
  }

  it("is taken in where both changes go together, and judged there", async () => {
    const path = name(1);
    const { repository, show, parent } = start({ [path]: page("Use your API token.", ...filler, "Old.") });
    const jobId = await seedJob(host.database.pool, `prj_${forge}`, prompt);
    let moved = "";
    const ended = await runToEnd(jobId, {
      "before-base-taken-in": () => {
        moved = repository.commit({ [path]: page("Use your API token.", ...filler, "New."), "extra.md": "# E\n" });
      },
    });
    expect(ended).toMatchObject({ status: "completed", base_commit: moved, base_conflict: null });
    expect(parent(jobId)).toBe(moved);
    expect(show(jobId, path)).toBe(page("Use your access key.", ...filler, "New.").trim());
    expect(await bodyOf(forge, jobId)).not.toContain("changed** while");
    const events = await readEvents(host.database.pool, jobId);
    expect(events).toContainEqual(
      expect.objectContaining({
        data: { phase: "checking", base: { commit: moved, branch: "main", moved: "merged" } },
      }),
    );
  });

  it("is judged where it was merged: a link that came with it and breaks there makes a draft", async () => {
    const { repository } = start({ [`guides/${forge}-old.md`]: page("Here.") });
    const order = `Rename the page guides/${forge}-old.md to guides/${forge}-new.md.`;
    const jobId = await seedJob(host.database.pool, `prj_${forge}`, order);
    const ended = await runToEnd(jobId, {
      "before-base-taken-in": () =>
        void repository.commit({ [`guides/${forge}-late.md`]: page(`[Old](${forge}-old.md)`) }),
    });
    expect(ended).toMatchObject({ status: "completed", pull_request: { draft: true } });
    expect(await bodyOf(forge, jobId)).toContain(`guides/${forge}-late.md`);
  });

  it("that is in conflict is not merged, and the pull request says so", async () => {
    const path = name(2);
    const { repository, base, show, parent } = start({ [path]: page("Use your API token.") });
    const jobId = await seedJob(host.database.pool, `prj_${forge}`, prompt);
    const ended = await runToEnd(jobId, {
      "before-base-taken-in": () => void repository.commit({ [path]: page("Use a password.") }),
    });
    expect(ended).toMatchObject({ status: "completed", base_commit: base, base_conflict: [path] });
    expect(parent(jobId)).toBe(base);
    expect(show(jobId, path)).toBe(page("Use your access key.").trim());
    const body = await bodyOf(forge, jobId);
    expect(body).toContain("changed** while");
    expect(body).toContain(path);
  });
});

describe("a merge that a crash cut off", () => {
  async function crash(at: CrashPoint) {
    const order = { ...orderFor("doomed"), crashAt: at };
    const child = spawn(process.execPath, [childScript, JSON.stringify(order)], {
      stdio: ["pipe", "ignore", "inherit"],
    });
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
    await expireLeases(host.database.pool);
  }

  it("is kept once its commit is stored, even if the base moves", async () => {
    const { pool } = host.database;
    const repository = repositories.local as TestRepository;
    const path = "guides/crash.md";
    repository.commit({ [path]: page("Use your API token.", ...filler, "Old.") });
    const jobId = await seedJob(pool, "prj_local", prompt);
    await crash("after-base-pinned");
    const moved = repository.commit({ [path]: page("Use your API token.", ...filler, "New.") });
    await crash("after-commit-stored");
    const stored = await readJob(pool, jobId);
    expect(stored).toMatchObject({ base_commit: moved, status: "active" });
    repository.commit({ [path]: page("Use your API token.", ...filler, "Newer.") });

    expect(await runToEnd(jobId)).toMatchObject({ status: "completed", commit_id: stored.commit_id });
    expect(repository.git("rev-parse", `refs/heads/emend/${jobId}`)).toBe(stored.commit_id);
    expect(repository.git("rev-parse", `refs/heads/emend/${jobId}^`)).toBe(moved);
    const { rows } = await pool.query("select from turns where job_id = $1 and stored", [jobId]);
    expect(rows).toEqual([]);
  });
});
