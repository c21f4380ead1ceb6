// Costly: keyboard, layout and contrast exist in a browser only.
import { clientOf } from "@emend/testkit/whole-server.ts";
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectFitting, expectGood } from "./support/judge.ts";
import { press, type } from "./support/keyboard.ts";
import { take } from "./support/looks.ts";

const dashboard = openDashboard();
const hostile = `<img src=x onerror="document.title='owned'"> **bold** \u202Etfel ${"wide".repeat(80)}`;
let page: Page;

beforeAll(async () => {
  page = await dashboard.logIn();
  dashboard.keep(page);
});

/** A project with one pull request, of a finished job. */
async function openPull(name: string): Promise<{ id: string; jobId: string }> {
  const { id } = await dashboard.addSample(name);
  const { key } = await dashboard.server.admin.createKey({ projectIds: [id], name: "CI", scope: "write" });
  const client = clientOf(dashboard.server, id, key);
  const { id: jobId } = await client.create({ prompt: "Fix broken links." });
  await client.untilFinal(jobId);
  return { id, jobId };
}

journey("opens, discusses and merges a pull request by the keyboard alone", async (look) => {
  const { id, jobId } = await openPull(`${look.name} docs`);
  await take(page, look);
  // The API's link opens this page in a browser.
  await page.goto(`${dashboard.url}/forge/${id}/pull/1`);
  await page.waitForURL(`${dashboard.url}/app/pulls/${id}/1`);
  await page.getByText("Merges cleanly").waitFor();
  await press(page.getByText("Get this branch with git"));
  await page.getByText("git clone").waitFor();
  await page.locator("ins").first().waitFor();
  await type(page.getByLabel("Comment", { exact: true }), hostile);
  await page.keyboard.press("Control+Enter");
  await page.getByText("1 comment", { exact: true }).waitFor();
  await page.getByText("U+202E").waitFor();
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  expect(await page.title()).not.toBe("owned");
  await expectGood(page);

  // A comment on a line with a suggestion, which becomes a commit; then an edit, which becomes another.
  const file = page.getByRole("region", { name: /\.mdx?$/ }).first();
  await press(file.getByRole("button", { name: /^Comment on a line of/ }));
  await press(page.getByLabel("Suggest a change"), "Space");
  await type(page.getByLabel("Suggested text"), "Suggested words.");
  await type(page.getByLabel("Comment on these lines"), "Plainer, please.");
  await expectGood(page);
  await page.keyboard.press("Control+Enter");
  await page.getByText("1 open comment on lines").waitFor();
  // The keyboard continues from the comment, and not from the top of the page.
  const focused = () => page.evaluate("String(document.activeElement.getAttribute('aria-label'))");
  const soon = { timeout: 20_000 };
  await expect.poll(focused, soon).toMatch(/^Comments on line/);
  await press(page.getByRole("button", { name: "Resolve" }));
  await page.getByText(/^Resolved by/).waitFor();
  await expect.poll(focused, soon).toMatch(/^Comments on line/);
  await press(page.getByRole("button", { name: "Show", exact: true }));
  await press(page.getByRole("button", { name: "Reopen" }));
  await press(page.getByRole("button", { name: "Apply suggestion" }));
  await page.getByText(/^Applied by/).waitFor();
  await press(file.getByRole("button", { name: "Edit" }));
  const text = file.getByLabel(/^Text of/);
  expect(await text.inputValue()).toContain("Suggested words.");
  await type(text, `${await text.inputValue()}\nEdited words.\n`);
  await press(page.getByRole("button", { name: "Commit edit" }));
  await text.waitFor({ state: "detached" });
  await press(file.getByRole("button", { name: "Preview" }));
  await file.locator("ins").filter({ hasText: "Edited words." }).waitFor();
  await press(file.getByRole("button", { name: "Before and after" }));
  await file.locator("del").first().waitFor();
  await expectGood(page);

  // Reviewed: a file is viewed and folded, the commits are listed, and the newest is approved.
  await press(page.getByText("3 commits", { exact: true }));
  await page.getByText("Apply a suggestion to", { exact: false }).first().waitFor();
  const viewed = file.getByRole("button", { name: /^Viewed/ });
  await press(viewed);
  await page.getByText(/ · 1 of \d+ viewed/).waitFor();
  await file.getByRole("button", { expanded: false }).waitFor();
  await press(page.getByRole("button", { name: "Request changes" }));
  await expectGood(page, "dialog");
  await type(page.getByRole("dialog").getByLabel("Comment"), "Say why, too.");
  await press(page.getByRole("dialog").getByRole("button", { name: "Request changes" }));
  await page.getByRole("heading", { name: "Review before you merge" }).waitFor();
  await page.getByText("Say why, too.").waitFor();
  await press(page.getByRole("button", { name: "Approve" }));
  await press(page.getByRole("dialog").getByRole("button", { name: "Approve" }));
  await page.getByRole("region", { name: "Reviews" }).getByText("· Approved").waitFor();
  await page.reload();
  await file.getByRole("button", { expanded: false }).waitFor();
  await expectGood(page);

  await press(page.getByRole("button", { name: "Merge" }));
  await press(page.getByLabel("Combine all commits into one (squash)"), "Space");
  expect(await page.getByLabel("Delete the branch after the merge").isChecked()).toBe(true);
  await expectGood(page, "dialog");
  await press(page.getByRole("button", { name: "Merge pull request" }));
  await page.getByRole("heading", { name: "Merged" }).waitFor();
  await page.getByText("by you").waitFor();
  await press(page.getByRole("link", { name: "The job" }));
  await page.waitForURL(`${dashboard.url}/app/jobs/${jobId}`);
  await page.getByText(/^Merged #1/).waitFor();
  await press(page.getByRole("link", { name: "Pull requests" }));
  await page
    .getByRole("link", { name: /Fix broken links/ })
    .first()
    .waitFor();
  await expectFitting(page);
  // The newest comes first.
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${dashboard.url}/app/pulls/${id}/1`);
});

journey("takes a comment for a follow-up, tells that the branch has moved, and closes", async (look) => {
  const { id, jobId } = await openPull(`Asked on a ${look.name}`);
  await take(page, look);
  // A visitor reads the finished job: its event stream has ended.
  const reader = await page.context().newPage();
  await take(reader, look);
  const over = reader.waitForResponse((answer) => answer.url().includes("/events") && answer.status() === 204);
  await reader.goto(`${dashboard.url}/app/jobs/${jobId}`);
  await reader.getByText(/^Opened #1 · 3 files/).waitFor();
  await over;

  await go(page, `/app/pulls/${id}/1`);
  await type(page.getByLabel("Comment", { exact: true }), '@emend replace "API token" with "access key"');
  await page.keyboard.press("Control+Enter");
  await page.getByText("1 comment", { exact: true }).waitFor();
  await reader
    .getByRole("heading", { name: /^Follow-up 1/ })
    .first()
    .waitFor();
  await reader.getByText(/^Opened #1 · \d\d files/).waitFor();
  await reader.close();

  const path = `**/dashboard/api/pulls/${id}/1`;
  const failed = { name: "emend", state: "failed", words: "2 new problems on 1 page.", url: dashboard.url };
  const verdict = { kind: "blocked", words: "emend failed: 2 new problems on 1 page." };
  await page.route(path, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), statuses: [failed], verdict } });
  });
  await page.reload();
  await page.getByRole("heading", { name: "Can't be merged yet" }).waitFor();
  expect(await page.getByText("Ready to merge").count()).toBe(0);
  await page.unroute(path);
  await page.reload();
  await page.getByRole("heading", { name: "Ready to merge" }).waitFor();

  await page.route("**/merge", (route) => route.continue({ postData: JSON.stringify({ head: "0".repeat(40) }) }));
  dashboard.expectComplaint(/409/);
  await press(page.getByRole("button", { name: "Merge" }));
  await press(page.getByRole("button", { name: "Merge pull request" }));
  await page.getByRole("alert").getByText("branch changed").waitFor();
  await page.unroute("**/merge");
  await press(page.getByRole("button", { name: "Cancel" }));
  await press(page.getByRole("button", { name: "Close" }));
  await press(page.getByRole("button", { name: "Close pull request" }));
  await page.getByRole("heading", { name: "Closed" }).waitFor();
  expect(await page.getByRole("button", { name: "Merge" }).count()).toBe(0);
});
