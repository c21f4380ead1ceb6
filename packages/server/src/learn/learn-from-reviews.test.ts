import { deflateSync } from "node:zlib";
import { createLogger } from "@emend/base/logger.ts";
import type { Forge, PullRequestComment, PullRequestDraft } from "@emend/forges";
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
let said: Map<number, readonly Partial<PullRequestComment>[]>;
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
  [opened, failsAfterCreate, said] = [[], false, new Map()];
  count += 1;
  repository = bench.repository(`lessons-${count}`);
  repository.commit({ "index.md": "# Docs\n" });
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
  conversation: {
    listComments: async (number: number) => said.get(number) ?? [],
    mayWrite: async (author: string) => (author === "ada" ? "yes" : "no"),
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

let pulls = 100;
/** A job that proposed this line on a page, and what people did with its pull request. */
async function settled(
  page: string,
  proposed: string,
  how: { by: string } | { refusedWith: readonly Partial<PullRequestComment>[] },
): Promise<string> {
  const diff = `diff --git a/${page} b/${page}\n--- /dev/null\n+++ b/${page}\n@@ -0,0 +1 @@\n+${proposed}\n`;
  const id = await seedJob(database.pool, projectId);
  pulls += 1;
  await alterJob(
    database.pool,
    id,
    `status = 'completed', ended_at = now(), pull_request = '{"number": ${pulls}, "state": "open"}'`,
  );
  await database.pool.query("update jobs set diff = $2 where id = $1", [id, deflateSync(diff)]);
  if ("by" in how) repository.commit({ [page]: `${how.by}\n` });
  else said.set(pulls, how.refusedWith);
  await settle(id, "by" in how ? "merged" : "closed");
  return id;
}
const settle = (id: string, state: string) =>
  alterJob(database.pool, id, `pull_request = pull_request || '{"state": "${state}"}'`);
const merged = (page: string, proposed: string, by: string) => settled(page, proposed, { by });
const refused = (page: string, ...refusedWith: readonly Partial<PullRequestComment>[]) =>
  settled(page, "Then sign in to the dashboard again.", { refusedWith });
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

const titles = () => opened.map(({ title }) => title.replace("Suggest a rule: ", ""));
const isAsked = async () => {
  const { rowCount } = await database.pool.query(
    "delete from tasks where kind = 'learn_from_reviews' and subject = $1",
    [projectId],
  );
  return rowCount === 1;
};

test("whoever merges or closes a pull request, it is read, and again after it was opened again", async () => {
  const id = await refused("a.md", { author: "ada", text: "Never mention the dashboard.", path: null });
  expect(await isAsked()).toBe(true);
  await learn();
  expect(titles()).toEqual(["Never mention the dashboard."]);
  await settle(id, "open");
  expect(await isAsked()).toBe(false);
  repository.commit({ "a.md": "Then log in to the dashboard again.\n" });
  await settle(id, "merged");
  expect(await isAsked()).toBe(true);
  await learn();
  const { rows } = await database.pool.query("select kind from review_lessons where job_id = $1 order by kind", [id]);
  expect(rows).toEqual([{ kind: "refused" }, { kind: "rule" }, { kind: "words" }]);
});

test("what people who may write say on refused pull requests counts, and nothing else does", async () => {
  const instead = { text: 'Write "log in", not "sign in".', path: "a.md" };
  await refused("a.md", { ...instead, author: "ada" });
  await refused("b.md", {
    author: "ada",
    text: "A review.",
    lines: [
      {
        id: "1",
        author: "ada",
        path: "b.md",
        line: 1,
        text: "```suggestion\nThen log in to the dashboard again.\n```",
      },
    ],
  });
  await refused(
    "c.md",
    { ...instead, author: "mallory" },
    { author: "mallory", text: "Never write docs.", path: null },
  );
  await refused("d.md", { ...instead, author: "ada", text: `${instead.text}\n\n<!-- emend:answer=1 -->` });
  await learn();
  expect(opened).toEqual([]);
  const id = await merged("e.md", "Then sign in to the dashboard again.", "Then log in to the dashboard again.");
  await learn();
  expect(titles()).toEqual(['Write "log in", not "sign in".']);
  expect(opened[0]?.body).toContain(id);
});

test("places that only refused pull requests change are left alone, once others were merged", async () => {
  const ids = [await refused("docs/old/a.md"), await refused("docs/old/b.md"), await refused("docs/old/c.md")];
  await learn();
  expect(opened).toEqual([]);
  for (const page of ["docs/x.md", "docs/y.md", "docs/z.md"]) await merged(page, "As it is.", "As it is.");
  // Somebody has second thoughts.
  await settle(ids[0] ?? "", "open");
  await learn();
  expect(opened).toEqual([]);
  await settle(ids[0] ?? "", "closed");
  await learn();
  expect(titles()).toEqual(["Do not change `docs/old/` unless the request names it."]);
  for (const id of ids) expect(opened[0]?.body).toContain(id);
});

test("a place that a merged pull request changed is no place to leave alone", async () => {
  for (const page of ["a", "b", "c"]) await refused(`old/${page}.md`);
  for (const page of ["x.md", "y.md", "old/z.md"]) await merged(page, "As it is.", "As it is.");
  await learn();
  expect(opened).toEqual([]);
});
