import type { Tree } from "@emend/tree";

/** A small repository in memory. */
export function treeOf(files: Readonly<Record<string, string>>): Tree {
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
