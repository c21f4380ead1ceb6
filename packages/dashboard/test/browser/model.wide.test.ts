// Costly: keyboard, layout and contrast exist in a browser only.
import { type FarModel, startFarModel } from "@emend/testkit/far-model.ts";
import { makePng } from "@emend/testkit/pictures.ts";
import { afterAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectAccessible, expectFitting } from "./support/judge.ts";
import { choose, press, type } from "./support/keyboard.ts";

let refuses = true;
const refused = { response: { error: { message: "no such key" }, status: 401 } };
const done: [string, unknown][] = [["finish", { title: "Look", summary: "The picture shows a login form." }]];
const far: FarModel = await startFarModel((_, { messages }) =>
  refuses ? refused : JSON.stringify(messages).includes("login.png") ? done : "ready",
);
afterAll(() => far.stop());
const { ANTHROPIC_API_KEY: _, ...environment } = far.environment;
const dashboard = openDashboard(environment);

journey("chooses a first language model, from where one is missing to a tested key", async (look) => {
  const { id } = await dashboard.addSample(`${look.name} docs`);
  const page = await dashboard.logIn(look, `/app?project=${id}`);
  await type(page.getByLabel("What should change in the docs?"), "Make the introduction friendlier");
  await page.getByText("do not understand").waitFor();
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
  await page.getByText("Saved", { exact: true }).waitFor();
  const project = (await dashboard.server.admin.listProjects()).find((each) => each.id === id);
  expect(project?.settings.model).toBe("anthropic/claude-sonnet-4-5");

  await go(page, `/app?project=${id}`);
  await page.getByText("anthropic/claude-sonnet-4-5").waitFor();
  expect(await page.getByRole("button", { name: "Start job" }).isEnabled()).toBe(true);

  // A picture goes with the prompt, and what cannot be attached is told at once.
  const files = page.getByLabel("Attach files");
  const png = { name: "login.png", mimeType: "image/png", buffer: makePng({ width: 640, height: 400 }) };
  await files.setInputFiles([png, { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("x") }]);
  await page.getByText("notes.txt can't be attached. Attach PNG, JPEG, WebP or PDF.").waitFor();
  await expectAccessible(page);
  await expectFitting(page);
  await page.getByRole("button", { name: "Remove login.png" }).click();
  await type(page.getByLabel("What should change in the docs?"), "What does this show?\nSay it in a sentence.");
  await page.evaluate(`{
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(${JSON.stringify([...png.buffer])})], "login.png", { type: "image/png" }));
    const pasted = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(pasted);
  }`);
  await page.getByRole("list", { name: "Attached files" }).getByText("login.png").waitFor();
  await press(page.getByRole("button", { name: "Start job" }));
  await page.getByText("This job changed no files.").waitFor();
  const width = "document.querySelector('[aria-label=\"Attached files\"] img')?.naturalWidth";
  await expect.poll(() => page.evaluate(width)).toBe(640);
  await expectAccessible(page);
  await expectFitting(page);
});
