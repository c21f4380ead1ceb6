import type { DashboardGate, DashboardJobRow } from "@emend/contract";
import type { Locator, Page } from "playwright-core";
import type { Seeded } from "./seed.ts";

export interface Shot {
  name: string;
  path: string;
  /** Only the visible part: rows further down are rendered on scroll, and a dialog covers only the window. */
  isLong?: boolean;
  /** Absent in a narrow window, or too far down there. */
  isWide?: boolean;
  /** What to do before the screenshot. */
  act?(page: Page): Promise<void>;
}

const click = (name: string) => (page: Page) => page.getByRole("button", { name, exact: true }).first().click();

/** Every page, dialog and state. Add a line for a new one. */
export function shotsOf(seeded: Seeded): readonly Shot[] {
  return [...readmeShots(seeded), ...jobShots(seeded), ...projectShots(seeded), ...otherShots(seeded)];
}

/** For the README: without the strings that try the page's limits. */
function readmeShots({ projectId, jobPaths }: Seeded): readonly Shot[] {
  const hide = (page: Page) => hideTrials(page, projectId);
  return [
    { name: "readme-job", path: jobPaths[0] ?? "", isLong: true, isWide: true },
    { name: "readme-jobs", path: "/app", isLong: true, isWide: true, act: hide },
    { name: "readme-health", path: `/app/health?project=${projectId}`, isLong: true, isWide: true, act: hide },
  ];
}

async function hideTrials(page: Page, projectId: string): Promise<void> {
  await page.route(/\/api\/jobs\?/, async (route) => {
    const answer = await route.fetch();
    const { jobs, ...rest } = await answer.json();
    const shown = jobs.filter((job: DashboardJobRow) => job.projectId === projectId && !job.prompt.includes("<"));
    await route.fulfill({ response: answer, json: { ...rest, jobs: shown } });
  });
  await page.reload();
  await page.waitForLoadState("networkidle");
}

function jobShots({ jobPaths, runningPath, longPath }: Seeded): readonly Shot[] {
  const first = jobPaths[0] ?? "";
  return [
    { name: "jobs", path: "/app", isLong: true },
    { name: "jobs-none", path: "/app?search=nothing-like-this" },
    { name: "jobs-reading", path: "/app", isLong: true, act: (page) => write(page, "Fix broken links.") },
    { name: "jobs-misread", path: "/app", isLong: true, act: (page) => write(page, "Please make everything better.") },
    { name: "jobs-options", path: "/app", isLong: true, act: click("Options") },
    { name: "jobs-refused", path: "/app", isLong: true, act: startRefused },
    { name: "jobs-ended", path: "/app", isLong: true, act: endSession },
    { name: "jobs-loading", path: "/app", act: loadSlowly },
    { name: "jobs-fault", path: "/app", act: loadWithFault },
    { name: "jobs-viewer", path: "/app", isLong: true, act: beViewer },
    ...jobPaths.map((path, index) => ({ name: `job-${index + 1}`, path, isLong: true })),
    { name: "job-split", path: first, isLong: true, isWide: true, act: click("Side by side") },
    { name: "job-preview", path: first, isLong: true, act: previewFirst },
    { name: "job-timeline", path: first, isLong: true, isWide: true, act: unfoldTimeline },
    { name: "job-raw", path: first, isLong: true, act: showRaw },
    { name: "job-running", path: runningPath, isLong: true },
    { name: "job-follow-up", path: jobPaths[2] ?? "", isLong: true, act: followUp },
    { name: "job-asking", path: runningPath, isLong: true, act: (page) => beInState(page, asking) },
    { name: "job-plan", path: jobPaths[2] ?? "", isLong: true, act: (page) => beInState(page, planned) },
    { name: "job-to-publish", path: first, isLong: true, act: (page) => beInState(page, previewed) },
    { name: "job-lost", path: runningPath, isLong: true, act: loseConnection },
    { name: "job-long", path: longPath, isLong: true },
    { name: "job-long-split", path: longPath, isLong: true, isWide: true, act: click("Side by side") },
    { name: "job-long-timeline", path: longPath, isLong: true, isWide: true, act: unfoldTimeline },
    { name: "batch", path: `/app/batch?ids=${jobPaths.map((path) => path.split("/").at(-1)).join(",")}` },
    { name: "saved-prompts", path: "/app", isLong: true, act: click("Saved prompts") },
    { name: "notifications", path: "/app", isLong: true, act: (page) => notice(page, first) },
    { name: "job-missing", path: "/app/jobs/job_nowhere" },
    { name: "palette", path: "/app", isLong: true, act: (page) => openPalette(page, "fix") },
    { name: "palette-part", path: "/app", isLong: true, act: (page) => openPalette(page, "auto") },
    { name: "palette-none", path: "/app", isLong: true, act: (page) => openPalette(page, "zzzz") },
    { name: "help", path: "/app", isLong: true, act: (page) => page.keyboard.press("?") },
  ];
}

