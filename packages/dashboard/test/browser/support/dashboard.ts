import type { Server } from "@emend/server";
import { freePort } from "@emend/testkit/listen.ts";
import { isQuick, quickRows } from "@emend/testkit/tier.ts";
import { createInstallation, type Installation } from "@emend/testkit/whole-server.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, it } from "vitest";
import { sharedChromium } from "./launch-chromium.ts";
import { bothLooks, desktop, type Look } from "./looks.ts";
import { sampleDocs } from "./sample-docs.ts";

/** A whole installation, and browsers that visit it. */
export interface Dashboard {
  readonly url: string;
  readonly server: Server;
  readonly installation: Installation;
  /** A new visitor without a session. */
  visit(look?: Look): Promise<Page>;
  /** A new visitor who is logged in, on this path. */
  logIn(look?: Look, path?: string): Promise<Page>;
  /** This visitor stays until the file's last test, instead of leaving after each. */
  keep(page: Page): void;
  /** As before the first user and the first project: another look may have made some. */
  reset(): Promise<void>;
  /** A project of the sample docs. */
  addSample(name: string): Promise<{ id: string }>;
  /** From now on, this console error is expected in this test. */
  expectComplaint(pattern: RegExp): void;
}

/**
 * Call it once at the top of a test file. It starts an installation for the file, and stops it at the end. After each test,
 * visitors leave unless kept. Browsers open it at `host`, if it needs a name. Then no page may have thrown, logged an error, or sent a request to another host.
 */
export function openDashboard(environment: Record<string, string> = {}, options: { host?: string } = {}): Dashboard {
  let browser: Browser;
  let installation: Installation;
  let server: Server;
  let contexts: BrowserContext[] = [];
  let kept: BrowserContext[] = [];
  let complaints: string[] = [];
  let expected: RegExp[] = [];

  beforeAll(async () => {
    const provided = inject("browser");
    if ("problem" in provided) throw new Error(provided.problem);
    const port = options.host === undefined ? 0 : await freePort();
    const publicUrl = { EMEND_PUBLIC_URL: `http://${options.host}:${port}` };
    installation = await createInstallation({ ...environment, ...(port !== 0 && publicUrl) });
    server = await installation.start({ port });
    browser = await sharedChromium(provided.found);
  });
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    const unexpected = complaints.filter((text) => !expected.some((pattern) => pattern.test(text)));
    contexts = [];
    complaints = [];
    expected = [];
    expect(unexpected).toEqual([]);
  });
  afterAll(async () => {
    await Promise.all(kept.map((context) => context.close()));
    kept = [];
    await installation?.remove();
  });

  async function visit({ colorScheme, viewport }: Look = desktop): Promise<Page> {
    const context = await browser.newContext({ colorScheme, viewport, reducedMotion: "reduce" });
    contexts.push(context);
    const page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      // The local forge's pages have no icon link, so browsers request /favicon.ico.
      if (message.type() !== "error" || message.location().url.endsWith("/favicon.ico")) return;
      complaints.push(`${message.text()} ${message.location().url}`);
    });
    page.on("request", (request) => {
      if (/^https?:/.test(request.url()) && !request.url().startsWith(server.url)) complaints.push(request.url());
    });
    return page;
  }

  return {
    get url() {
      return server.url;
    },
    get server() {
      return server;
    },
    get installation() {
      return installation;
    },
    visit,
    async logIn(look, path = "/app") {
      const page = await visit(look);
      await page.goto(await server.admin.createLoginLink(path));
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      return page;
    },
    keep(page) {
      kept.push(page.context());
      contexts = contexts.filter((context) => context !== page.context());
    },
    reset: () =>
      untilNoDeadlock(() => installation.database.pool.query("truncate users, projects, admin_keys cascade")),
    addSample: (name) => server.admin.addProject({ name, forge: "local", repo: sampleDocs }),
    expectComplaint: (pattern) => expected.push(pattern),
  };
}

/** The server's own transactions may hold these tables the other way round, and Postgres ends one of the two. */
async function untilNoDeadlock(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      return void (await work());
    } catch (error) {
      if ((error as { code?: string }).code !== "40P01") throw error;
    }
  }
}

/** A test at each width and in each theme. `npm test` runs it in one look, and leaves it out where no browser starts. */
export function journey(title: string, run: (look: Look) => Promise<void>): void {
  const isMissing = isQuick && "problem" in inject("browser");
  it.skipIf(isMissing).each(quickRows(bothLooks, 1))(`${title}: $name${isMissing ? " (needs Chromium)" : ""}`, run);
}
