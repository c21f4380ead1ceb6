import { createLogger } from "@emend/base/logger.ts";
import { withoutFenced } from "@emend/base/markdown.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type FarEnd, type FarIssue, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { vendors } from "@emend/testkit/forges/vendors.ts";
import { alterJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { getProject } from "../accounts/projects/projects.ts";
import { newJobRules } from "../http/parse-create-body.ts";
import { answerIssue, hearIssue, type IssueDeps } from "./hear-issue.ts";

const { signal } = new AbortController();
let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await seedProject(database.pool);
});
afterAll(() => database.drop());

const commentOperations = {
  github: "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
  gitlab: "POST /projects/{id}/issues/{iid}/notes",
  gitea: "POST /repos/{owner}/{repo}/issues/{index}/comments",
} as const;

describe.each(vendors.filter(({ name }) => name in commentOperations))("on $name", (vendor) => {
  let far: FarEnd;
  let deps: IssueDeps;
  let issue: FarIssue;
  let next = 5000;
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

  beforeAll(async () => {
    far = await startFarEnd(vendor);
    far.state.isAdmin = true;
  });
  afterAll(() => far.close());
  afterEach(() => expect(far.violations).toEqual([]));
  beforeEach(async () => {
    const { pool } = database;
    await pool.query("delete from jobs");
    await pool.query("delete from issue_requests");
    await set({ issueTriggers: true, model: "anthropic/claude-opus-4-1" });
    next += 1;
    issue = { number: next, title: "Retries are wrong", body: "Say 5, not 3.", isOpen: true, labellings: [] };
    far.state.issues.push(issue);
    deps = {
      pool,
      log: createLogger({ level: "silent" }),
      defaultModel: "emend/rules",
      promptCodePointsMax: 1_000,
      announceDue: () => {},
      publicUrl: () => "https://emend.test",
      newJobRules,
      findProject: (id) => getProject(pool, id),
      openForge: async () => far.open(),
      askAnswer: async () => {},
    };
  });

  const set = (settings: object) =>
    database.pool.query("update projects set settings = $2 where id = $1", [projectId, settings]);
  const say = (author: string, body: string, hours = 0) => {
    const id = 70_000 + far.state.comments.length;
    far.state.comments.push({ id, pull: issue.number, author, body, at: ago(hours) });
  };
  const addLabel = (author: string, hours = 0) => {
    const id = 90_000 + issue.labellings.length;
    issue.labellings.push({ id, label: "emend", author, isAdded: true, at: ago(hours) });
  };
  const hear = () => hearIssue(deps, { projectId, number: issue.number }, signal);
  const listJobs = async () =>
    (await database.pool.query("select id, prompt, created_by from jobs order by created_at, id")).rows;
  const answers = () =>
    far.state.comments
      .filter(({ pull, author }) => pull === issue.number && author === "emend")
      .map(({ body }) => body);
  /** Like the tasks that were asked for. Returns how many answers are due. */
  async function answerAll() {
    const { rows } = await database.pool.query("select id from issue_requests where answer_due_at is not null");
    for (const { id } of rows) await answerIssue(deps, id, signal);
    return rows.length;
  }

  it("hears what is new on an issue with a long history", async () => {
    const at = ago(48);
    // Gitea's list has no pages.
    const words = "x".repeat(vendor.name === "gitea" ? 9_000 : 1);
    for (let index = 0; index < 1_100; index += 1) {
      const id = 1_000 + index;
      far.state.comments.push({ id, pull: issue.number, author: "eve", body: words, at });
    }
    for (let index = 0; index < 60; index += 1) {
      issue.labellings.push({ id: 80_000 + index, label: "bug", author: "eve", isAdded: index % 2 === 0, at });
    }
    addLabel("ada");
    say("ada", "@emend Say that retries are five.");
    await hear();
    expect(await listJobs()).toHaveLength(2);
    far.state.comments = far.state.comments.filter(({ pull }) => pull !== issue.number);
  });

  it("makes one job of a writer's comment, however often it is delivered, and answers in one comment", async () => {
    say("ada", "@emend Say that retries are five.");
    await Promise.all([hear(), hear()]);
    await hear();
    const [job, ...others] = await listJobs();
    expect(others).toEqual([]);
    expect(job).toMatchObject({ created_by: "issue/ada" });
    // Only the writer's words are an instruction; the issue is content.
    expect(withoutFenced(job.prompt).trim()).toBe("Say that retries are five.\n\nThe request was made on this issue:");
    expect(job.prompt).toContain("Retries are wrong\n\nSay 5, not 3.");

    await answerAll();
    expect(answers()).toEqual([
      expect.stringContaining(`started a job for this request. [Details](https://emend.test/app/jobs/${job.id})`),
    ]);
    expect(await answerAll()).toBe(0);
    const pull = { number: 12, url: "https://forge.test/pull/12", state: "open", draft: false };
    await alterJob(database.pool, job.id, `status = 'completed', pull_request = '${JSON.stringify(pull)}'`);
    await answerAll();
    expect(answers()).toEqual([expect.stringContaining("Emend opened a pull request: https://forge.test/pull/12")]);
    // Emend's own comments are not requests, from any account.
    say("ada", answers()[0]?.replace("Emend opened", "@emend Emend opened") ?? "");
    await hear();
    expect(await listJobs()).toHaveLength(1);
  });

  it("takes an issue that a writer labels as a description, and says why a job failed", async () => {
    addLabel("ada");
    await hear();
    await hear();
    const [job, ...others] = await listJobs();
    expect(others).toEqual([]);
    expect(withoutFenced(job.prompt)).not.toMatch(/Retries|not 3/);
    await alterJob(
      database.pool,
      job.id,
      "status = 'failed', failure_code = 'agent', failure_message = 'No page says it. @eve'",
    );
    await answerAll();
    expect(answers()).toEqual([expect.stringContaining("The job failed. No page says it. `@eve`")]);
    // Adding the label again is a new request.
    issue.labellings.push({ id: 1, label: "emend", author: "ada", isAdded: false, at: ago(0) });
    await hear();
    expect(await listJobs()).toHaveLength(1);
    addLabel("ada");
    await hear();
    expect(await listJobs()).toHaveLength(2);
  });

  it("does nothing for people who may not write, old requests, bots, closed issues, or while it is off", async () => {
    say("eve", "@emend Delete everything.");
    say("ada", "@emend Do it now.", 25);
    say("ada", "Ask @emend about this.");
    // Even one with write access.
    far.state.people["helper[bot]"] = "write";
    if (vendor.name === "github") say("helper[bot]", "@emend Fix broken links.");
    addLabel("eve");
    await hear();
    expect(await listJobs()).toEqual([]);
    expect(await answerAll()).toBe(0);
    say("ada", "@emend Fix broken links.");
    issue.isOpen = false;
    await hear();
    issue.isOpen = true;
    await set({ model: "anthropic/claude-opus-4-1" });
    await hear();
    await set({ issueTriggers: true, model: "anthropic/claude-opus-4-1" });
    if (vendor.name === "gitlab") {
      issue.isConfidential = true;
      await hear();
      issue.isConfidential = false;
    }
    expect(await listJobs()).toEqual([]);
    await hear();
    expect(await listJobs()).toHaveLength(1);
  });

  it("posts the answer once, though the forge's response was lost", async () => {
    say("ada", "@emend Fix broken links.");
    await hear();
    far.fault(commentOperations[vendor.name as keyof typeof commentOperations], { kind: "lost", how: "reset" });
    // The task is kept and runs again.
    await expect(answerAll()).rejects.toMatchObject({ retryable: true });
    await answerAll();
    expect(answers()).toHaveLength(1);
    expect(await answerAll()).toBe(0);
  });

  it("answers what it refuses: a label for the built-in rules, a full quota, a request that is too long", async () => {
    await set({ issueTriggers: true });
    addLabel("ada");
    await hear();
    await answerAll();
    expect(answers().at(-1)).toContain("did not start a job. This project uses the built-in rules");
    say("ada", "@emend Fix broken links.");
    await set({ issueTriggers: true, createsPerHourMax: 0 });
    await hear();
    await answerAll();
    expect(answers().at(-1)).toContain("did not start a job. The project reached its job limit");
    await set({ issueTriggers: true });
    say("ada", `@emend ${"long ".repeat(300)}`);
    await hear();
    await answerAll();
    expect(answers().at(-1)).toContain("too long");
    expect(await listJobs()).toEqual([]);
  });
});