const asking = {
  phase: "queued",
  waiting: {
    for: "answer",
    since: "2026-03-02T09:15:02.000Z",
    nextTryAt: "2026-03-03T09:15:02.000Z",
    message: "The v1 endpoints are marked as deprecated, but no file says when they go. Which release drops them?",
    options: ["2.4", "3.0", "They stay for now: only mark them as deprecated on every page"],
  },
};
const planned = {
  plan: true,
  pullRequest: null,
  summary:
    "- `guides/webhooks.mdx`: add a section on retries, with the delays.\n- `quickstart.mdx`: link to it.\n- `docs.json`: no change.",
};
const previewed = { preview: true, pullRequest: null };

/** Shows the page of a job in a state that the seeded ones are not in. */
async function beInState(page: Page, state: object): Promise<void> {
  await page.route(/\/api\/jobs\/job_\w+$/, async (route) => {
    const answer = await route.fetch();
    const job = await answer.json();
    const messages = "plan" in state ? [] : job.messages;
    await route.fulfill({ response: answer, json: { ...job, messages, run: { ...job.run, ...state } } });
  });
  await page.reload();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
}

function projectShots({ projectId, otherId }: Seeded): readonly Shot[] {
  const project = `/app/projects/${projectId}`;
  const other = `/app/projects/${otherId}`;
  return [
    { name: "projects", path: "/app/projects" },
    { name: "project-new", path: "/app/projects/new" },
    { name: "project-new-github", path: "/app/projects/new", act: chooseGitHub },
    { name: "project-new-app", path: "/app/projects/new", isLong: true, act: createApp },
    { name: "project-new-picker", path: "/app/projects/new", isLong: true, act: pickRepository },
    { name: "project-new-refused", path: "/app/projects/new", act: addRefused },
    { name: "project", path: project },
    { name: "project-model", path: project, isLong: true, act: chooseModel },
    { name: "project-policy", path: `${project}?tab=policy` },
    { name: "project-issues", path: `${project}?tab=policy`, act: beOnGitHub },
    { name: "project-guidance", path: `${project}?tab=guidance` },
    { name: "context-add", path: `${project}?tab=guidance`, isLong: true, act: click("Add repository") },
    { name: "project-connection", path: `${project}?tab=connection`, act: testConnection },
    { name: "project-automations", path: `${project}?tab=automations`, act: click("Recent runs") },
    { name: "automation-add", path: `${project}?tab=automations`, isLong: true, act: writeAutomation },
    { name: "automation-remove", path: `${project}?tab=automations`, isLong: true, act: click("Remove") },
    { name: "project-remove", path: project, isLong: true, act: click("Remove project") },
    { name: "project-viewer", path: project, act: beViewer },
    { name: "project-long", path: other },
    { name: "project-empty-automations", path: `${other}?tab=automations` },
    { name: "project-empty-webhooks", path: `${other}?tab=webhooks` },
    { name: "project-webhooks", path: `${project}?tab=webhooks`, act: click("Deliveries") },
    { name: "webhook-add", path: `${project}?tab=webhooks`, isLong: true, act: click("Add webhook") },
    { name: "health", path: `/app/health?project=${projectId}` },
    { name: "health-page", path: `/app/health/page?project=${projectId}&path=quickstart.mdx` },
    {
      name: "health-edit",
      path: `/app/health/page?project=${projectId}&path=quickstart.mdx&line=5&edit=true`,
      act: editPage,
    },
    { name: "health-empty", path: `/app/health?project=${otherId}` },
  ];
}

