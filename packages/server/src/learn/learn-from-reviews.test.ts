import { deflateSync } from "node:zlib";
import { createLogger } from "@emend/base/logger.ts";
import type { Forge, PullRequestDraft } from "@emend/forges";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { openMirrorBench } from "@emend/testkit/mirrors.ts";
import { alterJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type LearnDeps, learnFromReviews } from "./learn-from-reviews.ts";

let database: TestDatabase;
const bench = openMirrorBench();
let projectId: string;
let repository: ReturnType<typeof bench.repository>;
let opened: (PullRequestDraft & { state: "open" | "closed" })[];
let failsAfterCreate: boolean;
let count = 0;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  await bench.close();
});
beforeEach(async () => {
  await database.pool.query("truncate projects cascade");
  projectId = await seedProject(database.pool);
  [opened, failsAfterCreate] = [[], false];
  count += 1;
  repository = bench.repository(`lessons-${count}`);
});

/** The far end: pull requests in memory, over a real repository. */
const forge = {
  gitRemote: async () => ({ url: repository.url, authorization: null }),
  readPullRequest: async (number: number) => ({ number, state: opened[number - 1]?.state }),
  findPullRequests: async ({ head }: { head: string }) =>
    opened.flatMap((one, index) => (one.head === head ? [{ number: index + 1 }] : [])),
  async createPullRequest(draft: PullRequestDraft) {
    opened.push({ ...draft, state: "open" });
    if (failsAfterCreate) throw new Error("the connection broke");
    return { kind: "created", pullRequest: { number: opened.length } };
  },
} as unknown as Forge;
const deps = (): LearnDeps => ({
  pool: database.pool,
  log: createLogger({ level: "silent" }),
  mirrors: bench.mirrors,
  openForge: async () => forge,
  jobUrl: (id) => `https://emend.test/app/jobs/${id}`,
});
const learn = () => learnFromReviews(deps(), projectId, bench.signal);

/** A merged job that proposed this line on a page. People merged another one. */
async function merged(page: string, proposed: string, by: string): Promise<string> {
  const diff = `diff --git a/${page} b/${page}\n--- /dev/null\n+++ b/${page}\n@@ -0,0 +1 @@\n+${proposed}\n`;
  const id = await seedJob(database.pool, projectId);
  await alterJob(
    database.pool,
    id,
    `status = 'completed', ended_at = now(), pull_request = '{"number": 1, "state": "merged"}'`,
  );
  await database.pool.query("update jobs set diff = $2 where id = $1", [id, deflateSync(diff)]);
  repository.commit({ [page]: `${by}\n` });
  return id;
}
const signIn = (page: string) =>
  merged(page, "Then sign in to the dashboard again.", "Then log in to the dashboard again.");

test("what reviewers replaced in three jobs is suggested once, as one line with its cases", async () => {
  repository.commit({ ".emend/instructions.md": "- Be short.\n" });
  const ids = [await signIn("a.md"), await signIn("b.md")];
  await learn();
  expect(opened).toEqual([]);
  ids.push(await signIn("c.md"));
  await learn();
  expect(opened).toMatchObject([{ title: 'Suggest a rule: Write "log in", not "sign in".', draft: false }]);
  for (const id of ids) expect(opened[0]?.body).toContain(`https://emend.test/app/jobs/${id}`);
  const branch = opened[0]?.head ?? "";
  expect(repository.git("show", `${branch}:.emend/instructions.md`)).toBe(
    '- Be short.\n- Write "log in", not "sign in".',
  );
  expect(repository.git("diff", "--name-only", `main...${branch}`)).toBe(".emend/instructions.md");
  // Not again, even after it was closed and more jobs were corrected so.
  await learn();
  for (const one of opened) one.state = "closed";
  await signIn("d.md");
  await learn();
  expect(opened).toHaveLength(1);
});

test("one at a time, none while people do both, and none where a project wants none", async () => {
  for (const page of ["a.md", "b.md", "c.md"]) {
    await signIn(page);
    await merged(`two-${page}`, "Use the API token of your project here.", "Use the access key of your project here.");
    await merged(`three-${page}`, "Press the big button of the page once.", "Press the large button of the page once.");
  }
  await merged("z.md", "Press the large button of the page once.", "Press the big button of the page once.");
  await database.pool.query(`update projects set settings = '{"suggestRules": false}' where id = $1`, [projectId]);
  await learn();
  expect(opened).toEqual([]);
  await database.pool.query("update projects set settings = '{}' where id = $1", [projectId]);
  await learn();
  await learn();
  expect(opened).toHaveLength(1);
  for (const one of opened) one.state = "closed";
  await learn();
  await learn();
  expect(opened.map(({ title }) => title).toSorted()).toEqual([
    'Suggest a rule: Write "access key", not "API token".',
    'Suggest a rule: Write "log in", not "sign in".',
  ]);
});

test("a connection that breaks after the pull request was opened leaves one", async () => {
  for (const page of ["a.md", "b.md", "c.md"]) await signIn(page);
  failsAfterCreate = true;
  await expect(learn()).rejects.toThrow("the connection broke");
  repository.commit({ "other.md": "The base moves meanwhile.\n" });
  await learn();
  expect(opened).toHaveLength(1);
  const { rows } = await database.pool.query("select number from rule_suggestions");
  expect(rows).toEqual([{ number: 1 }]);
});
