import { createHash } from "node:crypto";
import { isFault } from "@emend/base/fault.ts";
import { type PlainRequest, plainRequests, plainSite } from "@emend/testkit/rules/plain-requests.ts";
import { testLimits } from "@emend/testkit/scripted-model.ts";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay, type Overlay } from "@emend/tree";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runAgent } from "../loop.ts";
import { createRulesModel } from "./rules-model.ts";

let trees: TestTrees;
let base: CommitTree;

beforeAll(async () => {
  trees = await openTestTrees();
  const faq = `${plainSite["docs/faq.md"]}\nSee [install](isntall.md) and [webhooks](guides/webhooks.md#verify-signtures).\n`;
  base = await trees.open({ ...plainSite, "docs/faq.md": faq });
});
afterAll(() => trees.close());

/** A random half, whose requests are counted and not looked at, so that the rules are not made for them. */
function isFrozen({ prompt }: PlainRequest): boolean {
  return (createHash("sha256").update(`plain-1 ${prompt}`).digest()[0] ?? 0) % 2 === 0;
}

function listOf(texts: string | readonly string[]): readonly string[] {
  return typeof texts === "string" ? [texts] : texts;
}

async function isDone({ has = {}, gone = [], lacks = {} }: PlainRequest, overlay: Overlay): Promise<boolean> {
  const textOf = async (path: string): Promise<string | null> => (await overlay.read(path))?.toString() ?? null;
  for (const [path, texts] of Object.entries(has)) {
    const text = await textOf(path);
    if (text === null || !listOf(texts).every((one) => text.includes(one))) return false;
  }
  for (const [path, texts] of Object.entries(lacks)) {
    const text = (await textOf(path)) ?? "";
    if (listOf(texts).some((one) => text.includes(one))) return false;
  }
  for (const path of gone) if ((await textOf(path)) !== null) return false;
  return true;
}

/**
 * As measured. Raise what is right; what is wrong must not grow.
 */
const counted = { open: { right: 19, refused: 5, wrong: 0 }, frozen: { right: 18, refused: 16, wrong: 2 } };

type Verdict = "right" | "refused" | "wrong";

async function judge(request: PlainRequest): Promise<Verdict> {
  const overlay = await createOverlay(base);
  try {
    await runAgent(
      { model: createRulesModel(), limits: testLimits, saveStep: async () => {} },
      { jobId: "job_1", prompt: request.prompt, docsDir: "", base, overlay, steps: [] },
      new AbortController().signal,
    );
  } catch (error) {
    if (!isFault(error, "instruction_not_understood")) throw error;
    return "refused";
  }
  if (overlay.entries().length === 0) return "refused";
  return (await isDone(request, overlay)) ? "right" : "wrong";
}

it("carries out what people ask for, or refuses it", async () => {
  const counts = { open: { right: 0, refused: 0, wrong: 0 }, frozen: { right: 0, refused: 0, wrong: 0 } };
  for (const request of plainRequests) counts[isFrozen(request) ? "frozen" : "open"][await judge(request)]++;
  expect(counts).toEqual(counted);
});