function otherShots({ projectId, otherId }: Seeded): readonly Shot[] {
  return [
    { name: "pulls", path: "/app/pulls" },
    { name: "pulls-none", path: `/app/pulls?project=${otherId}` },
    { name: "pull", path: `/app/pulls/${projectId}/1`, isLong: true },
    { name: "review-approve", path: `/app/pulls/${projectId}/1`, isLong: true, act: click("Approve") },
    { name: "inbox", path: "/app/inbox" },
    { name: "search", path: "/app/search?text=token" },
    { name: "search-none", path: "/app/search?text=zzzz" },
    { name: "pull-merged", path: `/app/pulls/${projectId}/3` },
    { name: "review-comment", path: `/app/pulls/${projectId}/1`, isLong: true, act: commentOnLine },
    { name: "review-edit", path: `/app/pulls/${projectId}/1`, isLong: true, act: editFirst },
    { name: "review-preview", path: `/app/pulls/${projectId}/1`, isLong: true, act: previewBoth },
    { name: "gate", path: "/app/gates/gat_1", act: (page) => showGate(page, projectId) },
    { name: "keys", path: "/app/keys" },
    { name: "keys-create", path: "/app/keys", isLong: true, act: click("Create key") },
    { name: "keys-created", path: "/app/keys", isLong: true, act: createKey },
    { name: "keys-rotate", path: "/app/keys", isLong: true, act: click("Rotate") },
    { name: "keys-revoke", path: "/app/keys", isLong: true, act: click("Revoke") },
    { name: "usage", path: "/app/usage" },
    { name: "usage-table", path: "/app/usage", act: (page) => page.getByText("As a table").last().click() },
    { name: "settings", path: "/app/settings" },
    { name: "settings-members", path: "/app/settings?tab=members" },
    { name: "settings-directory", path: "/app/settings?tab=directory", isLong: true },
    { name: "settings-directory-used", path: "/app/settings?tab=directory", isLong: true, act: useDirectory },
    { name: "settings-installation", path: "/app/settings?tab=installation" },
    { name: "invite", path: "/app/settings?tab=members", isLong: true, act: click("Invite member") },
    { name: "invited", path: "/app/settings?tab=members", isLong: true, act: invite },
    { name: "settings-status", path: "/app/settings?tab=status" },
    { name: "settings-audit", path: "/app/settings?tab=audit" },
    { name: "settings-audit-none", path: "/app/settings?tab=audit&actor=nobody" },
    { name: "reference", path: "/reference/", isLong: true },
    { name: "docs", path: "/app/docs/index" },
    { name: "docs-forges", path: "/app/docs/forges" },
    { name: "start", path: "/app/start" },
    { name: "missing", path: "/app/nowhere" },
  ];
}

async function chooseModel(page: Page): Promise<void> {
  await page.getByLabel("Vendor").focus();
  await page.keyboard.type("Anth");
  await page.getByText(/^about \$/).waitFor();
}

async function editPage(page: Page): Promise<void> {
  await page.keyboard.insertText("[Nowhere](./no-such-page)");
  await page.getByText(/ new/).first().waitFor();
  await page.evaluate("localStorage.clear()");
}

async function write(page: Page, prompt: string): Promise<void> {
  const reading = page.waitForResponse("**/reading");
  await type(page.getByLabel("What should change in the docs?"), prompt);
  await reading;
  await page.evaluate("localStorage.clear()");
}

/** Leaves a comment with a suggestion, and another form open. */
async function commentOnLine(page: Page): Promise<void> {
  const numbers = page.getByRole("button", { name: /^Comment on line/ });
  await numbers.nth(1).click();
  await page.getByLabel("Suggest a change").check();
  await page.getByLabel("Suggested text").fill("Say it in fewer words.");
  await page.getByLabel("Comment on these lines").fill("Long for a heading. **Shorter**, please.");
  await page.getByRole("button", { name: "Add comment" }).click();
  await page.getByRole("button", { name: "Apply suggestion" }).first().waitFor();
  await numbers.nth(3).click();
  await page.getByLabel("Comment on these lines").fill("And this?");
  await page.evaluate("localStorage.clear()");
}

async function editFirst(page: Page): Promise<void> {
  await page
    .getByRole("button", { name: /^Edit / })
    .first()
    .click();
  await page.getByRole("textbox", { name: /^Text of / }).waitFor();
}

