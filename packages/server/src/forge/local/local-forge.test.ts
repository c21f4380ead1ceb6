import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { knownForge } from "@emend/forges";
import { createWriteQueue } from "@emend/publish";
import { personGit, startTestForge, type TestForge } from "@emend/testkit/forge.ts";
import { forgeConformance } from "@emend/testkit/forges/conformance.ts";
import { seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerComment, answerMessage } from "../../run/pull-request-outbox.ts";
import { isCall, promptOf } from "../../run/read-comment.ts";
import { mergePullRequest, readPullView } from "./pull-desk.ts";
import { getPullRequest, insertComment, listComments, listStatuses, markClosed } from "./pull-requests.ts";
import { repositoryOf } from "./repository.ts";
import { insertReply, insertThread, listThreads, markResolved } from "./review-threads.ts";

let host: TestForge;
let clone: string;

beforeAll(async () => {
  host = await startTestForge();
  const source = join(host.dir, "source");
  await mkdir(source);
  await personGit(source, "init", "--quiet", "--initial-branch=main");
  await writeFile(join(source, "a.md"), "one\ntwo\nthree\n");
  await personGit(source, "add", ".");
  await personGit(source, "commit", "--quiet", "--message=Start");
  await host.addProject("prj_a", source);
  await host.database.pool.query(
    `insert into users (id, email, name, role) values ('1', 'ada', 'Ada', 'maintainer'), ('2', 'eve', 'Eve', 'viewer')`,
  );
  clone = join(host.dir, "clone");
  await personGit(host.dir, "clone", "--quiet", join(host.forgeDir, "prj_a.git"), clone);
});
afterAll(() => host.close());

async function makeBranch(name: string, file = `${name.replaceAll("/", "-")}.md`, text = `${name}\n`): Promise<string> {
  await personGit(clone, "fetch", "--quiet", "origin");
  await personGit(clone, "switch", "--quiet", "--force-create", name, "origin/main");
  await writeFile(join(clone, file), text);
  await personGit(clone, "add", ".");
  await personGit(clone, "commit", "--quiet", `--message=${name}`);
  await personGit(clone, "push", "--quiet", "origin", name);
  return personGit(clone, "rev-parse", "HEAD");
}

const deps = () => ({ db: host.database.pool, repository: repositoryOf(host, "prj_a") });
const merge = (number: number, headExpected: string | null = null) =>
  mergePullRequest(deps(), { projectId: "prj_a", number, headExpected, by: "a test" }, host.signal);

async function openPull(head: string, draft = false): Promise<number> {
  const created = await host
    .open("prj_a")
    .createPullRequest({ head, base: "main", title: "T", body: "", draft, checks: [] }, host.signal);
  if (created.kind !== "created") throw new Error("not created");
  return created.pullRequest.number;
}

forgeConformance("local", async () => ({
  forge: host.open("prj_a"),
  base: "main",
  makeBranch: async (name) => void (await makeBranch(name)),
  close: (number) => markClosed(host.database.pool, "prj_a", number),
  merge: async (number) => void (await merge(number)),
  say: (number, { author, body }) => insertComment(host.database.pool, { projectId: "prj_a", number, author, body }),
  isWithoutLines: true,
  statusesOf: (commit) => listStatuses(host.database.pool, "prj_a", commit),
}));

