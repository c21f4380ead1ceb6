import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isFault } from "@emend/base/fault.ts";
import { reviewChange } from "@emend/review";
import { checkSite, openSite } from "@emend/site";
import { testLimits } from "@emend/testkit/scripted-model.ts";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay, type Overlay, type OverlayEntry, siteTreeOf } from "@emend/tree";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentOutcome, Step } from "../agent.ts";
import { runAgent } from "../loop.ts";
import { exampleOn } from "./hints.ts";
import { createRulesModel } from "./rules-model.ts";

let trees: TestTrees;
let base: CommitTree;
let sample: CommitTree;

const demoPrompt =
  'Move guides/auth to security/authentication, replace "API token" with "access key", and fix broken links.';

beforeAll(async () => {
  trees = await openTestTrees();
  const navigation = {
    groups: [
      { group: "Start", pages: ["index"] },
      { group: "Guides", pages: ["guides/auth", "guides/send"] },
    ],
  };
  base = await trees.open({
    "docs.json": `${JSON.stringify({ name: "Docs", navigation }, null, 2)}\n`,
    "index.mdx": "---\ntitle: Home\n---\n\nSee [auth](/guides/auth#create-a-token) and [lost](/guides/sned).\n",
    "guides/auth.mdx":
      '---\ntitle: Auth\n---\n\n## Create a token\n\nAn API token opens doors. Some API tokens expire.\n\n```sh\necho "API token"\n```\n',
    "guides/send.mdx": "---\ntitle: Send\n---\n\nUse the API token from [auth](./auth).\n",
    "AGENTS.md": "API token\n",
    "api.mdx": "---\ntitle: API\n---\n\nHello.\n",
    "api/errors.mdx": "---\ntitle: Errors\n---\n\nHello.\n",
  });
  sample = await trees.open(filesBelow(fileURLToPath(new URL("../../../cli/sample", import.meta.url))));
});
afterAll(() => trees.close());

interface Run {
  outcome: AgentOutcome;
  overlay: Overlay;
  steps: Step[];
  /** The stored state after each number of steps, starting at zero. */
  storedAfter: OverlayEntry[][];
}

async function run(
  prompt: string,
  options: { tree?: CommitTree; steps?: readonly Step[]; edits?: readonly OverlayEntry[] } = {},
): Promise<Run> {
  const tree = options.tree ?? base;
  const overlay = await createOverlay(tree, options.edits);
  const steps: Step[] = [];
  const stored = new Map<string, OverlayEntry>();
  const storedAfter: OverlayEntry[][] = [[]];
  const outcome = await runAgent(
    {
      model: createRulesModel(),
      limits: testLimits,
      async saveStep(step, edits) {
        steps.push(JSON.parse(JSON.stringify(step)));
        for (const { path, mode, content } of edits) stored.set(path, { path, mode, content });
        storedAfter.push([...stored.values()]);
      },
    },
    { jobId: "job_1", prompt, docsDir: "", base: tree, overlay, steps: options.steps ?? [] },
    new AbortController().signal,
  );
  return { outcome, overlay, steps, storedAfter };
}

async function text(overlay: Overlay, path: string): Promise<string | undefined> {
  return (await overlay.read(path))?.toString();
}

async function refusal(prompt: string): Promise<string> {
  try {
    await run(prompt);
  } catch (error) {
    if (isFault(error, "instruction_not_understood")) return error.publicMessage;
    throw error;
  }
  throw new Error("it was carried out");
}

