import { createWriteQueue } from "@emend/publish";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { seedJobPull } from "@emend/testkit/job-pull.ts";
import { openMirrorBench } from "@emend/testkit/mirrors.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { createCodeAuthors } from "@emend/tree";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askReviewer, saveReview } from "../forge/local/pull-reviews.ts";
import { type AuthorDeps, askAuthors } from "./ask-authors.ts";

let database: TestDatabase;
const bench = openMirrorBench();
const repository = bench.repository("code");
let sources: object[];
const wanted = { forge: { codeAuthors: true, reviewers: ["grace"] } };

beforeAll(async () => {
  database = await createTestDatabase();
  let commits = 0;
  const write = (path: string, times: number, email: string) => {
    for (const end = commits + times; commits < end; commits += 1)
      repository.commit({ [path]: `${commits}\n` }, { email });
  };
  write("guide.md", 9, "eve@users.noreply.forge.test");
  write("src/a.ts", 2, "7+Ada@users.noreply.forge.test");
  write("src/b.ts", 1, "noreply@emend.invalid");
  write("src/a.ts", 3, "gone@users.noreply.forge.test");
  write("src/a.ts", 3, "eve@users.noreply.other.test");
  write("src/b.ts", 4, "8+grace@users.noreply.forge.test");
  write("src/b.ts", 2, "49+dependabot[bot]@users.noreply.forge.test");
  write("src/c.ts", 4, "bo@emend.test");
  write("src/c.ts", 3, "cy@emend.test");
  write("src/c.ts", 2, "di@emend.test");
  write("src/c.ts", 1, "ed@emend.test");
  const commit = repository.git("rev-parse", "main");
  const at = { repository: null, repositoryUrl: "http://forge.test/docs.git", forge: "github", line: 1, commit };
  sources = ["guide.md", "src/a.ts", "src/b.ts", "src/c.ts", "src/a.ts"].map((path) => ({ ...at, path }));
});
afterAll(async () => {
  await database.drop();
  await bench.close();
});

function deps(more: Partial<AuthorDeps>): AuthorDeps {
  return {
    pool: database.pool,
    writes: createWriteQueue(),
    codeAuthors: createCodeAuthors({ git: bench.git, dir: bench.mirrorsDir }),
    remoteOf: async () => ({ url: repository.url, authorization: null }),
    openForge: () => Promise.reject(new Error("no forge")),
    askMember: () => Promise.reject(new Error("no members")),
    ...more,
  };
}
const cite = (jobId: string) =>
  database.pool.query("update jobs set sources = $2, authors_asked = false where id = $1", [
    jobId,
    JSON.stringify(sources),
  ]);

test("authors of cited code are asked once, if the forge says who they are, and others do not stand in the way", async () => {
  const far = await startFarEnd(githubVendor);
  const { pool } = database;
  const projectId = await seedProject(pool, wanted);
  await pool.query("update projects set forge = 'github' where id = $1", [projectId]);
  far.state.people = { ada: "write", eve: "write", grace: "write" };
  const { jobId } = await seedJobPull(pool, far, projectId);
  await cite(jobId);
  const ask = () =>
    askAuthors(deps({ openForge: async ({ settings }) => far.open(settings.forge) }), jobId, bench.signal);
  await ask();
  const [pull] = far.pullsOf(`emend/${jobId}`);
  expect(pull).toMatchObject({ reviewers: ["ada"], labels: [] });
  // Somebody does not want her review.
  if (pull) pull.reviewers = [];
  await ask();
  expect(pull).toMatchObject({ reviewers: [] });
  await cite(jobId);
  await pool.query("update projects set settings = '{}' where id = $1", [projectId]);
  await ask();
  expect(pull).toMatchObject({ reviewers: [] });
  expect(far.violations).toEqual([]);
  await far.close();
});

test("on the local forge, the two members with most commits are asked, and a review stays as it is", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool, wanted);
  await pool.query(
    `insert into users (id, email, name, role) values ('1', 'bo@emend.test', 'Bo', 'viewer'), ('2', 'Cy@emend.test', 'Cy', 'maintainer'),
       ('3', 'di@emend.test', 'Di', 'owner'), ('4', 'ed@emend.test', 'Ed', 'maintainer')`,
  );
  await pool.query(
    `insert into local_pull_requests (project_id, number, head_ref, base_ref, title, body, draft, checks, base_commit, head_commit)
     values ($1, 7, 'x', 'main', 't', '', false, '[]', 'b', 'h')`,
    [projectId],
  );
  const jobId = await seedJob(pool, projectId);
  const asked = async () =>
    (
      await pool.query("select reviewer, verdict from local_reviews where project_id = $1 order by reviewer", [
        projectId,
      ])
    ).rows;
  await pool.query(`update jobs set pull_request = '{"number": 7, "state": "open"}' where id = $1`, [jobId]);
  expect((await pool.query("select from tasks where kind = 'ask_authors' and subject = $1", [jobId])).rowCount).toBe(1);
  const askMember: AuthorDeps["askMember"] = (name, email) => askReviewer(pool, name, email, { isOnce: true });
  await cite(jobId);
  await askAuthors(deps({ askMember }), jobId, bench.signal);
  const both = [
    { reviewer: "cy@emend.test", verdict: null },
    { reviewer: "di@emend.test", verdict: null },
  ];
  expect(await asked()).toEqual(both);
  await saveReview(pool, { projectId, number: 7 }, { reviewer: "cy@emend.test", verdict: "approved", head: "h" });
  expect(await askMember({ projectId, number: 7 }, "cy@emend.test")).toBe(false);
  expect(await asked()).toEqual([{ reviewer: "cy@emend.test", verdict: "approved" }, both[1]]);
});

test("is asked for only where a project wants it, and not again", async () => {
  const { pool } = database;
  const [off, on] = [await seedProject(pool), await seedProject(pool, wanted)];
  const ids = [await seedJob(pool, off), await seedJob(pool, on), await seedJob(pool, on)];
  await pool.query("update jobs set authors_asked = true where id = $1", [ids[2]]);
  await pool.query(`update jobs set pull_request = '{"number": 7, "state": "open"}' where id = any ($1)`, [ids]);
  const { rows } = await pool.query("select subject from tasks where kind = 'ask_authors' and subject = any ($1)", [
    ids,
  ]);
  expect(rows).toEqual([{ subject: ids[1] }]);
});