it("answers a comment on a line in its thread, and other comments below the pull request", async () => {
  const { pool } = host.database;
  const head = await makeBranch("topic/asked");
  const number = await openPull("topic/asked");
  const name = { projectId: "prj_a", number };
  const place = { side: "after", path: "topic-asked.md", firstLine: 1, lastLine: 1, suggestion: null } as const;
  const at = { ...place, commit: head, headCommit: head, quoted: "topic/asked" };
  await insertThread(pool, name, { ...at, author: "ada", text: "@emend shorter" });
  const [thread] = await listThreads(pool, "prj_a", number);
  const commentId = thread?.comments[0]?.id ?? "";
  const jobId = await seedJob(pool, "prj_a");
  await pool.query("update jobs set pull_request = $2 where id = $1", [jobId, { number, state: "open" }]);
  await pool.query(
    `insert into job_messages (job_id, number, prompt, after_step, created_by, comment_id)
     values ($1, 1, 'p', 0, 'comment/ada', $2)`,
    [jobId, commentId],
  );
  await pool.query("update jobs set status = 'completed', reply = 'Said it shorter.' where id = $1", [jobId]);
  const outbox = { pool, writes: createWriteQueue(), forgeOf: async () => host.open("prj_a") };
  for (let time = 0; time < 2; time += 1) await answerMessage(outbox, { jobId, number: 1 }, host.signal);
  const answer = (to: string, words: string) => answerComment(outbox, { jobId, to, words }, host.signal);
  await answer(commentId, "Refused.");
  await answer("reminder", "It waits.");
  const texts = (comments: readonly { author: string; body: string }[]) =>
    comments.map(({ author, body }) => `${author}: ${body.split("\n")[0]}`);
  expect(texts((await listThreads(pool, "prj_a", number))[0]?.comments ?? [])).toEqual([
    "ada: @emend shorter",
    "Emend: No change was needed. Said it shorter.",
    "Emend: Refused.",
  ]);
  expect(texts(await listComments(pool, "prj_a", number))).toEqual(["Emend: It waits."]);
});

it("takes a review that requests changes as a request, with its author's open comments on lines", async () => {
  const { pool } = host.database;
  const head = await makeBranch("topic/changes");
  const number = await openPull("topic/changes");
  const name = { projectId: "prj_a", number };
  const place = { side: "after", path: "topic-changes.md", firstLine: 1, lastLine: 1 } as const;
  const at = { ...place, commit: head, headCommit: head, quoted: "topic/changes", suggestion: null };
  const say = (author: string, text: string, suggestion: string | null = null) =>
    insertThread(pool, name, { ...at, author, text, suggestion });
  await say("ada", "Say why.", "Because.");
  await say("ada", "@emend shorter");
  await say("grace", "I like it.");
  await say("ada", "Answered before.");
  await say("ada", "Resolved.");
  const idOf = async (text: string) =>
    (await listThreads(pool, "prj_a", number)).find(({ comments }) => comments[0]?.body === text)?.id ?? "";
  await insertReply(pool, await idOf("Answered before."), { author: "Emend", text: "Done." });
  await markResolved(pool, await idOf("Resolved."), { by: "grace" });
  await insertComment(pool, { ...name, author: "ada", body: "Looks odd." });
  await insertComment(pool, { ...name, author: "ada", body: "Please explain.", requestsChanges: true });
  await say("ada", "Later.");
  await pool.query("update review_comments set created_at = created_at + interval '1 second' where body = 'Later.'");
  const comments = (await host.open("prj_a").conversation?.listComments(number, host.signal)) ?? [];
  expect(comments.filter(isCall).map(promptOf)).toEqual([
    "Please explain.\n\nIn topic-changes.md, line 1: Say why.\n\n```suggestion\nBecause.\n```",
    "In topic-changes.md, line 1: shorter",
  ]);
});