describe("on the sample docs", () => {
  it("carries out the demo's whole prompt, breaks nothing, and reports counts", async () => {
    const { outcome, overlay } = await run(demoPrompt, { tree: sample });
    expect(outcome).toMatchObject({
      kind: "finished",
      title: 'Move guides/auth to security/authentication, replace "API token" with "access key" and fix broken links',
    });
    expect(outcome.summary).toMatch(/deterministically: no AI was involved/);
    expect(outcome.summary).toMatch(
      /- `move guides\/auth to security\/authentication`: 1 page, \d+ links, 1 navigation entry, \d+ redirects?, in \d+ files/,
    );
    expect(outcome.summary).toMatch(/- `replace "API token" with "access key"`: \d+ pages, \d+ replacements/);
    expect(outcome.summary).toMatch(/- `fix broken links`: \d+ links/);
    expect(outcome.summary).toMatch(/Left alone:/);
    expect(await overlay.read("guides/auth.mdx")).toBeNull();
    expect(await overlay.read("security/authentication.mdx")).not.toBeNull();
    const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1_000_000 };
    const verdict = await reviewChange({ base: sample, overlay, policy, ...outcome }, new AbortController().signal);
    expect(verdict).toMatchObject({ kind: "passed", introduced: [] });
    const before = await checkSite(await openSite(siteTreeOf(sample)));
    const after = await checkSite(await openSite(siteTreeOf(overlay)));
    expect(after.length).toBeLessThan(before.length);
  });

  it("has nothing to do the second time", async () => {
    const first = await run(demoPrompt, { tree: sample });
    const again = await run(demoPrompt, { tree: sample, edits: first.overlay.entries() });
    expect(again.outcome.summary).toMatch(/^None of the 3 broken links has a certain fix\./);
    expect(again.overlay.entries()).toEqual(first.overlay.entries());
  });

  it("continues an interrupted run, with the same result", async () => {
    const whole = await run(demoPrompt, { tree: sample });
    for (const [kept, edits] of whole.storedAfter.entries()) {
      const resumed = await run(demoPrompt, { tree: sample, steps: whole.steps.slice(0, kept), edits });
      expect(resumed.outcome).toEqual(whole.outcome);
      expect(resumed.overlay.entries()).toEqual(whole.overlay.entries());
      expect(resumed.steps).toHaveLength(whole.steps.length - kept);
    }
  });
});

describe("each instruction", () => {
  it("replaces a term in prose and names, keeps code, and lists what it left", async () => {
    const { outcome, overlay } = await run('replace "API token" with "access key"');
    expect(await text(overlay, "guides/auth.mdx")).toContain(
      'An access key opens doors. Some access keys expire.\n\n```sh\necho "API token"',
    );
    expect(await text(overlay, "AGENTS.md")).toBe("API token\n");
    expect(outcome.summary).toContain('- `guides/auth.mdx:10`: "API token" stays in code');
    expect(outcome.summary).toContain('- `AGENTS.md:1`: "API token" stays outside of pages');
  });

  it("stays below a page, and goes into code when asked", async () => {
    const { overlay } = await run('replace "API token" with "access key" in guides/auth, also in code');
    expect(overlay.entries().map((entry) => entry.path)).toEqual(["guides/auth.mdx"]);
    expect(await text(overlay, "guides/auth.mdx")).toContain('echo "access key"');
  });

  it("renames a term that no page is called", async () => {
    const { overlay } = await run('rename "API token" to "access key"');
    expect(await text(overlay, "guides/send.mdx")).toContain("Use the access key");
  });

  it("moves a page with its links, entry and redirect", async () => {
    const { overlay } = await run("move guides/auth to security/authentication");
    expect(await text(overlay, "index.mdx")).toContain("(/security/authentication#create-a-token)");
    const config = JSON.parse((await text(overlay, "docs.json")) ?? "");
    expect(config.navigation.groups[1].pages).toEqual(["security/authentication", "guides/send"]);
    expect(config.redirects).toEqual([{ source: "/guides/auth", destination: "/security/authentication" }]);
  });

  it("moves a folder", async () => {
    const { overlay } = await run("move the folder guides to handbook");
    expect(await text(overlay, "handbook/auth.mdx")).toBeDefined();
    expect(await text(overlay, "index.mdx")).toContain("(/handbook/auth#create-a-token)");
  });

  it("fixes a broken link where one page alone can be meant", async () => {
    const { overlay } = await run("fix broken links");
    expect(await text(overlay, "index.mdx")).toContain("[lost](/guides/send)");
  });

  it("adds a page with its text, description and place in the navigation", async () => {
    const { overlay } = await run(
      'Add a page guides/webhooks titled "Webhooks" with the description "What they are" from this text:\n\n```md\nHello.\n```\n\nand list it in the navigation under "Start".',
    );
    expect(await text(overlay, "guides/webhooks.mdx")).toBe(
      "---\ntitle: Webhooks\ndescription: What they are\n---\n\nHello.\n",
    );
    const config = JSON.parse((await text(overlay, "docs.json")) ?? "");
    expect(config.navigation.groups[0].pages).toEqual(["index", "guides/webhooks"]);
  });

  it("orders the navigation", async () => {
    const { overlay } = await run("order the navigation group Guides as guides/send, guides/auth");
    expect(JSON.parse((await text(overlay, "docs.json")) ?? "").navigation.groups[1].pages).toEqual([
      "guides/send",
      "guides/auth",
    ]);
  });

  it("sets front matter", async () => {
    const { overlay } = await run(
      'set description of guides/auth to "Keys: how to" and set hidden of guides/auth to true',
    );
    expect(await text(overlay, "guides/auth.mdx")).toMatch(
      /^---\ntitle: Auth\ndescription: "Keys: how to"\nhidden: true\n---\n/,
    );
  });

  it("renames a heading with the links to it", async () => {
    const { overlay } = await run('rename the heading "Create a token" in guides/auth to "Make a key"');
    expect(await text(overlay, "guides/auth.mdx")).toContain("## Make a key");
    expect(await text(overlay, "index.mdx")).toContain("(/guides/auth#make-a-key)");
  });

  it("adds a redirect", async () => {
    const { overlay } = await run("redirect /old to guides/auth");
    expect(JSON.parse((await text(overlay, "docs.json")) ?? "").redirects).toEqual([
      { source: "/old", destination: "/guides/auth" },
    ]);
  });

  it.each([
    'replace "no such term" with "x"',
    'set title of index to "Home"',
    "add guides/auth to the navigation under Guides",
  ])("is unchanged when it is satisfied already: %s", async (prompt) => {
    const { outcome, overlay } = await run(prompt);
    expect(outcome).toMatchObject({ kind: "unchanged", summary: expect.stringContaining("nothing to do") });
    expect(overlay.entries()).toEqual([]);
  });
});

