// Costly: keyboard, layout and contrast exist in a browser only.
import { generateKeyPairSync } from "node:crypto";
import { startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { vendors } from "@emend/testkit/forges/vendors.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@emend/testkit/webhook-receiver.ts";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectAccessible, expectFitting, expectGood } from "./support/judge.ts";
import { choose, press, type } from "./support/keyboard.ts";
import { bothLooks, type Look, take } from "./support/looks.ts";

const dashboard = openDashboard({ EMEND_ALLOW_PRIVATE_WEBHOOKS: "true", EMEND_ALLOW_PRIVATE_FORGES: "true" });
let receiver: WebhookReceiver;
/** One visitor for all: another file covers logging in. */
let page: Page;
/** A project of the sample docs for each look. */
const samples = new Map<string, string>();
let codeId: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  for (const { name } of bothLooks) samples.set(name, (await dashboard.addSample(`${name} docs`)).id);
  codeId = (await dashboard.addSample("Code")).id;
  page = await dashboard.logIn();
  dashboard.keep(page);
});
afterAll(() => receiver.close());

/** The sample's page in this look. */
async function open(look: Look, tab: string): Promise<void> {
  await take(page, look);
  await go(page, `/app/projects/${samples.get(look.name)}?tab=${tab}`);
}

journey("adds, changes and removes one of the local forge by the keyboard alone", async (look) => {
  await take(page, look);
  await go(page, "/app/projects");
  await press(page.getByRole("link", { name: "Add project" }));
  const name = "Handbook of ours";
  await type(page.getByLabel("Name", { exact: true }), name);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name }).waitFor();

  // Before there are docs, there is nothing else to set.
  await press(page.getByRole("button", { name: "Start from this template" }));
  await page.getByText("Your docs are here").waitFor();
  await page.reload();
  await type(page.getByLabel("Dollars per job"), "0.5");
  await page.keyboard.press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
  await press(page.getByRole("link", { name: "Policy" }));
  await type(page.getByLabel("Allowed paths"), ".github/labels.yml\n\nCODEOWNERS");
  await press(page.getByLabel("Sign off"), "Space");
  await press(page.getByRole("button", { name: "Add pattern" }));
  await type(page.getByLabel("Check", { exact: true }), "broken-link");
  await type(page.getByRole("textbox", { name: "Pages" }), "old/**");
  await type(page.getByLabel("Reason", { exact: true }), "frozen");
  await press(page.getByRole("button", { name: "Save" }));
  await page.getByText("Saved", { exact: true }).waitFor();
  const project = (await dashboard.server.admin.listProjects()).find((each) => each.name === name);
  expect(project?.settings).toMatchObject({
    limits: { costUsdMax: 0.5, stepsMax: 60 },
    policy: { allowedPaths: [".github/labels.yml", "CODEOWNERS"] },
    commit: { signOff: true, authorName: "Emend" },
    checks: { ignore: [{ check: "broken-link", path: "old/**", reason: "frozen" }] },
  });

  await press(page.getByRole("link", { name: "General" }));
  await press(page.getByRole("button", { name: "Remove project" }));
  const dialog = page.getByRole("dialog");
  await type(dialog.getByLabel("Project name"), "Handbook");
  expect(await dialog.getByRole("button", { name: "Remove project" }).isEnabled()).toBe(false);
  await type(dialog.getByLabel("Project name"), name);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${dashboard.url}/app/projects`);
  expect((await dashboard.server.admin.listProjects()).some((each) => each.name === name)).toBe(false);
  await page.getByText(name).waitFor({ state: "detached" });
});

journey("adds, runs, edits, pauses and removes an automation by the keyboard alone", async (look) => {
  await open(look, "automations");
  await page.getByText("on a schedule, after a push").waitFor();
  await press(page.getByRole("button", { name: "Add automation" }));
  const dialog = page.getByRole("dialog");
  await type(dialog.getByLabel("Name", { exact: true }), "Links <b>on Mondays</b>");
  await choose(dialog.getByLabel("When"), "On");
  await choose(dialog.getByLabel("How often"), "Ano");
  await type(dialog.getByLabel("Schedule"), "often");
  await type(dialog.getByLabel("Prompt"), "Fix broken links.");
  dashboard.expectComplaint(/400/);
  await press(dialog.getByRole("button", { name: "Add automation" }));
  await dialog.getByRole("alert").waitFor();
  expect(await dialog.getByLabel("Name", { exact: true }).inputValue()).toBe("Links <b>on Mondays</b>");
  await choose(dialog.getByLabel("How often"), "Every w");
  await choose(dialog.getByLabel("Day", { exact: true }), "Mon");
  await press(dialog.getByRole("button", { name: "Add automation" }));
  const row = page.getByRole("listitem").filter({ hasText: "Links <b>on Mondays</b>" });
  await row.getByText(/every Monday at 9:00/).waitFor();

  await press(row.getByRole("button", { name: "Run now" }));
  await row.getByText("Started", { exact: true }).waitFor();
  await row.getByRole("link", { name: "The job" }).waitFor();
  await expectGood(page);
  await press(row.getByRole("button", { name: "Edit" }));
  await type(dialog.getByLabel("Prompt"), "Fix broken links by {{date}}.");
  await press(dialog.getByRole("button", { name: "Save automation" }));
  await row.getByText("Fix broken links by {{date}}.").waitFor();
  await press(row.getByRole("button", { name: "Pause" }));
  await row.getByText("Paused").waitFor();
  await press(row.getByRole("button", { name: "Resume" }));
  await row.getByText("Paused").waitFor({ state: "detached" });
  await press(row.getByRole("button", { name: "Remove" }));
  await press(dialog.getByRole("button", { name: "Remove automation" }));
  await row.waitFor({ state: "detached" });
});

journey("adds a preset by the keyboard alone, and says which ones need a language model", async (look) => {
  await open(look, "automations");
  const presets = page.getByRole("region", { name: "Presets" });
  const changelog = presets.getByRole("listitem").filter({ hasText: /Write the changelog(?! from)/ });
  await changelog.getByText("Needs a language model").waitFor();
  expect(await changelog.getByRole("button").count()).toBe(0);
  const title = "Fix broken links every week";
  await press(presets.getByRole("button", { name: `Add: ${title}` }));
  await presets.getByText(title).waitFor({ state: "detached" });
  const row = page.getByRole("listitem").filter({ hasText: title });
  await row.getByRole("button", { name: "Run now" }).waitFor();
  await expectGood(page);
});

journey("says in words what a setting may not be, keeps what was typed, and takes what may", async (look) => {
  dashboard.expectComplaint(/400/);
  await open(look, "policy");
  const branches = page.getByLabel("Branch prefix");
  await type(branches, "..");
  await press(page.getByRole("button", { name: "Save" }));
  await page.getByRole("alert").getByText("valid git branch name").waitFor();
  expect(await branches.inputValue()).toBe("..");
  await type(branches, "docs");
  await page.keyboard.press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
});

/** Every vendor at one width, and one vendor at both: the form is the same. */
const connections = bothLooks.flatMap((look, at) =>
  vendors.filter((_, nth) => at === 0 || nth === 0).map((vendor) => ({ vendor, look })),
);

it("adds one whose forge is away, and says that nothing was looked at", async () => {
  await go(page, "/app/projects/new");
  await page.getByLabel("Name", { exact: true }).fill("Far away");
  await page.getByLabel("Repository host").selectOption("gitea");
  await page.getByLabel("Address").fill("http://127.0.0.1:2/docs/site");
  await page.getByLabel("Token", { exact: true }).fill("token");
  await page.getByRole("button", { name: "Add project" }).click();
  await page.getByRole("heading", { name: "Far away" }).waitFor();
  await page.getByRole("alert").getByText("nothing was checked").waitFor();
});

it.each(connections)("connects one of $vendor.name, and tells a wrong token in words: $look.name", async (each) => {
  dashboard.expectComplaint(/400/);
  const far = await startFarEnd(each.vendor);
  onTestFinished(() => far.close());
  await take(page, each.look);
  await go(page, "/app/projects/new");
  await type(page.getByLabel("Name", { exact: true }), `Far docs on ${each.vendor.name}`);
  await choose(page.getByLabel("Repository host"), each.vendor.name);
  await type(page.getByLabel("Address"), far.repositoryUrl);
  await type(page.getByLabel("Token", { exact: true }), "wrong");
  await press(page.getByRole("button", { name: "Add project" }));
  await page.getByRole("alert").waitFor();
  expect(await page.getByLabel("Address").inputValue()).toBe(far.repositoryUrl);
  await type(page.getByLabel("Token", { exact: true }), far.token);
  await press(page.getByRole("button", { name: "Add project" }));

  await press(page.getByRole("button", { name: "Test connection" }));
  await page.getByText(`reads ${far.state.path}`).waitFor();
  await page.getByText("the base is main at").waitFor();
  // The page is the same for each forge.
  if (each.vendor === vendors[0]) await expectGood(page);

  await type(page.getByLabel("New token"), "stale");
  await press(page.getByRole("button", { name: "Replace token" }));
  await page.getByText("Problem").first().waitFor();
  if (each.vendor !== vendors[0]) return;

  await type(page.getByLabel("New token"), far.token);
  await press(page.getByRole("button", { name: "Replace token" }));
  await page.getByText("Replaced", { exact: true }).waitFor();
  await page.getByText(`reads ${far.state.path}`).waitFor();
  // A missing repository changes nothing. A renamed one is followed after a person confirms it.
  const address = page.getByLabel("New repository address");
  await type(address, "http://127.0.0.1:2/acme/docs");
  await page.getByLabel("Token for the new server").waitFor();
  await type(address, `${far.url}/acme/none/none`);
  expect(await page.getByLabel("Token for the new server").count()).toBe(0);
  await press(page.getByRole("button", { name: "Change repository" }));
  await page.getByRole("alert").waitFor();
  Object.assign(far.state, { movedTo: "/elsewhere/1", path: "acme/handbook" });
  await press(page.getByRole("button", { name: "Use its new address" }));
  await page.getByText(`Currently ${far.url}/acme/handbook.`).waitFor();
  await page.getByText("reads acme/handbook").waitFor();
  await expectGood(page);
});

it("creates and installs a GitHub App, then picks a repository, at two widths", async () => {
  const far = await startFarEnd(githubVendor);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  Object.assign(far.state.app, { privateKey: pem, installed: false, code: "once" });
  far.state.otherRepositories = Array.from({ length: 110 }, (_, at) => `acme/site-${at}`);
  // GitHub's two pages: each leads back to where the manifest says.
  let manifest: Record<string, string> = {};
  await page.route(`${far.url}/**`, async (route) => {
    const request = route.request();
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === "/organizations/acme/settings/apps/new") {
      manifest = JSON.parse(new URLSearchParams(request.postData() ?? "").get("manifest") ?? "{}");
    } else far.state.app.installed = true;
    const back =
      pathname === "/apps/emend/installations/new"
        ? `${manifest.setup_url}&installation_id=1&setup_action=install`
        : `${manifest.redirect_url}?code=once&state=${searchParams.get("state")}`;
    const body = `<a href="${back.replaceAll("&", "&amp;")}">Back to Emend</a>`;
    await route.fulfill({ contentType: "text/html", body });
  });
  onTestFinished(async () => {
    await page.unroute(`${far.url}/**`);
    await far.close();
  });
  dashboard.expectComplaint(new RegExp(`^${far.url}/`));

  /** One walk for both: pages are laid out anew when the window changes. */
  async function expectBoth(within: string) {
    for (const look of bothLooks) {
      await take(page, look);
      await expectFitting(page);
    }
    await expectAccessible(page, within);
  }
  await go(page, "/app/projects/new");
  await page.getByLabel("Repository host").selectOption("github");
  expect(await page.getByRole("link", { name: "Create a token on GitHub" }).getAttribute("href")).toMatch(
    /^https:\/\/github\.com\/settings\/personal-access-tokens\/new\?name=Emend&.*contents=write&pull_requests=write/,
  );
  await page.getByRole("button", { name: "Create GitHub App" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Organization").fill("acme");
  await dialog.getByLabel("GitHub server").fill(far.url);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Pull requests: read and write").waitFor();
  await expectBoth("main");
  await page.getByRole("button", { name: "Continue on" }).click();
  await page.getByRole("link", { name: "Back to Emend" }).click();
  await page.getByRole("link", { name: "Install on GitHub" }).click();
  await page.getByRole("link", { name: "Back to Emend" }).click();
  await page.getByText("It reaches 111 repositories.").waitFor();
  await page.getByRole("button", { name: "Choose from list" }).click();
  await dialog.getByText("111 match").waitFor();
  await expectBoth("dialog");
  await page.keyboard.type("SITE 10");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const [name, address] = [page.getByLabel("Name", { exact: true }), page.getByLabel("Address")];
  expect([await name.inputValue(), await address.inputValue()]).toEqual(["site-100", `${far.url}/acme/site-100`]);
  await page.keyboard.press("Enter");
  await dialog.getByText("111 match").waitFor();
  await page.keyboard.type("docs");
  await page.keyboard.press("Enter");
  expect([await name.inputValue(), await address.inputValue()]).toEqual(["docs", far.repositoryUrl]);
  await name.fill("With an App");
  await page.getByRole("button", { name: "Add project" }).click();
  await page.getByRole("heading", { name: "With an App" }).waitFor();
});

