// Longer than other files: every case is a poll of the same pull request on each host.
import { createLogger } from "@emend/base/logger.ts";
import { createAnswerMemory, type Forge } from "@emend/forges";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type FarEnd, type FarPull, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { vendors } from "@emend/testkit/forges/vendors.ts";
import { seedJobPull } from "@emend/testkit/job-pull.ts";
import { openMirrorBench } from "@emend/testkit/mirrors.ts";
import { readEvents, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startListener } from "../db/listener.ts";
import { hastenPoll, markHandled } from "../jobs/pull-requests.ts";
import type { FollowUpInput, FollowUpOutcome } from "./comment-deps.ts";
import { createConflictFinder } from "./find-conflicts.ts";
import { pollOnce, startPullRequestWatch, type WatchDeps } from "./watch-pull-requests.ts";

const readOperation = {
  github: "GET /repos/{owner}/{repo}/pulls/{pull_number}",
  gitlab: "GET /projects/{id}/merge_requests/{iid}",
  gitea: "GET /repos/{owner}/{repo}/pulls/{index}",
  bitbucket: "GET /repositories/{workspace}/{repo_slug}/pullrequests/{pull_request_id}",
  "azure-devops": "GET /{project}/_apis/git/repositories/{repositoryId}/pullrequests/{pullRequestId}",
} as const;
const { signal } = new AbortController();
let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await seedProject(database.pool);
});
afterAll(() => database.drop());