const siteNames = {
  pages: [{ path: "guides/auth.md", route: "/guides/auth", title: "Auth" }],
  folders: [],
  groups: [],
  headings: [],
};

describe("all or nothing", () => {
  it("fails before anything is written when a clause is not understood, and says what would help", async () => {
    const words = await refusal("fix broken links and rewrite the introduction");
    expect(words).toContain("Nothing was changed");
    expect(words).toContain("«rewrite the introduction»");
    expect(words).toContain("EMEND_MODEL");
  });

  it("names in its hints only what the site has", async () => {
    expect(exampleOn('rename the heading "{heading:Setup}" in {page:guides/quickstart}', "", siteNames)).toBe(
      'rename the heading "…" in guides/auth',
    );
    const words = await refusal("rename the heading Nowhere of the page auth to Elsewhere");
    expect(words).not.toMatch(/quickstart|webhooks/);
  });

  it("takes everything back when a tool refuses half way, and stores that", async () => {
    const overlay = await createOverlay(base);
    const stored = new Map<string, OverlayEntry>();
    const prompt =
      'Replace "API token" with "access key", move guides/auth to keys, and set title of guides/nowhere to "X".';
    const running = runAgent(
      {
        model: createRulesModel(),
        limits: testLimits,
        saveStep: async (_step, edits) => {
          for (const edit of edits) stored.set(edit.path, edit);
        },
      },
      { jobId: "job_1", prompt, docsDir: "", base, overlay, steps: [] },
      new AbortController().signal,
    );
    await expect(running).rejects.toMatchObject({ code: "instruction_not_understood" });
    expect(stored.size).toBeGreaterThan(0);
    expect(overlay.entries()).toEqual([]);
    expect((await createOverlay(base, [...stored.values()])).entries()).toEqual([]);
  });

  it.each([
    ["move guides/aut to keys", /there is no page "guides\/aut".*guides\/auth/],
    ['rename "Auth" to "Keys"', /may be a term or a page.*guides\/auth/],
    ["move api to reference", /both a page \(api.mdx\) and a folder/],
    ["replace x with y in api", /both a page \(api.mdx\) and a folder/],
    ["move guides/auth to guides/send", /guides\/send.mdx already exists/],
    ['add a page guides/auth titled "X"', /already exists/],
    ['add a page new titled "X" and list it under "No Such"', /No Such/],
    ["replace x with y in nowhere/", /no pages below nowhere/],
    ['rename the heading "Lost" in guides/auth to "Found"', /has no heading/],
    ["add guides/auth to the navigation under Start", /listed already, in "Guides"/],
    ["redirect guides/auth to guides/send", /is a page/],
    ["move guides/auth to .github/auth", /not changed by jobs|not a valid path/],
  ])("%s", async (prompt, words) => {
    expect(await refusal(prompt)).toMatch(words);
  });
});

function filesBelow(dir: string): Record<string, Buffer> {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    names.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(dir.length + 1), readFileSync(path)];
    }),
  );
}
