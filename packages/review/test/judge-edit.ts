import type { Tree } from "@emend/tree";
import { judgeContent } from "../src/judge-content.ts";
import { createPageReader } from "../src/page-reader.ts";

const reader = createPageReader();

function treeOf(files: Readonly<Record<string, string>>): Tree {
  const paths = Object.keys(files);
  return {
    commit: "0".repeat(40),
    list: async () => paths.map((path) => ({ path, mode: "100644", oid: "", size: 0 })),
    read: async (path) => (files[path] === undefined ? null : Buffer.from(files[path])),
    search: async ({ pattern, accepts = () => true }) => ({
      matches: paths
        .filter((path) => accepts(path) && files[path]?.toLowerCase().includes(pattern.toLowerCase()))
        .map((path) => ({ path, line: 1, column: 0, text: files[path] ?? "" })),
      truncated: false,
    }),
  };
}

/** What the rule says of one file that an edit makes of a small site, and of the files that it deletes. */
export function judgeEdit(
  site: Readonly<Record<string, string>>,
  path: string,
  text: string | Buffer,
  gone: readonly string[] = [],
) {
  const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1e9 };
  const content = Buffer.from(text);
  const deleted = gone.map((one) => ({ path: one, content: null, text: null }));
  const files = [{ path, content, text: content.toString() }, ...deleted];
  return judgeContent({ base: treeOf(site), reader, policy, asked: [] }, files, [], AbortSignal.timeout(20_000));
}
