import { expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { expectFitting } from "./support/judge.ts";
import { press } from "./support/keyboard.ts";
import { bothLooks, desktop } from "./support/looks.ts";

const dashboard = openDashboard();

it.each(bothLooks)("looks at a site, and one key mends what it found: $name", async (look) => {
  const { id } = await dashboard.addSample(`Courier on a ${look.name}`);
  const page = await dashboard.logIn(look, `/app/health?project=${id}`);
  await press(page.getByRole("button", { name: "Check now" }));
  await page.getByRole("figure", { name: "Findings over time" }).waitFor();
  await page
    .getByText(/leads to no page/)
    .first()
    .waitFor();
  await expectFitting(page);
  await press(page.getByRole("button", { name: "Start job: Fix broken links." }));
  await page.getByRole("link", { name: /^Pull request #/ }).waitFor();
});

it("says why a site could not be looked at", async () => {
  const { id } = await dashboard.server.admin.addProject({ name: "Empty", forge: "local" });
  const page = await dashboard.logIn(desktop, `/app/health?project=${id}`);
  await page.getByRole("button", { name: "Check now" }).click();
  const alert = page.getByRole("alert");
  await alert.waitFor();
  expect(await alert.textContent()).toMatch(/The last look at the site failed: .+/);
});

it("offers the composer what was found", async () => {
  const { id } = await dashboard.addSample("Suggested");
  const page = await dashboard.logIn(desktop, `/app/health?project=${id}`);
  await page.getByRole("button", { name: "Check now" }).click();
  await page.getByRole("figure", { name: "Findings over time" }).waitFor();
  const answer = await page.request.get(`${dashboard.url}/dashboard/api/projects/${id}/suggestions`);
  expect((await answer.json()).suggestions).toContainEqual({
    prompt: "Fix broken links.",
    because: expect.stringMatching(/lead/),
  });
});