async function previewBoth(page: Page): Promise<void> {
  for (const name of ["Preview", "Before and after"]) await page.getByRole("button", { name }).first().click();
}

async function startRefused(page: Page): Promise<void> {
  await page.route("**/jobs", (route) =>
    route.fulfill({
      status: 429,
      headers: { "retry-after": "600" },
      json: { error: "The project's quota is used up." },
    }),
  );
  await page.getByLabel("What should change in the docs?").fill("Fix broken links.");
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("alert").waitFor();
  await page.evaluate("localStorage.clear()");
}

async function endSession(page: Page): Promise<void> {
  await page.route("**/jobs", (route) => route.fulfill({ status: 401, json: { error: "Log in to go on." } }));
  await page.getByLabel("What should change in the docs?").fill("Fix broken links.");
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("button", { name: "Log in again" }).click();
  await page.evaluate("localStorage.clear()");
}

async function loadSlowly(page: Page): Promise<void> {
  await page.route("**/api/projects", () => {});
  await page.reload();
  await page.getByText("Loading").waitFor();
}

async function loadWithFault(page: Page): Promise<void> {
  await page.route("**/api/projects", (route) => route.fulfill({ status: 500 }));
  await page.reload();
  await page.getByRole("alert").waitFor({ timeout: 30_000 });
}

async function beViewer(page: Page): Promise<void> {
  await page.route("**/session", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), role: "viewer" } });
  });
  await page.reload();
}

/** With the settings that only a forge elsewhere has. */
async function beOnGitHub(page: Page): Promise<void> {
  await page.route("**/api/projects", async (route) => {
    const answer = await route.fetch();
    const { projects, ...rest } = await answer.json();
    const changed = projects.map((project: object) => ({ ...project, forge: "github" }));
    await route.fulfill({ response: answer, json: { ...rest, projects: changed } });
  });
  await page.reload();
  await page.getByText("Start jobs from issues").waitFor();
}

async function previewFirst(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Preview" }).first().click();
  await page.locator("#file-1").getByRole("heading").first().waitFor();
  await page.evaluate("document.querySelector('#file-1').scrollIntoView()");
}

async function unfoldTimeline(page: Page): Promise<void> {
  const timeline = page.locator("summary", { hasText: "Timeline" });
  await timeline.click();
  await timeline.evaluate("(summary) => summary.scrollIntoView()");
}

async function showRaw(page: Page): Promise<void> {
  await unfoldTimeline(page);
  await page.getByRole("button", { name: "Events as data" }).click();
}

async function loseConnection(page: Page): Promise<void> {
  await page.route("**/events?*", (route) => route.abort());
  await page.reload();
  await page.getByText("Connection lost").waitFor();
}

async function openPalette(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Go to a page").fill(text);
  await page.waitForResponse("**/jobs?*");
}

/** With real keys: a page may move in answer to them. */
async function type(field: Locator, text: string): Promise<void> {
  await field.fill(text.slice(0, -1));
  await field.pressSequentially(text.slice(-1));
}

/** To the end of a round that changes something. */
async function followUp(page: Page): Promise<void> {
  await type(page.getByLabel(/^Ask for changes/), `Set description of index to "Version ${Date.now()}".`);
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Cancel", exact: true }).waitFor();
  await page.getByRole("button", { name: "Run again" }).waitFor({ timeout: 60_000 });
}

async function notice(page: Page, jobPath: string): Promise<void> {
  await page.evaluate(`localStorage.setItem("emend.own-jobs", "${jobPath.split("/").at(-1)}")`);
  await page.reload();
  await page.getByRole("button", { name: "Dismiss" }).waitFor();
}

async function chooseGitHub(page: Page): Promise<void> {
  await page.getByLabel("Repository host").focus();
  await page.keyboard.type("GitHub");
}

async function createApp(page: Page): Promise<void> {
  await chooseGitHub(page);
  await page.getByRole("button", { name: "Create GitHub App" }).click();
}