describe("merging", () => {
  it("puts a merge commit of both sides on the base branch", async () => {
    const head = await makeBranch("topic/clean");
    const base = await personGit(clone, "rev-parse", "origin/main");
    const number = await openPull("topic/clean");
    await host.database.pool.query("delete from tasks");
    expect(await merge(number, head)).toEqual({ kind: "merged" });
    await personGit(clone, "fetch", "--quiet");
    expect(await personGit(clone, "log", "-1", "--format=%P", "origin/main")).toBe(`${base} ${head}`);
    expect(await personGit(clone, "show", "origin/main:topic-clean.md")).toBe("topic/clean");
    expect(await getPullRequest(host.database.pool, "prj_a", number)).toMatchObject({
      state: "merged",
      mergedBy: "a test",
      mergeCommit: await personGit(clone, "rev-parse", "origin/main"),
    });
    expect(await merge(number)).toEqual({ kind: "merged" });
    // The site's health is due at once, and once.
    const { rows } = await host.database.pool.query("select asked from tasks where kind = 'check_site'");
    expect(rows).toEqual([{ asked: 0 }]);
  });

  it("squashes to one commit, removes the branch, and knows the merge although its row was not written", async () => {
    const head = await makeBranch("topic/squash");
    const number = await openPull("topic/squash");
    const base = await personGit(clone, "rev-parse", "origin/main");
    const wish = { projectId: "prj_a", number, headExpected: head, by: "ada", squash: true, removeBranch: true };
    expect(await mergePullRequest(deps(), wish, host.signal)).toEqual({ kind: "merged" });
    await personGit(clone, "fetch", "--quiet", "--prune");
    expect(await personGit(clone, "log", "-1", "--format=%P %s", "origin/main")).toMatch(
      new RegExp(`^${base} .* \\(#${number}\\)$`),
    );
    expect(await personGit(clone, "branch", "--remotes", "--list", "origin/topic/squash")).toBe("");
    expect(await personGit(clone, "ls-remote", "origin", `refs/pull/${number}/head`)).toContain(head);

    // The state after the process died between the branch and its row.
    await host.database.pool.query("update local_pull_requests set state = 'open' where number = $1", [number]);
    await readPullView(deps(), "prj_a", number, host.signal);
    expect(await getPullRequest(host.database.pool, "prj_a", number)).toMatchObject({
      state: "merged",
      mergedBy: "ada",
    });
  });

  it("tells a conflict and moves nothing", async () => {
    await makeBranch("topic/left", "a.md", "one\nLEFT\nthree\n");
    await makeBranch("topic/right", "a.md", "one\nRIGHT\nthree\n");
    const left = await openPull("topic/left");
    const right = await openPull("topic/right");
    expect(await merge(left)).toEqual({ kind: "merged" });
    await personGit(clone, "fetch", "--quiet");
    const base = await personGit(clone, "rev-parse", "origin/main");
    expect(await merge(right)).toEqual({ kind: "refused", reason: expect.stringContaining("a.md") });
    await personGit(clone, "fetch", "--quiet");
    expect(await personGit(clone, "rev-parse", "origin/main")).toBe(base);
  });

  it("refuses a draft, a closed one, and a head that moved since it was read", async () => {
    const head = await makeBranch("topic/moving");
    const number = await openPull("topic/moving");
    await makeBranch("topic/moving-on");
    await personGit(clone, "push", "--quiet", "--force", "origin", "topic/moving-on:topic/moving");
    expect(await merge(number, head)).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining("branch changed"),
    });
    await markClosed(host.database.pool, "prj_a", number);
    expect(await merge(number)).toMatchObject({ kind: "refused", reason: expect.stringContaining("closed") });
    await makeBranch("topic/draft");
    expect(await merge(await openPull("topic/draft", true))).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining("draft"),
    });
  });

  it("loses no merge when several land at once", async () => {
    const numbers: number[] = [];
    for (const name of ["race/a", "race/b", "race/c"]) {
      await makeBranch(name);
      numbers.push(await openPull(name));
    }
    const outcomes = await Promise.all(numbers.map((number) => merge(number)));
    expect(outcomes).toEqual(outcomes.map(() => ({ kind: "merged" })));
    await personGit(clone, "fetch", "--quiet");
    const files = await personGit(clone, "ls-tree", "--name-only", "origin/main");
    expect(files.split("\n")).toEqual(expect.arrayContaining(["race-a.md", "race-b.md", "race-c.md"]));
  });

  it("mends a merge whose row was never written", async () => {
    const head = await makeBranch("topic/cut-off");
    const number = await openPull("topic/cut-off");
    await personGit(clone, "push", "--quiet", "origin", `${head}:main`);
    expect(await merge(number)).toEqual({ kind: "merged" });
    expect(await getPullRequest(host.database.pool, "prj_a", number)).toMatchObject({ state: "merged" });
  });
});

it("has no forge that this release does not know", () => {
  expect(() => knownForge("sourcehut")).toThrow(/no forge "sourcehut"\. It has: local, github, gitlab, gitea/);
  expect(() => knownForge("constructor")).toThrow(/no forge/);
});
