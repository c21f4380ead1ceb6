import { type FarModel, startFarModel } from "@emend/testkit/far-model.ts";
import { afterAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectAccessible, expectFitting } from "./support/judge.ts";
import { choose, press, type } from "./support/keyboard.ts";

let refuses = true;
const refused = { response: { error: { message: "no such key" }, status: 401 } };
const far: FarModel = await startFarModel(() => (refuses ? refused : "ready"));
afterAll(() => far.stop());
const { ANTHROPIC_API_KEY: _, ...environment } = far.environment;
const dashboard = openDashboard(environment);

journey("chooses a first language model, from where one is missing to a tested key", async (look) => {
  const { id } = await dashboard.addSample(`${look.name} docs`);
  const page = await dashboard.logIn(look, `/app?project=${id}`);
  await type(page.getByLabel("What should change in the docs?"), "Make the introduction friendlier");
  await page.getByText("I do not understand").waitFor();
  expect(await page.getByRole("button", { name: "Start job" }).isDisabled()).toBe(true);
  await press(page.getByRole("link", { name: "Choose a language model" }));
  await page.getByRole("heading", { name: "Model", exact: true }).waitFor();

  await choose(page.getByLabel("Vendor"), "Anth");
  await page.getByText(/^about \$\d/).waitFor();
  const save = page.getByRole("button", { name: "Save model" });
  expect(await save.isDisabled()).toBe(true);
  await page.getByText("Paste a key to test and save").waitFor();
  await type(page.getByLabel("Anthropic API key"), "sk-wrong");
  refuses = true;
  await press(page.getByRole("button", { name: "Test" }));
  await page.getByText("no such key").waitFor();
  await expectAccessible(page);
  refuses = false;
  await type(page.getByLabel("Anthropic API key"), "sk-right");
  await press(page.getByRole("button", { name: "Test" }));
  await page.getByText(/The model answered in/).waitFor();
  await expectFitting(page);
  await press(save);
  await page.getByText("Jobs use anthropic/claude-sonnet-4-5").waitFor();
  const project = (await dashboard.server.admin.listProjects()).find((each) => each.id === id);
  expect(project?.settings.model).toBe("anthropic/claude-sonnet-4-5");

  await go(page, `/app?project=${id}`);
  await page.getByText("anthropic/claude-sonnet-4-5").waitFor();
  expect(await page.getByRole("button", { name: "Start job" }).isEnabled()).toBe(true);
});
