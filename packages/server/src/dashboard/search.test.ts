import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, it } from "vitest";

let host: DashboardApi;
let projectId: string;
let asked: string[];

beforeAll(async () => {
  host = await startDashboard({
    listPages: async () => ["guides/auth.md", "guides/limits.md"],
    async searchPages(id, { text, accepts }) {
      asked.push(id);
      const line = { line: 4, text: `  Ask ${text} first.  ` };
      return ["docs/a.md", "src/secret.ts"].map((path) => ({ path, ...line })).filter(({ path }) => accepts(path));
    },
  });
  asked = [];
  projectId = (await host.api.addProject()).id;
});
afterAll(() => host.close());

const find = async (text: string) => host.send(`/search?${new URLSearchParams({ text })}`);

it("finds jobs, pull requests, pages and findings by a text, taken as it is", async () => {
  const { pool } = host.api;
  const jobId = await seedJob(pool, projectId, "Explain the 100% Quota.");
  await seedJob(pool, projectId, "Explain the 1000 things.");
  await pool.query(
    `insert into local_pull_requests (project_id, number, head_ref, base_ref, title, body, draft, base_commit, head_commit)
     values ($1, 1, 'a', 'main', 'Raise the 100% quota', '', false, 'b', 'h'), ($1, 2, 'b', 'main', 'Other', '', false, 'b', 'h')`,
    [projectId],
  );
  const finding = (message: string) => ({ check: "broken-link", severity: "error", path: "b.md", line: 2, message });
  await pool.query("insert into site_checks (project_id, commit_id, counts, findings) values ($1, 'c', '[]', $2)", [
    projectId,
    JSON.stringify([finding("The link to 100% quota is gone."), finding("Another.")]),
  ]);
  expect((await find("100% q")).json()).toMatchObject({
    jobs: [{ id: jobId }],
    pulls: [{ projectId, number: 1, state: "open" }],
    findings: [{ projectId, path: "b.md", line: 2, message: "The link to 100% quota is gone." }],
    pages: [{ projectId, path: "docs/a.md", line: 4, text: "Ask 100% q first." }],
  });
  expect(asked).toEqual([projectId]);
});

it("400 for a text that is missing, too short or too long", async () => {
  for (const text of ["", "a", "x".repeat(300)]) expect((await find(text)).statusCode).toBe(400);
  expect((await host.send("/search")).statusCode).toBe(400);
});

it("shows examples about the site's own pages for an instruction that is not understood", async () => {
  const body = { prompt: "Please make everything better.", model: "emend/rules" };
  const { kind, examples } = (await host.send(`/projects/${projectId}/reading`, { body })).json();
  expect(kind).toBe("not_understood");
  expect(examples.length).toBeGreaterThan(2);
  expect(examples.join("\n")).toContain("guides/auth");
});