async function pickRepository(page: Page): Promise<void> {
  const names = ["docs", "handbook", "courier", "courier-server", "website"].map((name) => `courier/${name}`);
  await page.route("**/repositories", (route) =>
    route.fulfill({
      json: {
        repositories: names.map((path) => ({ path, url: `https://github.com/${path}`, defaultBranch: "main" })),
        next: null,
        install: null,
      },
    }),
  );
  await chooseGitHub(page);
  await page.getByLabel("Token", { exact: true }).fill("github_pat_11AAAAAAA");
  await page.getByRole("button", { name: "Choose from list" }).click();
  await page.getByText("courier/handbook").waitFor();
}

async function showGate(page: Page, projectId: string): Promise<void> {
  const finding = { check: "stale-reference", severity: "error", path: "quickstart.mdx" } as const;
  const gate: DashboardGate = {
    id: "gat_1",
    projectId,
    repository: "courier-server",
    number: 41,
    title: "Rename the flag",
    url: "https://github.com/courier/courier-server/pull/41",
    head: "47890c3d5b1e2f60718293a4b5c6d7e8f9012345",
    state: "failed",
    words: "2 places in the docs name what this change removes or renames",
    name: "emend/docs",
    judgedAt: new Date().toISOString(),
    updatedAt: new Date().toISOString(),
    findings: [
      {
        ...finding,
        line: 9,
        message: "`--dry-run` is renamed to `--preview` in src/cli.ts",
        renamed: { from: "--dry-run", to: "--preview" },
        seen: {
          text: "Run `courier sync --dry-run` first.",
          source: "src/cli.ts:7",
          was: 'option("--dry-run", "Change nothing");',
          now: 'option("--preview", "Change nothing");',
        },
        sourceUrl: "https://github.com/courier/courier-server/blob/47890c3/src/cli.ts#L7",
        canFix: true,
        verdict: { kind: "wrong docs", reason: "The command on this page takes the flag that the change renames." },
      },
      {
        ...finding,
        check: "missing-text",
        severity: "warning",
        line: 22,
        message: "`--color` is new, and this page lists others of its kind (`src/cli.ts:9`)",
        claim: { text: "| `--quiet` | Print nothing |", source: "src/cli.ts:9", was: "", now: 'option("--color");' },
        canFix: true,
        sourceUrl: "https://github.com/courier/courier-server/blob/47890c3/src/cli.ts#L9",
      },
      { ...finding, line: 14, message: "`COURIER_REGION` is no longer in the code. Correct the page.", canFix: false },
    ],
    asked: { requests: 4, costUsd: 0.006, requestsMax: 30, costUsdMax: 0.05 },
    refusal: null,
    jobId: null,
    fix: { prompt: "Use the new name `--preview` in quickstart.mdx." },
  };
  await page.route("**/api/gates/gat_1", (route) => route.fulfill({ json: gate }));
  await page.reload();
  await page.getByText("COURIER_REGION").waitFor();
}

async function addRefused(page: Page): Promise<void> {
  await page.route("**/api/projects", (route) =>
    route.request().method() === "POST"
      ? route.fulfill({
          status: 400,
          json: { error: "GitHub does not know this repository, or the token may not see it." },
        })
      : route.fallback(),
  );
  await chooseGitHub(page);
  await page.getByLabel("Name").fill("Courier docs");
  await page.getByLabel("Address").fill("https://github.com/courier/docs");
  await page.getByLabel("Token", { exact: true }).fill("github_pat_11AAAAAAA");
  await page.getByRole("button", { name: "Add project" }).click();
  await page.getByRole("alert").waitFor();
}

async function testConnection(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText("can be listed by branch").waitFor();
}

async function writeAutomation(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Add automation" }).click();
  await page.getByLabel("When").selectOption("cron");
}

async function createKey(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Create key", exact: true }).click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Release script");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByText("Your new key").waitFor();
}

async function useDirectory(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Create token" }).first().click();
  await page.getByRole("dialog").getByLabel("Name").fill("Okta");
  await page.getByRole("dialog").getByRole("button", { name: "Create token" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByLabel("Another group").fill("Docs writers");
  await page.getByRole("button", { name: "Add group" }).click();
  await page.getByLabel("Group Docs writers").waitFor();
}

async function invite(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Invite member" }).click();
  await page.getByLabel("Email address").fill("lin@example.com");
  await page.getByRole("button", { name: "Create link" }).click();
  await page.getByText("Send this link").waitFor();
}
