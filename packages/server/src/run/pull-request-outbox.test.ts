import { createWriteQueue } from "@emend/publish";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { vendors } from "@emend/testkit/forges/vendors.ts";
import { seedJobPull } from "@emend/testkit/job-pull.ts";
import { readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answerComment, type OutboxDeps, setDetails } from "./pull-request-outbox.ts";

const { signal } = new AbortController();
let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await seedProject(database.pool);
});
afterAll(() => database.drop());

/** The requests that set labels, and those that ask for reviews. */
const operations = {
  github: {
    labels: "POST /repos/{owner}/{repo}/issues/{issue_number}/labels",
    reviews: "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers",
    comment: "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
  },
  gitea: {
    labels: "POST /repos/{owner}/{repo}/issues/{index}/labels",
    reviews: "POST /repos/{owner}/{repo}/pulls/{index}/requested_reviewers",
    comment: "POST /repos/{owner}/{repo}/issues/{index}/comments",
  },
} as const;

describe.each(vendors.filter(({ name }) => name in operations))("on $name", (vendor) => {
  const operation = operations[vendor.name as keyof typeof operations];
  let far: FarEnd;
  let jobId: string;
  let deps: OutboxDeps;
  beforeAll(async () => {
    far = await startFarEnd(vendor);
  });
  afterAll(() => far.close());
  afterEach(() => expect(far.violations).toEqual([]));
  beforeEach(async () => {
    const { pool } = database;
    ({ jobId } = await seedJobPull(pool, far, projectId));
    deps = {
      pool,
      writes: createWriteQueue(),
      forgeOf: async () => far.open({ labels: ["docs"], reviewers: ["ada"] }),
    };
  });
  const pull = () => far.pullsOf(`emend/${jobId}`)[0];

  it.each([
    ["labels", { labels: [], reviewers: ["ada"] }],
    ["reviews", { labels: ["docs"], reviewers: [] }],
  ] as const)("a final refusal of %s does not skip the other, and is shown with the job", async (which, set) => {
    far.fault(operation[which], { kind: "answer", status: 403, words: "Not yours" });
    await setDetails(deps, jobId, signal);
    expect(pull()).toMatchObject(set);
    const { notices } = await readJob(database.pool, jobId);
    expect(notices).toEqual([expect.stringMatching(/^Labels or reviewers are not set: .*Not yours/)]);
  });

  it("asks to be repeated when the forge does, whatever else is refused", async () => {
    const headers = { "retry-after": "40" };
    far.fault(operation.labels, { kind: "answer", status: 403, words: "Not yours" });
    far.fault(operation.reviews, { kind: "answer", status: 503, words: "Later", headers });
    await expect(setDetails(deps, jobId, signal)).rejects.toMatchObject({ retryable: true, retryAfterMs: 40_000 });
    far.fault(operation.labels, { kind: "answer", status: 503, words: "Later", headers });
    far.fault(operation.reviews, { kind: "answer", status: 403, words: "Not yours" });
    await expect(setDetails(deps, jobId, signal)).rejects.toMatchObject({ retryable: true, retryAfterMs: 40_000 });
    for (let time = 0; time < 2; time += 1) await setDetails(deps, jobId, signal);
    expect(pull()).toMatchObject({ labels: ["docs"], reviewers: ["ada"] });
    expect((await readJob(database.pool, jobId)).notices).toEqual([]);
  });

  it("posts an answer once, also if the forge's response is lost", async () => {
    const answer = { jobId, to: "c7", words: "Emend cannot do that." };
    const said = () => far.state.comments.filter((comment) => comment.pull === pull()?.number).map(({ body }) => body);
    far.fault(operation.comment, { kind: "answer", status: 502, words: "Bad Gateway" });
    await expect(answerComment(deps, answer, signal)).rejects.toMatchObject({ retryable: true });
    expect(said()).toEqual([]);
    far.fault(operation.comment, { kind: "lost", how: "reset" });
    await expect(answerComment(deps, answer, signal)).rejects.toMatchObject({ retryable: true });
    await answerComment(deps, answer, signal);
    expect(said()).toEqual(["Emend cannot do that.\n\n<!-- emend:answer=c7 -->"]);
  });
});

it("is asked for when a run stores its pull request, and again at each follow-up", async () => {
  const { pool } = database;
  const remote = await seedProject(pool);
  await pool.query("update projects set forge = 'github' where id = $1", [remote]);
  const [jobId, local] = [await seedJob(pool, remote), await seedJob(pool, projectId)];
  const asked = async () =>
    (
      await pool.query("select subject, asked from tasks where kind = 'set_details' and subject = any ($1)", [
        [jobId, local],
      ])
    ).rows;
  const open = { number: 7, url: "http://x", state: "open", draft: false };
  const store = (pullRequest: object, lease: boolean) =>
    pool.query(
      "update jobs set pull_request = $2, lease = case when $3 then gen_random_uuid() end where id = any ($1)",
      [[jobId, local], pullRequest, lease],
    );
  await store(open, true);
  expect(await asked()).toEqual([{ subject: jobId, asked: 0 }]);
  await store(open, true);
  expect(await asked()).toEqual([{ subject: jobId, asked: 1 }]);
  // A poll is no reason.
  await store({ ...open, draft: true }, false);
  await store({ ...open, state: "merged" }, false);
  expect(await asked()).toEqual([{ subject: jobId, asked: 1 }]);
});
