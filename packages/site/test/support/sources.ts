import { createHash } from "node:crypto";
import { plainDialect } from "../../src/parse/dialect.ts";
import { compareReferences } from "../../src/references/compare-references.ts";
import { findCodeReferences } from "../../src/references/find-references.ts";
import { indexSource } from "../../src/references/source-index.ts";
import type { SiteTree } from "../../src/types.ts";

/** Sources, and which of their files were read. */
export function treeOf(files: Readonly<Record<string, string | Uint8Array>>): SiteTree & { reads: string[] } {
  const reads: string[] = [];
  const bytesOf = (path: string) => Buffer.from(files[path] ?? "");
  return {
    reads,
    list: async () =>
      Object.keys(files).map((path) => {
        const bytes = bytesOf(path);
        return { path, hash: createHash("sha1").update(bytes).digest("hex"), size: bytes.length };
      }),
    async read(path) {
      reads.push(path);
      return path in files ? bytesOf(path) : null;
    },
  };
}

/** What a change of the sources makes stale on a page: `name removed` or `name → other`. */
export async function compare(before: Record<string, string>, after: Record<string, string>, page: string) {
  const old = await indexSource(treeOf(before));
  const references = findCodeReferences("page.md", Buffer.from(page), plainDialect);
  const found = await compareReferences(references, old, await indexSource(treeOf(after), { previous: old }));
  return found.map(({ gone, cause }) => `${gone} ${cause.kind === "renamed" ? `→ ${cause.to}` : "removed"}`);
}