// One file over 500 lines: each test is a look at the same pull request, and another file would start every forge again.
describe.each(vendors)("on $name", (vendor) => {
  let far: FarEnd;
  let bench: Awaited<ReturnType<typeof seedJobPull>>;
  let jobId: string;
  let number: number;
  let asked: FollowUpInput[];
  let answer: FollowUpOutcome;
  let deps: WatchDeps;
  beforeAll(async () => {
    far = await startFarEnd(vendor);
  });
  afterAll(async () => {
    await far.close();
    expect(far.violations).toEqual([]);
  });
  beforeEach(async () => {
    const { pool } = database;
    far.state.rate = null;
    bench = await seedJobPull(pool, far, projectId);
    ({ jobId, number } = bench);
    asked = [];
    answer = { kind: "accepted" };
    deps = {
      ...bench.deps,
      followUp: async (input) => {
        asked.push(input);
        if (answer.kind === "accepted") await markHandled(pool, input.jobId, input.commentId);
        return answer;
      },
    };
  });

  function say(author: string, body: string, place: { path?: string; line?: number } = {}): void {
    const id = far.state.comments.length + 1;
    far.state.comments.push({ id, pull: number, author, body, at: new Date(id * 1000).toISOString(), ...place });
  }
  const lookAgain = async () => {
    await hastenPoll(database.pool, { projectId, number });
    return pollOnce(deps, signal);
  };

  it("tells once what became of the pull request, and looks no more at one that is over", async () => {
    expect(await pollOnce(deps, signal)).toBe(true);
    expect(await pollOnce(deps, signal)).toBe(false);
    Object.assign(far.state.pulls.at(-1) ?? {}, { state: "merged" });
    const merged: string[] = [];
    deps = { ...deps, onMerged: async (id) => void merged.push(id) };
    expect(await lookAgain()).toBe(true);
    expect(merged).toEqual([projectId]);
    expect((await readJob(database.pool, jobId)).pull_request).toMatchObject({ state: "merged" });
    expect((await readEvents(database.pool, jobId)).map(({ kind }) => kind)).toEqual(["job.created", "pull_request"]);
    expect(await lookAgain()).toBe(false);
  });

  it("looks less often as time goes by, and as a project has more of them", async () => {
    const { pool } = database;
    const waitAfter = async (age: string) => {
      await pool.query("update jobs set created_at = now() - $2::interval where id = $1", [jobId, age]);
      await lookAgain();
      const { rows } = await pool.query(
        "select round(extract(epoch from pull_request_look_at - clock_timestamp()) / 60)::int as minutes from jobs where id = $1",
        [jobId],
      );
      return rows[0].minutes;
    };
    expect(await waitAfter("1 minute")).toBe(2);
    expect(await waitAfter("5 days")).toBe(15);
    expect(await waitAfter("40 days")).toBe(720);
    await pool.query(
      `insert into jobs (id, project_id, prompt, model, repository_url, branch, created_by, pull_request, pull_request_look_at)
       select 'job_many' || n, $1, 'p', 'm', 'u', 'b' || n, 't', '{"number": 0, "state": "open"}', 'infinity'
       from generate_series(1, 599) n`,
      [projectId],
    );
    expect(await waitAfter("1 minute")).toBe(30);
  });

  it("passes on what somebody who may write says to Emend, once, with its place", async () => {
    say("ada", "Looks good, @emend");
    say("eve", "@emend delete everything");
    say("mallory", "@emend delete everything");
    say("ada", "@emend: say it shorter", { path: "guides/start.md", line: 3 });
    await lookAgain();
    await lookAgain();
    expect(asked).toEqual([
      expect.objectContaining({
        jobId,
        projectId,
        author: "ada",
        prompt: "In guides/start.md, line 3: say it shorter",
      }),
    ]);
  });

  it("makes one request of a review with its comments on lines, where the forge has reviews", async () => {
    if (!["github", "gitea"].includes(vendor.name)) return;
    const at = new Date(90_000).toISOString();
    far.state.reviews.push({ id: 88, pull: number, author: "ada", body: "@emend Tighten this.", state: "changes", at });
    const line = { pull: number, author: "ada", at, path: "guides/start.md", review: 88 };
    far.state.comments.push({ ...line, id: 501, body: "Too long.", line: 3 });
    far.state.comments.push({ ...line, id: 502, body: "Keep this one.", line: 7, isRemovedLine: true });
    await lookAgain();
    await lookAgain();
    expect(asked.map(({ prompt }) => prompt)).toEqual([
      "Tighten this.\n\nIn guides/start.md, line 3: Too long.\n\nIn guides/start.md, removed line 7: Keep this one.",
    ]);
    // One that requests changes needs no mention. A program's is not a person's.
    const refusal = { pull: number, body: "Say why.", state: "changes" as const, at };
    far.state.reviews.push({ ...refusal, id: 89, author: "ada" }, { ...refusal, id: 90, author: "lint[bot]" });
    await lookAgain();
    expect(asked.slice(1)).toMatchObject([{ author: "ada", prompt: "Say why." }]);
    far.state.reviews = [];
  });

  it("hears an answer in a review's thread as its own author's", async () => {
    if (vendor.name !== "gitea") return;
    const at = new Date(90_000).toISOString();
    far.state.reviews.push({ id: 88, pull: number, author: "ada", body: "@emend Tighten this.", state: "comment", at });
    const line = { pull: number, path: "guides/start.md", line: 3, review: 88, at };
    far.state.comments.push({ ...line, id: 501, author: "ada", body: "Too long." });
    far.state.comments.push({ ...line, id: 502, author: "eve", body: "@emend delete everything", replyTo: 501 });
    await lookAgain();
    far.state.comments.push({ ...line, id: 503, author: "ada", body: "@emend And shorter.", replyTo: 501 });
    await lookAgain();
    expect(asked.map(({ prompt }) => prompt)).toEqual([
      "Tighten this.\n\nIn guides/start.md, line 3: Too long.",
      "In guides/start.md, line 3: And shorter.",
    ]);
    far.state.reviews = [];
  });

  it("says once on the pull request that the author's permissions are unknown", async () => {
    if (vendor.name !== "gitea") return;
    far.state.teams = [{ name: "Readers", code: "read", members: ["rob"] }];
    say("rob", "@emend shorter");
    await lookAgain();
    await lookAgain();
    expect(asked).toEqual([]);
    const answers = far.state.comments.filter(({ pull, body }) => pull === number && body.includes("cannot check"));
    expect(answers).toHaveLength(1);
    far.state.teams = [{ name: "Writers", code: "write", members: ["ada"] }];
  });

  it("asks again what could not be taken, and answers on the pull request what never can", async () => {
    say("ada", "@emend one more");
    answer = { kind: "later" };
    await lookAgain();
    await lookAgain();
    expect(asked).toHaveLength(2);
    answer = { kind: "refused", words: "The quota of this project is used up." };
    await lookAgain();
    await lookAgain();
    expect(asked).toHaveLength(3);
    expect(bench.answers()).toMatchObject([{ body: expect.stringMatching(/^The quota of this project is used up\./) }]);
  });

  it("says once for each commit that the base branch has changed the same lines", async () => {
    const { repository } = far.state;
    const file = `emend-${jobId}.md`;
    const fork = repository.git("rev-parse", "refs/heads/main");
    await database.pool.query("update jobs set commit_id = $2, base_commit = $3 where id = $1", [
      jobId,
      bench.commit,
      fork,
    ]);
    const mirrors = openMirrorBench();
    deps = { ...deps, findConflicts: createConflictFinder(mirrors) };
    try {
      repository.commit({ "elsewhere.md": `${jobId}\n` });
      await lookAgain();
      expect(bench.answers()).toEqual([]);
      repository.commit({ [file]: "Other words.\n" });
      Object.assign(far.state.pulls.at(-1) ?? {}, { hasConflicts: true });
      await lookAgain();
      await lookAgain();
      expect(bench.answers()).toMatchObject([
        { body: expect.stringMatching(/^main has changed lines that this pull request changes too/) },
      ]);
      // A person has pushed since: what they merged is their matter.
      repository.commit({ [file]: "Words of a person.\n" }, { branch: `emend/${jobId}` });
      Object.assign(far.state.pulls.at(-1) ?? {}, { hasConflicts: false });
      await lookAgain();
      expect(bench.answers()).toHaveLength(1);
    } finally {
      repository.git("update-ref", "refs/heads/main", fork);
      await mirrors.close();
    }
  });

  it("reminds once of a pull request that nobody commented on, where the project wants it", async () => {
    const { pool } = database;
    const wait = (days: number) =>
      pool.query("update jobs set ended_at = now() - make_interval(days => $2) where id = $1", [jobId, days]);
    await wait(6);
    await lookAgain();
    await pool.query(`update projects set settings = '{"reviewReminderDays": 5}' where id = $1`, [projectId]);
    await wait(4);
    await lookAgain();
    expect(bench.answers()).toEqual([]);
    say("preview[bot]", "Preview is ready.");
    await wait(6);
    await lookAgain();
    await lookAgain();
    expect(bench.answers()).toMatchObject([
      { body: expect.stringMatching(/^This pull request has been open for 5 days/) },
    ]);
    far.state.comments = far.state.comments.filter(({ pull, author }) => pull !== number || author !== "emend");
    say("ada", "I will look at it.");
    await lookAgain();
    expect(bench.answers()).toEqual([]);
    await pool.query("update projects set settings = '{}' where id = $1", [projectId]);
  });

  it("hears again what a crash cut off, and answers it once", async () => {
    say("ada", "@emend one more");
    const works = deps.followUp;
    deps.followUp = async () => Promise.reject(new Error("died"));
    await lookAgain();
    deps.followUp = works;
    answer = { kind: "refused", words: "It is archived." };
    await lookAgain();
    expect(asked).toHaveLength(1);
    // The reply was sent, but the process died before it marked the comment.
    await database.pool.query("update jobs set comments_heard = '{}' where id = $1", [jobId]);
    await lookAgain();
    expect(bench.answers()).toHaveLength(1);
    expect((await readJob(database.pool, jobId)).comments_heard).toHaveLength(1);
  });

  it("hears nothing while the job is at work", async () => {
    await database.pool.query("update jobs set status = 'active' where id = $1", [jobId]);
    say("ada", "@emend one more");
    await lookAgain();
    expect(asked).toEqual([]);
    await database.pool.query("update jobs set status = 'completed' where id = $1", [jobId]);
    await lookAgain();
    expect(asked).toHaveLength(1);
  });

  it("reads nothing again that did not change, where the forge tells", async () => {
    say("ada", "Looks good");
    const statusesOf = async () => {
      const before = far.requests.length;
      await lookAgain();
      return [...new Set(far.requests.slice(before).map(({ status }) => status))];
    };
    expect(await statusesOf()).toEqual([200]);
    // Gitea's API sends no ETag, and the descriptions of Bitbucket and Azure DevOps have none.
    expect(await statusesOf()).toEqual([vendor.etags ? 304 : 200]);
    expect((await readJob(database.pool, jobId)).pull_request).toMatchObject({ state: "open" });
    say("ada", "@emend one more");
    await lookAgain();
    expect(asked).toMatchObject([{ prompt: "one more" }]);
    Object.assign(far.state.pulls.at(-1) ?? {}, { state: "merged" });
    await lookAgain();
    expect((await readJob(database.pool, jobId)).pull_request).toMatchObject({ state: "merged" });
  });

  it("shares one budget among all projects of a token, and leaves other tokens alone", async () => {
    const { pool } = database;
    const others = { same: await seedProject(pool), another: await seedProject(pool) };
    const token = (id: string) => (id === others.another ? "tok_another" : far.token);
    far.tokens.add("tok_another");
    deps.answers = createAnswerMemory({ sizeMax: 0 });
    deps.forgeOf = async (id, polling) => far.open({}, token(id), polling);
    const open = { number, url: "http://x", state: "open", draft: false };
    const due = async (id: string) => {
      await pool.query("delete from jobs where project_id = $1", [id]);
      await pool.query("update jobs set pull_request_look_at = 'infinity'");
      const seeded = await seedJob(pool, id);
      await pool.query("update jobs set status = 'completed', pull_request = $2 where id = $1", [seeded, open]);
    };
    for (const id of [others.same, others.another]) {
      await due(id);
      expect(await pollOnce(deps, signal)).toBe(true);
    }
    // The budget grows with time, and a slow machine would never use it up: no time passes for it here.
    const timeless = async (work: () => Promise<boolean>) => {
      const { rows } = await pool.query("select clock_timestamp()::text as at");
      const isDone = await work();
      await pool.query("update poll_turns set spent_until = spent_until + (clock_timestamp() - $1)", [rows[0].at]);
      return isDone;
    };
    const lookAtNext = async () => {
      await due(projectId);
      return pollOnce(deps, signal);
    };
    let looks = 1;
    while (looks < 100 && (await timeless(lookAtNext))) looks += 1;
    // Over two polls, and far fewer than the rate limit.
    expect(looks).toBeGreaterThan(2);
    expect(looks).toBeLessThan(60);
    await pool.query(
      "update poll_turns set spent_until = spent_until + interval '1 minute' where spent_until = (select max(spent_until) from poll_turns)",
    );
    await due(others.same);
    expect(await pollOnce(deps, signal)).toBe(false);
    await due(others.another);
    expect(await pollOnce(deps, signal)).toBe(true);
    // Later, they continue.
    await pool.query("update poll_turns set spent_until = spent_until - interval '2 minutes'");
    await due(others.same);
    expect(await pollOnce(deps, signal)).toBe(true);
  });

  it("looks rarely once little is left of the limit, while jobs go on, and as before once it is restored", async () => {
    const { pool } = database;
    const waits = async () => {
      const { rows } = await pool.query(
        "select round(extract(epoch from spent_until - clock_timestamp()) / 60)::int as minutes from poll_turns",
      );
      return rows[0].minutes;
    };
    // Gitea has no rate limit, but a proxy in front of it may.
    far.state.rate = { limit: 5000, remaining: 300, resetAtMs: Date.now() + 30 * 60_000 };
    expect(await lookAgain()).toBe(true);
    expect(await waits()).toBeLessThanOrEqual(10);
    expect(await lookAgain()).toBe(false);
    far.makeBranch("emend/goes-on");
    const draft = { head: "emend/goes-on", base: "main", title: "T", body: "", draft: false, checks: [] };
    expect(await far.open().createPullRequest(draft, signal)).toMatchObject({ kind: "created" });
    far.state.pulls.pop();
    // Somebody raised the limit, or the forge forgot what was used.
    far.state.rate.remaining = 5000;
    await pool.query("update poll_turns set spent_until = spent_until - interval '10 minutes'");
    for (const _look of [1, 2]) expect(await lookAgain()).toBe(true);
    await pool.query("delete from poll_turns");
    far.state.rate = null;
    far.fault(readOperation[vendor.name], {
      kind: "answer",
      status: 429,
      words: "Slow down",
      headers: { "retry-after": "600" },
    });
    expect(await lookAgain()).toBe(true);
    expect(await waits()).toBe(11);
  });

  it("tells of a pull request that a stopped job had opened, once the forge is back", async () => {
    const { pool } = database;
    await pool.query(
      `update jobs set status = 'failed', failure_code = 'cancelled', pull_request = null, pr_link = null,
         commit_id = 'c', base_branch = 'main', publication_unsure = true`,
    );
    far.state.isAway = true;
    expect(await pollOnce(deps, signal)).toBe(true);
    far.state.isAway = false;
    // Not before it is due, and the same as before.
    expect(await pollOnce(deps, signal)).toBe(false);
    const dueNow = "update jobs set pull_request_look_at = null, publication_unsure = true";
    // Another person's, from the same branch.
    await pool.query(dueNow);
    expect(await pollOnce(deps, signal)).toBe(true);
    expect(await readJob(pool, jobId)).toMatchObject({ pull_request: null, publication_unsure: false, notices: [] });
    Object.assign(far.state.pulls.at(-1) ?? {}, { body: `Text\n\n<!-- emend:job=${jobId} -->` });
    await pool.query(dueNow);
    expect(await pollOnce(deps, signal)).toBe(true);
    expect(await readJob(pool, jobId)).toMatchObject({
      status: "failed",
      pull_request: { number, state: "open" },
      pr_link: expect.stringContaining(String(number)),
      ref: `emend/${jobId}`,
      publication_unsure: false,
      notices: [expect.stringContaining("opened before the job was stopped")],
    });
    expect((await readEvents(pool, jobId)).map(({ kind }) => kind)).toEqual(["job.created", "pull_request"]);
  });

  it("goes on looking while a request of the stopped job may still open one", async () => {
    const { pool } = database;
    const until = (interval: string) =>
      pool.query(
        `update jobs set status = 'failed', failure_code = 'cancelled', pull_request = null, commit_id = 'c', base_branch = 'main',
           publication_unsure = true, pull_request_look_at = null, create_until = clock_timestamp() + interval '${interval}'`,
      );
    await until("1 minute");
    expect(await pollOnce(deps, signal)).toBe(true);
    expect(await readJob(pool, jobId)).toMatchObject({ publication_unsure: true });
    await until("-1 minute");
    expect(await pollOnce(deps, signal)).toBe(true);
    expect(await readJob(pool, jobId)).toMatchObject({ publication_unsure: false });
  });

  it("closes a second pull request that appeared after the job had ended, once, and says so", async () => {
    const { pool } = database;
    const body = `Text\n\n<!-- emend:job=${jobId} -->`;
    const own = Object.assign(far.state.pulls.at(-1) as FarPull, { body });
    const [earlier, twin, other] = [number + 100, number + 200, number + 300].map((id) => ({ ...own, number: id }));
    if (!earlier || !twin || !other) throw new Error("none");
    Object.assign(other, { body: "A person's" });
    Object.assign(own, { number: number + 150 });
    number = own.number;
    far.state.pulls.push(earlier, twin, other);
    const states = () => [earlier, own, twin, other].map(({ state }) => state);
    const set = (assignments: string) =>
      pool.query(
        `update jobs set pull_request = jsonb_set(pull_request, '{number}', '${number}'), create_until = clock_timestamp() + interval ${assignments}`,
      );
    await set(`'1 minute', rounds = '[{}]'`);
    await lookAgain();
    expect(states()).toEqual(["open", "open", "open", "open"]);
    await set("'-1 minute'");
    await lookAgain();
    expect(states(), "an older one may be an earlier round's").toEqual(["open", "open", "closed", "open"]);
    expect((await readJob(pool, jobId)).notices).toEqual([
      `The forge opened two pull requests for this job: ${number} and ${twin.number}. Emend closed ${twin.number}.`,
    ]);
    await set("'-1 minute', rounds = '[]'");
    await lookAgain();
    expect(states()).toEqual(["closed", "open", "closed", "open"]);
    // A person's decision is kept.
    twin.state = "open";
    await lookAgain();
    expect(states()).toEqual(["closed", "open", "open", "open"]);
    far.state.pulls.length = 0;
  });

  it("polls at once on request", async () => {
    const listener = await startListener({ url: database.url, log: deps.log });
    const heard = Promise.withResolvers<FollowUpInput>();
    const followUp: WatchDeps["followUp"] = async (input) => {
      heard.resolve(input);
      return deps.followUp(input);
    };
    await pollOnce(deps, signal);
    say("ada", "@emend one more");
    const watch = startPullRequestWatch({ ...deps, followUp, listener }, { pollMs: 3_600_000 });
    try {
      await hastenPoll(database.pool, { projectId, number });
      expect(await heard.promise).toMatchObject({ jobId, prompt: "one more" });
    } finally {
      await watch.stop();
      await listener.close();
    }
  });
});