journey("gives jobs a repository to read, and takes it away, by the keyboard alone", async (look) => {
  await open(look, "guidance");
  await press(page.getByRole("button", { name: "Add repository" }));
  const dialog = page.getByRole("dialog");
  await type(dialog.getByLabel("Name", { exact: true }), "code");
  await choose(dialog.getByLabel("Host"), "Here");
  await type(dialog.getByLabel("Project ID or URL"), codeId);
  await press(dialog.getByRole("button", { name: "Add repository" }));
  await page.getByText("@code").waitFor();
  await press(page.getByRole("button", { name: "Remove" }));
  await press(page.getByRole("button", { name: "Remove repository" }));
  await page.getByText("Code that the docs describe").waitFor();
});

journey("posts to a webhook, shows how it went, sends it again, and stops", async (look) => {
  const before = receiver.received.length;
  await open(look, "webhooks");
  await press(page.getByRole("button", { name: "Add webhook" }));
  await type(page.getByLabel("Address"), receiver.url);
  await press(page.getByRole("dialog").getByRole("button", { name: "Add webhook" }));
  await page
    .getByRole("dialog", { name: "Webhook secret" })
    .getByText(/^whsec_/)
    .waitFor();
  await press(page.getByRole("button", { name: "Done" }));

  await page.keyboard.press("c");
  await choose(page.getByLabel("Project", { exact: true }), look.name.charAt(0));
  await type(page.getByLabel("What should change in the docs?"), "Fix broken links.");
  await press(page.getByRole("button", { name: "Start job" }));
  await receiver.message(before + 1);
  await open(look, "webhooks");
  await press(page.getByRole("button", { name: "Deliveries" }));
  await page.getByText("Delivered").waitFor();
  await press(page.getByRole("button", { name: "Redeliver" }));
  await receiver.message(before + 2);
  await expectGood(page);
  await press(page.getByRole("button", { name: "Disable" }));
  await press(page.getByRole("button", { name: "Enable" }));
  await press(page.getByRole("button", { name: "Remove" }));
  await press(page.getByRole("button", { name: "Remove webhook" }));
  await page.getByText("when a job ends").waitFor();
});
