// Costly: keyboard, layout and contrast exist in a browser only.
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { expectGood } from "./support/judge.ts";
import { press } from "./support/keyboard.ts";

const dashboard = openDashboard();

journey("shows what jobs used, as charts, as tables and as CSV", async (look) => {
  const { id } = await dashboard.addSample(`=Courier on a ${look.name}`);
  await dashboard.installation.database.pool.query(
    `insert into jobs (id, project_id, model, prompt, repository_url, branch, created_by, status, ended_at, usage)
     select 'job_' || $2 || n, $1, 'anthropic/opus', 'x', 'u', 'b', 't', 'completed', clock_timestamp(),
       '{"inputTokens": 1000, "outputTokens": 100, "costUsd": 0.1}' from generate_series(1, 4) n`,
    [id, look.name],
  );
  const page = await dashboard.logIn(look, "/app/usage");
  await page.getByRole("figure", { name: "Jobs per day" }).waitFor();
  await press(page.locator("summary", { hasText: "As a table" }).first());
  await page.getByRole("table", { name: "Jobs per day" }).waitFor();
  for (const by of ["project", "model"]) {
    for (const measure of ["Jobs", "Success", "Tokens", "Cost", "Median time"]) {
      await page.getByRole("figure", { name: `${measure} by ${by}` }).waitFor();
    }
    const section = page.getByRole("region", { name: `By ${by}` }).first();
    await press(section.locator("summary"));
    await section.getByRole("table", { name: `By ${by}` }).waitFor();
  }
  const costs = page.getByRole("figure", { name: "Cost by model" });
  expect(await costs.getByRole("listitem").first().textContent()).toMatch(/anthropic\/opus\$0\.\d0/);
  await expectGood(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    press(page.getByRole("link", { name: "Download CSV" })),
  ]);
  expect(await text(await download.createReadStream())).toContain(`'=Courier on a ${look.name}`);
  await press(page.getByRole("button", { name: "7 days" }));
  await page.waitForURL(/days=7/);
});
