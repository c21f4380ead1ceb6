// Costly: a person answers in the page while the job waits on the server.
import { protocols, startFarModel } from "@emend/testkit/far-model.ts";
import { waitForJob } from "@emend/testkit/worker-control.ts";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectGood } from "./support/judge.ts";
import { press } from "./support/keyboard.ts";
import { bothLooks, take } from "./support/looks.ts";

const embed = '<iframe src="https://www.youtube.com/embed/x1" width="560" height="315"></iframe>';
const hidden = "<object data='x.swf'></object>";
/** Writes what the request asks for, and finishes. */
const far = await startFarModel((turn, request) => {
  const asked = JSON.stringify(request.messages);
  if (turn % 2 === 1) return [["finish", { title: "Show the video", summary: "I could not show more." }]];
  const content = `---\ntitle: Video\n---\n\nWatch it:\n\n${asked.includes("youtube") ? embed : hidden}\n`;
  return [["write_file", { path: "video.md", content }]];
});
const dashboard = openDashboard({ ...far.environment, EMEND_MODEL: protocols[0] });
let page: Page;
const projects = new Map<string, string>();

beforeAll(async () => {
  const { admin } = dashboard.server;
  const repo = await dashboard.installation.makeDocs({ "index.md": "---\ntitle: Home\n---\n\nWelcome.\n" });
  for (const { name } of bothLooks) {
    const settings = { secondReader: false };
    projects.set(name, (await admin.addProject({ name: `Docs ${name}`, forge: "local", repo, settings })).id);
  }
  page = await dashboard.logIn();
  dashboard.keep(page);
});
afterAll(() => far.stop());

journey("asks about an embed, publishes it when a person says so, and does not ask again", async (look) => {
  const { pool } = dashboard.installation.database;
  const projectId = projects.get(look.name) ?? "";
  await take(page, look);
  await go(page, `/app?project=${projectId}`);
  async function start(prompt: string): Promise<string> {
    const { id } = await page.evaluate(
      async ([to, words]) => {
        const answer = await fetch(`/dashboard/api/projects/${to}/jobs`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ prompt: words }),
        });
        return (await answer.json()) as { id: string };
      },
      [projectId, prompt] as const,
    );
    return id;
  }
  const first = await start("Show the video https://www.youtube.com/embed/x1 on a page of its own.");
  await waitForJob(pool, first, (job) => job.waiting_for === "approval" && job.waiting_since !== null);

  // The list and the inbox say what waits, and lead to it.
  await page
    .getByRole("link", { name: /^Waiting for you/ })
    .first()
    .waitFor();
  await go(page, "/app/inbox");
  await press(
    page.getByRole("link", { name: /Waiting for you.*Show the video/s }).and(page.locator(`[href$="${first}"]`)),
  );
  const panel = page.getByRole("region", { name: "Waiting for you" });
  await panel.getByText("video.md:7").first().waitFor();
  await panel.getByText(embed).first().waitFor();
  await expect.poll(() => page.title()).toMatch(/^Waiting for you: /);
  await expectGood(page);
  await press(panel.getByRole("button", { name: "Publish and allow here from now on" }));
  await page.getByText(/^Opened #\d/).waitFor();
  await panel.waitFor({ state: "detached" });

  const second = await start("Show the video https://www.youtube.com/embed/x1 again.");
  await go(page, `/app/jobs/${second}`);
  await page.getByText(/^Opened #\d/).waitFor();
  expect(await panel.count()).toBe(0);

  // Whoever allowed it can take it back.
  await go(page, `/app/projects/${projectId}?tab=policy`);
  const name = /^Ask again about element iframe/;
  await page.getByRole("button", { name }).waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name }));
  await page.getByRole("button", { name }).waitFor({ state: "detached" });

  const third = await start("Show the video https://www.youtube.com/embed/x1 once more.");
  await waitForJob(pool, third, (job) => job.waiting_for === "approval" && job.waiting_since !== null);
  await go(page, `/app/jobs/${third}`);
  await press(panel.getByRole("button", { name: "Don't publish" }));
  await page.getByRole("region", { name: "Failure" }).getByText("decided not to publish").waitFor();
  await expectGood(page);
});

journey("shows a job of which everything was refused as refused, and never as done", async (look) => {
  const { server, installation } = dashboard;
  const projectId = projects.get(look.name) ?? "";
  const { key } = await server.admin.createKey({ projectIds: [projectId], name: "CI", scope: "write" });
  const answer = await fetch(`${server.url}/v2/agent/${projectId}/job`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ prompt: "Show the old animation." }),
  });
  const { id } = (await answer.json()) as { id: string };
  await waitForJob(installation.database.pool, id, (job) => job.status === "completed");
  await take(page, look);
  await go(page, `/app/jobs/${id}`);
  await page.getByRole("heading", { name: "Nothing was published" }).waitFor();
  await page.getByText("Emend refused this change: video.md").waitFor();
  await expectGood(page);
  expect(await page.getByRole("main").getByText("Completed", { exact: true }).count()).toBe(0);
  await go(page, `/app?project=${projectId}`);
  await page
    .getByRole("link", { name: /^Refused/ })
    .first()
    .waitFor();
});
