import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Forge } from "@emend/forges";
import { personGit, startTestForge, type TestForge } from "@emend/testkit/forge.ts";
import { type PublishNode, publishTestJob } from "@emend/testkit/publish-job.ts";
import { alterJob, readJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import type { Mirror } from "@emend/tree";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { mergePullRequest } from "../forge/local/pull-desk.ts";
import { markClosed } from "../forge/local/pull-requests.ts";
import { repositoryOf } from "../forge/local/repository.ts";

const projectId = "prj_publish";
let host: TestForge;
let node: PublishNode;

beforeAll(async () => {
  host = await startTestForge();
  await mkdir(join(host.dir, "docs/guides"), { recursive: true });
  await writeFile(join(host.dir, "docs/guides/start.md"), "# Start\n\nUse your API token.\n");
  const forge = await host.addProject(projectId, join(host.dir, "docs"));
  node = { pool: host.database.pool, git: host.git, forge, mirrorsDir: join(host.dir, "mirrors") };
});
afterAll(() => host.close());

const newJob = () => seedJob(host.database.pool, projectId);
const inRepository = (...args: string[]) =>
  personGit(host.dir, `--git-dir=${join(host.forgeDir, `${projectId}.git`)}`, ...args);
const pullRequestsOf = (jobId: string) => node.forge.findPullRequests({ head: `emend/${jobId}` }, host.signal);
const branchOf = (jobId: string) => inRepository("for-each-ref", "--format=%(objectname)", `refs/heads/emend/${jobId}`);

function withForge(change: (forge: Forge) => Partial<Forge>) {
  return { deps: ({ forge }: { forge: Forge }) => ({ forge: { ...forge, ...change(forge) } }) };
}
function withPush(push: (mirror: Mirror) => Mirror["push"]) {
  return { deps: ({ mirror }: { mirror: Mirror }) => ({ mirror: { ...mirror, push: push(mirror) } }) };
}
const badGateway = () => new AppError("forge_unavailable", { publicMessage: "502 Bad Gateway", retryable: true });

describe("publishing a change", () => {
  it("opens a pull request whose commit carries the job's date and whose body carries its marker", async () => {
    const jobId = await newJob();
    await alterJob(host.database.pool, jobId, "created_at = created_at - interval '1 day'");
    const publication = await publishTestJob(node, jobId);
    if (publication.kind !== "opened") throw new Error(publication.kind);
    expect(publication.pullRequest.url).toBe(`${host.url}/forge/${projectId}/pull/${publication.pullRequest.number}`);
    expect(publication.pullRequest.body).toContain(`<!-- emend:job=${jobId} -->`);
    expect(await branchOf(jobId)).toBe(publication.commitId);
    const { created_at: createdAt, commit_id: stored, pushed } = await readJob(host.database.pool, jobId);
    expect([stored, pushed]).toEqual([publication.commitId, true]);
    const seconds = Math.floor(createdAt.getTime() / 1000);
    expect(await inRepository("log", "-1", "--format=%at %ct %an %s", publication.commitId)).toBe(
      `${seconds} ${seconds} Emend Replace "API token" with "access key"`,
    );
    expect(await inRepository("log", "-1", "--format=%(trailers:key=Emend-Job,valueonly)", publication.commitId)).toBe(
      jobId,
    );
  });

  it("stores the commit before it pushes", async () => {
    const jobId = await newJob();
    let stored: unknown;
    await publishTestJob(
      node,
      jobId,
      withPush((mirror) => async (input, signal) => {
        stored = (await readJob(host.database.pool, jobId)).commit_id;
        return mirror.push(input, signal);
      }),
    );
    expect(stored).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe("what people did to the branch", () => {
  it("is never overwritten", async () => {
    const jobId = await newJob();
    const theirs = await inRepository("rev-parse", "main");
    await inRepository("update-ref", `refs/heads/emend/${jobId}`, theirs);
    expect(await publishTestJob(node, jobId)).toEqual({
      kind: "branch_conflict",
      branch: `emend/${jobId}`,
      found: theirs,
    });
    expect(await branchOf(jobId)).toBe(theirs);
    expect(await pullRequestsOf(jobId)).toEqual([]);
    expect(await readJob(host.database.pool, jobId)).toMatchObject({ pushed: false });
  });

  it("does not hide the pull request that an earlier run had opened", async () => {
    const jobId = await newJob();
    const first = await publishTestJob(node, jobId);
    const tree = await inRepository("rev-parse", `emend/${jobId}^{tree}`);
    const theirs = await inRepository("commit-tree", "-p", `emend/${jobId}`, "-m", "A person's touch", tree);
    await inRepository("update-ref", `refs/heads/emend/${jobId}`, theirs);
    expect(await publishTestJob(node, jobId)).toEqual({ ...first, kind: "found" });
    expect(await branchOf(jobId)).toBe(theirs);
  });

  it("is known to be pushed where an earlier run died before it could say so", async () => {
    const jobId = await newJob();
    await publishTestJob(node, jobId);
    await alterJob(host.database.pool, jobId, "pushed = false");
    expect(await publishTestJob(node, jobId)).toMatchObject({ kind: "found" });
    expect(await readJob(host.database.pool, jobId)).toMatchObject({ pushed: true });
  });

  it("gets a further message's commit, though the pull request is there", async () => {
    const jobId = await newJob();
    const first = await publishTestJob(node, jobId);
    if (first.kind !== "opened") throw new Error(first.kind);
    await alterJob(host.database.pool, jobId, "commit_id = null, tree_id = null");
    const entries = [{ path: "guides/later.md", mode: "100644", content: Buffer.from("# Later\n") }] as const;
    const input = { branchExpected: first.commitId, entries };
    let tries = 0;
    const dying = withForge((forge) => ({
      findPullRequests: (...args) =>
        ++tries === 1 ? Promise.reject(new Error("killed")) : forge.findPullRequests(...args),
    }));
    // It dies after its commit is stored and pushed. The next run must not mistake the first round's pull request for its own.
    await publishTestJob(node, jobId, { ...dying, input }).catch(() => {});
    await inRepository("update-ref", `refs/heads/emend/${jobId}`, first.commitId);
    await publishTestJob(node, jobId, { input });
    expect(await inRepository("show", `emend/${jobId}:guides/later.md`)).toBe("# Later");
  });

  it("closed stays closed", async () => {
    const jobId = await newJob();
    const first = await publishTestJob(node, jobId);
    if (first.kind !== "opened") throw new Error(first.kind);
    await markClosed(host.database.pool, projectId, first.pullRequest.number);
    expect(await publishTestJob(node, jobId)).toMatchObject({ kind: "closed", pullRequest: { state: "closed" } });
    // Even without a record that it was published before.
    await alterJob(host.database.pool, jobId, "commit_id = null, tree_id = null");
    expect(await publishTestJob(node, jobId)).toMatchObject({ kind: "closed" });
    expect(await pullRequestsOf(jobId)).toHaveLength(1);
  });

  it("merged and deleted does not come back", async () => {
    const jobId = await newJob();
    const first = await publishTestJob(node, jobId);
    if (first.kind !== "opened") throw new Error(first.kind);
    const deps = { db: host.database.pool, repository: repositoryOf(host, projectId) };
    const { number } = first.pullRequest;
    await mergePullRequest(deps, { projectId, number, headExpected: null, by: "a test" }, host.signal);
    await inRepository("update-ref", "-d", `refs/heads/emend/${jobId}`);
    expect(await publishTestJob(node, jobId)).toMatchObject({ kind: "merged", pullRequest: { state: "merged" } });
    expect(await branchOf(jobId)).toBe("");
  });
});

describe("a follow-up", () => {
  const entries = [{ path: "guides/later.md", mode: "100644", content: Buffer.from("# Later\n") }] as const;
  const { signal } = new AbortController();

  /** A job with an open pull request, and what its follow-up publishes. */
  async function opened() {
    const jobId = await newJob();
    const first = await publishTestJob(node, jobId);
    if (first.kind !== "opened") throw new Error(first.kind);
    await alterJob(host.database.pool, jobId, "commit_id = null, tree_id = null, create_until = null");
    const { number } = first.pullRequest;
    const deps = { db: host.database.pool, repository: repositoryOf(host, projectId) };
    const merge = () => mergePullRequest(deps, { projectId, number, headExpected: null, by: "a test" }, signal);
    const input = { branchExpected: first.commitId, entries };
    return { jobId, number, input, merge, branch: `refs/heads/emend/${jobId}` };
  }
  const notices: string[] = [];
  const noting = { deps: () => ({ warn: async (words: string) => void notices.push(words) }) };

  it.each(["kept", "deleted"])("opens a new pull request if its own was merged and the branch %s", async (how) => {
    const { jobId, number, input, merge, branch } = await opened();
    await merge();
    if (how === "deleted") await inRepository("update-ref", "-d", branch);
    const outcome = await publishTestJob(node, jobId, { input, ...noting });
    if (outcome.kind !== "opened") throw new Error(outcome.kind);
    expect(outcome.pullRequest.number).toBeGreaterThan(number);
    expect(outcome.pullRequest.body).toMatch(/^Continues \[pull request \d+\]\(http.*\), which was merged before this/);
    expect(notices.at(-1)).toBe(
      `Pull request ${number} was merged before this follow-up was published. Emend opened a new one`,
    );
    expect(await inRepository("show", `${branch}:guides/later.md`)).toBe("# Later");
    // Again, as after a crash: the new one is found.
    expect(await publishTestJob(node, jobId, { input })).toMatchObject({
      kind: "found",
      pullRequest: { number: outcome.pullRequest.number },
    });
  });

  it.each(["merged", "closed"] as const)(
    "fails with words if its own was %s and the project wants that",
    async (how) => {
      const { jobId, number, input, merge } = await opened();
      await (how === "merged" ? merge() : markClosed(host.database.pool, projectId, number));
      const outcome = await publishTestJob(node, jobId, { input: { ...input, continuesClosed: false } });
      expect(outcome).toMatchObject({
        kind: "not_open",
        pullRequest: { number, state: how },
        branch: `emend/${jobId}`,
      });
      expect(await pullRequestsOf(jobId)).toHaveLength(1);
    },
  );

  it("that was merged with its commit is published", async () => {
    const { jobId, input, merge, branch } = await opened();
    const dying = withForge(() => ({ findPullRequests: () => Promise.reject(new Error("killed")) }));
    await publishTestJob(node, jobId, { ...dying, input }).catch(() => {});
    await merge();
    expect(await publishTestJob(node, jobId, { input })).toMatchObject({ kind: "merged" });
    await inRepository("update-ref", "-d", branch);
    expect(await publishTestJob(node, jobId, { input })).toMatchObject({ kind: "merged" });
    expect(await branchOf(jobId)).toBe("");
  });

  it("is on its branch, although a person has added a commit since it was pushed", async () => {
    const { jobId, input, branch } = await opened();
    const away = withForge(() => ({ findPullRequests: () => Promise.reject(badGateway()) }));
    await expect(publishTestJob(node, jobId, { ...away, input })).rejects.toMatchObject({ code: "forge_unavailable" });
    const ours = await branchOf(jobId);
    const theirs = await inRepository("commit-tree", "-p", ours, "-m", "A person's touch", `${ours}^{tree}`);
    await inRepository("update-ref", branch, theirs);
    expect(await publishTestJob(node, jobId, { input })).toMatchObject({ kind: "found", commitId: ours });
    expect(await branchOf(jobId)).toBe(theirs);
  });

  it("does not undo a person's reset of the branch", async () => {
    const { jobId, input, branch } = await opened();
    await inRepository("update-ref", branch, `${branch}^`);
    expect(await publishTestJob(node, jobId, { input })).toMatchObject({ kind: "branch_conflict" });
  });
});

describe("an unclear answer", () => {
  it("after the pull request was made leads back to it", async () => {
    const jobId = await newJob();
    let lost = 0;
    const losesAnswers = withForge((forge) => ({
      async createPullRequest(draft, signal) {
        await forge.createPullRequest(draft, signal);
        lost += 1;
        throw lost === 1 ? badGateway() : new Error("a second request was sent");
      },
    }));
    expect((await publishTestJob(node, jobId, losesAnswers)).kind).toBe("found");
    expect(await pullRequestsOf(jobId)).toHaveLength(1);
  });

  it("before it was made leads to one", async () => {
    const jobId = await newJob();
    let resets = 2;
    const resetsFirst = withForge((forge) => ({
      createPullRequest: (draft, signal) =>
        resets-- > 0 ? Promise.reject(new TypeError("fetch failed")) : forge.createPullRequest(draft, signal),
    }));
    expect((await publishTestJob(node, jobId, resetsFirst)).kind).toBe("opened");
    expect(await pullRequestsOf(jobId)).toHaveLength(1);
  });

  it("that says one exists, before it is listed, leads to it", async () => {
    const jobId = await newJob();
    await publishTestJob(node, jobId);
    await alterJob(host.database.pool, jobId, "commit_id = null, tree_id = null");
    let listings = 0;
    const lags = withForge((forge) => ({
      async findPullRequests(head, signal) {
        listings += 1;
        return listings < 3 ? [] : forge.findPullRequests(head, signal);
      },
    }));
    expect((await publishTestJob(node, jobId, lags)).kind).toBe("found");
    expect(await pullRequestsOf(jobId)).toHaveLength(1);
  });

  it("to a push leads to the same push", async () => {
    const jobId = await newJob();
    let pushes = 0;
    const losesPush = withPush((mirror) => async (input, signal) => {
      const outcome = await mirror.push(input, signal);
      pushes += 1;
      if (pushes === 1) throw badGateway();
      return outcome;
    });
    expect((await publishTestJob(node, jobId, losesPush)).kind).toBe("opened");
    expect(pushes).toBe(2);
  });

  it("that stays unclear is left to a later run", async () => {
    const jobId = await newJob();
    const away = withForge(() => ({ createPullRequest: () => Promise.reject(badGateway()) }));
    await expect(publishTestJob(node, jobId, away)).rejects.toMatchObject({
      code: "forge_unavailable",
      retryable: true,
      publicMessage: "502 Bad Gateway",
    });
    expect((await publishTestJob(node, jobId)).kind).toBe("opened");
  });
});

describe("a forge's refusal", () => {
  it("that is permanent shows the forge's message and is not retried", async () => {
    const jobId = await newJob();
    let asked = 0;
    const refuses = withForge(() => ({
      async createPullRequest() {
        asked += 1;
        throw new AppError("forge_rejected", { publicMessage: "422: base is not a branch we like" });
      },
    }));
    await expect(publishTestJob(node, jobId, refuses)).rejects.toMatchObject({
      code: "forge_rejected",
      publicMessage: "422: base is not a branch we like",
    });
    expect(asked).toBe(1);
  });

  it("of a push shows the forge's message", async () => {
    const jobId = await newJob();
    const refuses = withPush(() => async () => ({ kind: "rejected", reason: "protected branch hook declined" }));
    await expect(publishTestJob(node, jobId, refuses)).rejects.toMatchObject({
      code: "forge_rejected",
      publicMessage: expect.stringContaining("protected branch hook declined"),
    });
  });

  it("for an hour is obeyed: nothing more is sent, and the run gets the time of the retry", async () => {
    const jobId = await newJob();
    let requests = 0;
    const limited = withForge(() => ({
      async createPullRequest() {
        requests += 1;
        throw new AppError("forge_unavailable", { publicMessage: "429", retryable: true, retryAfterMs: 3_600_000 });
      },
      async findPullRequests() {
        requests += 1;
        return [];
      },
    }));
    const rejection = await publishTestJob(node, jobId, limited).catch((error: unknown) => error);
    expect(rejection).toMatchObject({ code: "forge_unavailable", retryable: true });
    expect((rejection as AppError).retryAfterMs).toBeGreaterThan(3_500_000);
    expect(requests).toBe(2);
  });
});

describe("the lease", () => {
  it.each(["push", "create"] as const)("lost before the %s keeps it from being sent", async (effect) => {
    const jobId = await newJob();
    const point = effect === "push" ? "after-commit-stored" : "before-find";
    let isLost = false;
    const losing = {
      deps: ({ renewForEffect }: { renewForEffect(): Promise<{ sendBeforeMs: number }> }) => ({
        crashPoint: (name: string) => {
          isLost ||= name === point;
        },
        renewForEffect: async () => {
          if (isLost) await alterJob(host.database.pool, jobId, "lease = gen_random_uuid()");
          return renewForEffect();
        },
      }),
    };
    await expect(publishTestJob(node, jobId, losing)).rejects.toThrow(/lease .* lost/);
    expect(await pullRequestsOf(jobId)).toEqual([]);
    expect((await branchOf(jobId)) === "").toBe(effect === "push");
  });

  it("renewed too slowly is renewed again before anything is sent", async () => {
    const jobId = await newJob();
    let renewals = 0;
    let renewalsAtPush = 0;
    await publishTestJob(node, jobId, {
      deps: ({ renewForEffect, mirror }) => ({
        renewForEffect: async () => {
          renewals += 1;
          const renewed = await renewForEffect();
          return renewals === 1 ? { sendBeforeMs: 0 } : renewed;
        },
        mirror: {
          ...mirror,
          push(input, signal) {
            renewalsAtPush = renewals;
            return mirror.push(input, signal);
          },
        },
      }),
    });
    expect(renewalsAtPush).toBe(2);
  });
});
