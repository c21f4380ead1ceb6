// Costly: what a person sees of a failure is drawn, with its contrast and its focus.
import { failureCodes } from "@emend/contract";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectGood } from "./support/judge.ts";
import { press, reach } from "./support/keyboard.ts";
import { addJob } from "./support/tell-job.ts";

const dashboard = openDashboard();
let projectId: string;

/** What each failure offers first, and where that leads. */
const actions: Readonly<Record<string, { name: string; leadsTo(page: Page): Promise<unknown> }>> = {
  model_unavailable: {
    name: "Check the model",
    leadsTo: (page) => page.getByRole("button", { name: "Save model" }).waitFor(),
  },
  budget_exceeded: { name: "Raise the limits", leadsTo: (page) => page.getByLabel("Dollars per job").waitFor() },
  timeout: { name: "Raise the limits", leadsTo: (page) => page.getByLabel("Minutes per job").waitFor() },
  cancelled: { name: "Run again", leadsTo: newJob },
  policy_denied: { name: "Open the policy", leadsTo: (page) => page.getByLabel("Allowed paths").waitFor() },
  branch_conflict: { name: "Run again", leadsTo: newJob },
  forge_rejected: { name: "Check the connection", leadsTo: connection },
  forge_unavailable: { name: "Retry", leadsTo: active },
  // Emend hosts this one, so no token is missing.
  repository_unavailable: { name: "Open the project", leadsTo: (page) => page.getByLabel("Docs folder").waitFor() },
  instruction_not_understood: { name: "Edit the prompt", leadsTo: composer },
  internal: { name: "Retry", leadsTo: active },
};

function newJob(page: Page) {
  return page.getByText(/^Opened #\d|^No changes/).waitFor();
}
function connection(page: Page) {
  return page.getByRole("button", { name: "Test connection" }).waitFor();
}
function active(page: Page) {
  return page.getByRole("region", { name: "Failure" }).waitFor({ state: "detached" });
}
async function composer(page: Page) {
  const field = page.getByLabel("What should change in the docs?");
  await expect.poll(() => field.inputValue(), { timeout: 20_000 }).toBe("Fix broken links.");
}

async function failedJob(code: string, status: "failed" | "completed" = "failed"): Promise<string> {
  const { pool } = dashboard.installation.database;
  const id = await addJob(pool, projectId, "Fix broken links.");
  await pool.query(
    `update jobs set status = $3, failure_code = $2, failure_message = 'What the server says.',
       ended_at = clock_timestamp(), run_after = now() + interval '1 hour', summary = 'Fixed three links.' where id = $1`,
    [id, code, status],
  );
  return id;
}

beforeAll(async () => {
  projectId = (await dashboard.addSample("Failing")).id;
});

it("has a row here for every failure", () => {
  expect(Object.keys(actions).toSorted()).toEqual([...failureCodes].toSorted());
});

journey("offers one first action for each failure, which leads on", async (look) => {
  const page = await dashboard.logIn(look);
  for (const [code, { name, leadsTo }] of Object.entries(actions)) {
    await go(page, `/app/jobs/${await failedJob(code)}`);
    const box = page.getByRole("region", { name: code === "cancelled" ? "Cancelled" : "Failure" });
    const action = box.getByRole("button", { name }).or(box.getByRole("link", { name }));
    await reach(action);
    // It is the first thing to do.
    expect(await box.getByRole("button").or(box.getByRole("link")).first().textContent()).toBe(name);
    expect(await box.textContent()).not.toContain("`");
    await press(action);
    await leadsTo(page);
  }
});

journey("keeps what a job had reached when its follow-up fails, and says why", async (look) => {
  const page = await dashboard.logIn(look);
  const { pool } = dashboard.installation.database;
  const id = await failedJob("instruction_not_understood", "completed");
  await pool.query(
    `insert into job_messages (job_id, number, prompt, after_step, created_by) values ($1, 1, 'Be nicer.', 0, 'key/k')`,
    [id],
  );
  await go(page, `/app/jobs/${id}`);
  await page.getByRole("heading", { name: /^Follow-up failed: the built-in rules/ }).waitFor();
  await page.getByText("What the job did before is unchanged.").waitFor();
  await page.getByText("Completed").first().waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name: "Write another message" }));
  await expect.poll(() => page.evaluate("document.activeElement.id"), { timeout: 20_000 }).toBe("follow-up");
});
