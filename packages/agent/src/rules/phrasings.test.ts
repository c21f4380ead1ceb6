import { readFileSync } from "node:fs";
import { isFault } from "@emend/base/fault.ts";
import { docsSite } from "@emend/testkit/rules/docs-site.ts";
import { type After, knownForms } from "@emend/testkit/rules/forms.ts";
import { halfUnderstood, outside } from "@emend/testkit/rules/outside.ts";
import { smallSite } from "@emend/testkit/rules/small-site.ts";
import { testLimits } from "@emend/testkit/scripted-model.ts";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay, type Overlay } from "@emend/tree";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runAgent } from "../loop.ts";
import { parsePrompt } from "./parse-prompt.ts";
import { createRulesModel } from "./rules-model.ts";

let trees: TestTrees;
let base: CommitTree;
let docs: CommitTree;
const siteCache = new Map<string, string>();
beforeAll(async () => {
  trees = await openTestTrees();
  base = await trees.open(smallSite);
  docs = await trees.open(docsSite);
});
afterAll(() => trees.close());

async function carriedOut(prompt: string, tree = base): Promise<After> {
  const overlay = await createOverlay(tree);
  const outcome = await runAgent(
    {
      ...{ model: createRulesModel(), limits: testLimits, siteCache, saveStep: async () => {} },
      takeScreenshots: async () => [{ file: "images/a.png", kind: "renewed", bytes: Buffer.from("png") }],
    },
    { jobId: "job_1", prompt, docsDir: "", base: tree, overlay, steps: [] },
    new AbortController().signal,
  );
  expect(outcome.kind).toBe("finished");
  return afterOf(overlay);
}

/** The text of the refusal. Throws if the prompt was not refused. */
async function refusal(prompt: string): Promise<string> {
  const overlay = await createOverlay(base);
  const stored: unknown[] = [];
  const running = runAgent(
    { model: createRulesModel(), limits: testLimits, siteCache, saveStep: async (step) => void stored.push(step) },
    { jobId: "job_1", prompt, docsDir: "", base, overlay, steps: [] },
    new AbortController().signal,
  );
  const error = await running.then(
    (outcome) => new Error(`carried out: ${prompt} → ${JSON.stringify(outcome)}`),
    (thrown: unknown) => thrown,
  );
  if (!isFault(error, "instruction_not_understood")) throw error;
  expect(overlay.entries()).toEqual([]);
  return error.publicMessage;
}

async function afterOf(overlay: Overlay): Promise<After> {
  const texts = new Map<string, string>();
  for (const { path } of await overlay.list()) texts.set(path, (await overlay.read(path))?.toString() ?? "");
  return {
    text: (path) => texts.get(path) ?? null,
    config: JSON.parse(texts.get("docs.json") ?? "{}"),
    changed: overlay.entries().map(({ path }) => path),
  };
}

const phrasings = knownForms.reduce((sum, form) => sum + form.phrasings.length, 0);

describe(`${knownForms.length} forms in ${phrasings} phrasings`, () => {
  it("are at least 20, each in at least 5", () => {
    expect(knownForms.length).toBeGreaterThanOrEqual(20);
    expect(Math.min(...knownForms.map((form) => new Set(form.phrasings).size))).toBeGreaterThanOrEqual(5);
  });

  it.each(knownForms)("$name", async ({ phrasings: ways, holds }) => {
    for (const way of ways) expect([way, holds(await carriedOut(way))]).toEqual([way, true]);
  });
});

const page = readFileSync(new URL("../../../../docs/rules.md", import.meta.url), "utf8");
const examples = examplesOf(page);

/** In a fence of three backticks, each line is a prompt. In a longer one, blank lines separate prompts. */
function examplesOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^(`{3,})\n([\s\S]*?)^\1$/gm)].flatMap(([, fence = "", text = ""]) =>
    fence.length === 3 ? text.trim().split("\n") : text.trim().split(/\n\n(?=(?:create|Please) )/),
  );
}

describe(`the ${examples.length} examples of the docs' page`, () => {
  it("are there", () => {
    expect(examples.length).toBeGreaterThanOrEqual(35);
  });

  it.each(examples)("%s", async (example) => {
    expect((await carriedOut(example, docs)).changed).not.toEqual([]);
  });
});

const refused = Object.entries(outside);
const refusedCount = refused.reduce((sum, [, prompts]) => sum + prompts.length, halfUnderstood.length);

describe(`${refusedCount} prompts outside of them change nothing`, () => {
  it("are at least 200", () => {
    const all = [...refused.flatMap(([, prompts]) => prompts), ...halfUnderstood.map(([prompt]) => prompt)];
    expect(new Set(all).size).toBeGreaterThanOrEqual(200);
    expect(new Set(all).size).toBe(refusedCount);
  });

  it.each(refused)("%s", async (_, prompts) => {
    for (const prompt of prompts) {
      const words = await refusal(prompt);
      const [, clause = "", nearest = ""] = /«(.*)» \([\s\S]*They know: (.*)/.exec(words) ?? [];
      // Quoted as written, except for white space.
      expect(clause).not.toBe("");
      expect(prompt.replaceAll(/\s+/g, " ")).toContain(clause.replace(/…$/, ""));
      const examples = nearest.split(" · ");
      // What is suggested would be understood, and names pages of this site.
      for (const example of examples) {
        expect([example, parsePrompt(example).kind]).toEqual([example, "understood"]);
        expect(example).not.toMatch(/guides\/(?:old|new|quickstart|install|start)\b/);
      }
      expect(new Set(examples).size).toBe(examples.length);
    }
  });

  it.each(halfUnderstood)("%s", async (prompt, clause) => {
    expect(await refusal(prompt)).toContain(`«${clause}»`);
  });
});
