import { readFileSync } from "node:fs";
import { judgeContent } from "../src/judge-content.ts";
import { createPageReader } from "../src/page-reader.ts";
import { refusedBy } from "../src/policy.ts";
import type { Policy } from "../src/review.ts";
import { treeOf } from "./tree-of.ts";

export interface Edit {
  /** Where it was recorded. */
  set: string;
  path: string;
  text: string;
  /** The site that it changes. */
  files: Readonly<Record<string, string>>;
}

/** Edits that had an effect in a real builder or browser, and harmless ones. */
export function recordedEdits(): Record<"hostile" | "harmless", readonly Edit[]> {
  const { sites, ...edits } = JSON.parse(readFileSync(new URL("./fixtures/edits.json", import.meta.url), "utf8"));
  const placed = (list: (Edit & { site: string })[]) => list.map((one) => ({ ...one, files: sites[one.site] ?? {} }));
  return { hostile: placed(edits.hostile), harmless: placed(edits.harmless) };
}

const reader = createPageReader();

/** What the rule says of one file that an edit makes of a small site, and of the files that it deletes. */
export async function judgeEdit(
  { path, text, files }: Pick<Edit, "path" | "files"> & { text: string | Buffer },
  { gone = [], ...more }: { gone?: readonly string[] } & Partial<Policy> = {},
) {
  const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1e9, ...more };
  const content = Buffer.from(text);
  const deleted = gone.map((one) => ({ path: one, content: null, text: null }));
  const changed = [{ path, content, text: content.toString() }, ...deleted];
  const judging = { base: treeOf(files), reader, policy, asked: [] };
  const verdict = await judgeContent(judging, changed, [], AbortSignal.timeout(20_000));
  const byPath = refusedBy(policy, path);
  const isForbidden = byPath !== null || verdict.violations.length > 0;
  const answer = isForbidden ? "forbidden" : verdict.constructs.length > 0 ? "asked" : "published";
  return { ...verdict, answer } as const;
}