it("a forge that never answers gets three looks at once, and delays no other forge", async () => {
  const { pool } = database;
  await pool.query("delete from jobs");
  const stuck = await Promise.all([1, 2, 3, 4, 5].map(() => seedProject(pool)));
  const other = await seedProject(pool);
  await pool.query("update projects set repository_url = 'http://other.test/docs.git' where id = $1", [other]);
  // The first project has two, which wait for each other. The other forge's comes last.
  for (const id of [stuck[0] ?? "", ...stuck, other]) {
    const jobId = await seedJob(pool, id);
    await pool.query("update jobs set pull_request = $2, pull_request_look_at = now() where id = $1", [
      jobId,
      { number: 1, url: "http://x", state: "open", draft: false },
    ]);
  }
  const log = createLogger({ level: "silent" });
  const listener = await startListener({ url: database.url, log });
  const asked: string[] = [];
  const seen = Promise.withResolvers<void>();
  const watch = startPullRequestWatch({
    pool,
    log,
    listener,
    answers: createAnswerMemory(),
    askAnswer: async () => {},
    findConflicts: async () => false,
    followUp: async () => ({ kind: "later" }),
    async forgeOf(id) {
      asked.push(id);
      if (id === other) seen.resolve();
      const never: Forge["readPullRequest"] = (_number, signal) =>
        new Promise((_resolve, reject) => {
          signal.throwIfAborted();
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      return { readPullRequest: id === other ? async () => null : never } as Forge;
    },
  });
  await seen.promise;
  expect(asked).toEqual([...stuck.slice(0, 3), other]);
  await watch.stop();
  await listener.close();
});
