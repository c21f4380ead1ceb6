import { readPrompt } from "@emend/agent";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { addProject } from "../accounts/projects/save-project.ts";
import { createSealer } from "../accounts/secrets.ts";
import {
  listDueSiteChecks,
  listNewSites,
  type NewSiteCheck,
  readSiteHealth,
  type SiteFinding,
  storeSiteCheck,
  storeSiteProblem,
} from "./site-checks.ts";
import { fixInstructionFor, suggestFixes } from "./suggest-fixes.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function newProject(settings: object = {}): Promise<string> {
  const sealer = createSealer("a secret of the tests, and of nothing else");
  const project = { name: "docs", forge: "local", repositoryUrl: "https://emend.test/git/x.git", settings } as const;
  return (await addProject({ db: database.pool, sealer }, project)).id;
}

const broken = {
  check: "broken-link",
  severity: "error",
  path: "a.md",
  line: 3,
  message: "links to a missing page",
} as const;
const orphan = {
  check: "orphan-page",
  severity: "warning",
  path: "guides/b.md",
  line: 1,
  message: "no entry",
} as const;
const heading = { check: "heading-jump", severity: "warning", path: "a.md", line: 9, message: "jumps" } as const;

function found(more: Partial<NewSiteCheck> = {}): NewSiteCheck {
  return {
    commit: "c1",
    branch: "main",
    framework: "mintlify",
    pages: 2,
    sources: [],
    findings: [orphan, broken],
    ...more,
  };
}

it("keeps one row for a base that stands still, with the worst findings first", async () => {
  const id = await newProject();
  await storeSiteCheck(database.pool, id, found());
  await storeSiteCheck(database.pool, id, found({ findings: [orphan, { ...broken, fix: {} }] }));
  const health = await readSiteHealth(database.pool, id);
  expect(health.checks).toHaveLength(1);
  expect(health.findings.map(({ check }) => check)).toEqual(["broken-link", "orphan-page"]);
  // Each with the job that would fix it: the rules only where they know what to write.
  const [link, page] = health.findings as [SiteFinding, SiteFinding];
  expect(fixInstructionFor(link, true)).toBe(`Fix broken links in ${link.path}.`);
  expect(fixInstructionFor({ ...link, isFixable: undefined } as never, true)).toBeNull();
  expect(fixInstructionFor({ ...link, isFixable: undefined } as never, false)).toContain(link.message);
  expect(fixInstructionFor(page, true)).toMatch(/^Add \S+ to the navigation\.$/);
  expect(health.checks[0]?.counts[0]).toEqual({ check: "broken-link", severity: "error", count: 1, fixable: 1 });
});

it("keeps a row a commit, findings of the newest alone, and no more than it is to keep", async () => {
  const id = await newProject();
  await database.pool.query(
    `insert into site_checks (project_id, checked_at, commit_id, branch, framework, pages, counts, findings)
     select $1, clock_timestamp() - make_interval(days => n), 'old' || n, 'main', 'plain', 1, '[]', '[]'
     from generate_series(1, 500) n`,
    [id],
  );
  await storeSiteCheck(database.pool, id, found({ commit: "new" }));
  const { rows } = await database.pool.query(
    "select count(*)::int as rows, count(findings)::int as full from site_checks where project_id = $1",
    [id],
  );
  expect(rows[0]).toEqual({ rows: 400, full: 1 });
  expect((await readSiteHealth(database.pool, id)).checks.at(-1)?.commit).toBe("new");
});

it("stores no more than a bounded part of the findings, and counts all of them", async () => {
  const id = await newProject();
  const findings = Array.from({ length: 700 }, (_, line) => ({ ...broken, line, message: "x".repeat(2000) }));
  await storeSiteCheck(database.pool, id, found({ findings }));
  const health = await readSiteHealth(database.pool, id);
  expect(health.findings).toHaveLength(500);
  expect(health.findings[0]?.message).toHaveLength(500);
  expect(health.checks[0]?.counts[0]?.count).toBe(700);
});

it("says why a look failed, keeps what was found before, and forgets it after one that did not", async () => {
  const id = await newProject();
  await storeSiteCheck(database.pool, id, found());
  await storeSiteProblem(database.pool, id, "The token was refused.");
  await storeSiteProblem(database.pool, id, "The repository is empty.");
  const failed = await readSiteHealth(database.pool, id);
  expect(failed.problem?.words).toBe("The repository is empty.");
  expect(failed.findings).toHaveLength(2);
  await storeSiteCheck(database.pool, id, found({ commit: "c2" }));
  expect((await readSiteHealth(database.pool, id)).problem).toBeNull();
});

it("is due where it was never looked at, a day ago, or before a job ended", async () => {
  const never = await newProject();
  const lately = await newProject();
  const longAgo = await newProject();
  for (const id of [lately, longAgo]) await storeSiteCheck(database.pool, id, found());
  await database.pool.query(
    "update site_checks set checked_at = checked_at - interval '25 hours' where project_id = $1",
    [longAgo],
  );
  const failed = await newProject();
  await storeSiteProblem(database.pool, failed, "The repository is empty.");
  const added = await listNewSites(database.pool);
  expect(added).toContain(never);
  for (const id of [lately, longAgo, failed]) expect(added).not.toContain(id);
  const due = await listDueSiteChecks(database.pool);
  for (const id of [never, failed]) expect(due).toContain(id);
  expect(due).toContain(longAgo);
  expect(due).not.toContain(lately);
  await database.pool.query(
    `insert into jobs (id, project_id, status, prompt, model, repository_url, branch, created_by)
     values ('job_h', $1, 'completed', 'x', 'm', 'u', 'b', 't')`,
    [lately],
  );
  expect(await listDueSiteChecks(database.pool)).toContain(lately);
});

it("suggests to the rules only what they understand, and to a model the findings themselves", async () => {
  const findings = [broken, orphan, heading];
  const rules = await newProject();
  await storeSiteCheck(database.pool, rules, found({ findings }));
  const deps = { db: database.pool, defaultModel: "emend/rules" };
  const suggested = await suggestFixes(deps, rules);
  expect(suggested.map(({ because }) => because)).toEqual([
    "1 link leads nowhere, none with a certain fix",
    "1 page is in no navigation",
  ]);
  expect(suggested.map(({ isVain }) => isVain)).toEqual([true, undefined]);
  for (const { prompt } of suggested) expect(readPrompt("emend/rules", prompt).kind).toBe("understood");

  // The same fix is not offered again while its pull request is open.
  const [, orphans] = suggested;
  const jobId = await seedJob(database.pool, rules, orphans?.prompt);
  expect((await suggestFixes(deps, rules)).map(({ underWay }) => underWay)).toEqual([
    undefined,
    { jobId, number: null },
  ]);
  const end = (state: string) =>
    database.pool.query("update jobs set status = 'completed', pull_request = $2 where id = $1", [
      jobId,
      { number: 3, url: "http://x", state, draft: false },
    ]);
  await end("open");
  expect((await suggestFixes(deps, rules)).map(({ underWay }) => underWay)).toEqual([undefined, { jobId, number: 3 }]);
  await end("merged");
  expect((await suggestFixes(deps, rules)).map(({ underWay }) => underWay)).toEqual([undefined, undefined]);

  const free = await newProject({ model: "anthropic/claude" });
  await storeSiteCheck(database.pool, free, found({ findings }));
  expect((await suggestFixes(deps, free)).at(-1)?.prompt).toContain("- a.md:9: jumps");
  expect(await suggestFixes(deps, await newProject())).toEqual([]);
});
