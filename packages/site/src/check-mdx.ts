import { type MdxParser, openMdxParser } from "./parse/mdx-parser.ts";
import type { Site } from "./site.ts";
import type { Finding } from "./types.ts";

/** Checks pages with the full MDX parser. It is slow, so use it only for changed pages or on request. */
export async function checkMdx(
  site: Site,
  paths: Iterable<string>,
  {
    signal,
    onProgress,
    parser,
  }: { signal?: AbortSignal; onProgress?: (done: number) => void; parser?: MdxParser } = {},
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  let done = 0;
  const used = parser ?? openMdxParser();
  try {
    for (const path of paths) {
      signal?.throwIfAborted();
      onProgress?.(done++);
      const node = site.index.nodes.get(path);
      if (node === undefined || node.brief.unread || site.model.dialect(path).syntax !== "mdx") continue;
      const bytes = await site.tree.read(path);
      if (bytes === null) continue;
      const problem = await used.parse(bytes);
      if (problem === null) continue;
      const { line, column, message } = problem;
      findings.push({
        check: "mdx-syntax",
        severity: "error",
        path,
        line,
        column,
        message: `MDX cannot be parsed: ${message}`,
      });
    }
  } finally {
    if (parser === undefined) await used.close();
  }
  return findings;
}
