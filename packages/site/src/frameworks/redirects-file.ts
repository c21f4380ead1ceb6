import { underDir } from "../links/route.ts";
import { encodePiece } from "../text/bytes.ts";
import { newlineOf, type Splice } from "../text/splice.ts";
import type { FrameworkContext, Model, Redirect } from "./framework.ts";

/** Hosts read redirects from a `_redirects` file beside the served files: used where the framework has none of its own. */
export async function withRedirectsFile(model: Model, context: FrameworkContext): Promise<Model> {
  if (model.redirectStore !== null) return model;
  const file = [...model.publicDirs, ""]
    .map((dir) => underDir(dir, "_redirects"))
    .find((path) => context.files.has(path));
  const text = file === undefined ? null : await context.readText(file);
  if (file === undefined || text === null) return model;
  const redirects: Redirect[] = [];
  const ranges = new Map<Redirect, Splice>();
  let start = 0;
  for (const [number, line] of text.split("\n").entries()) {
    // Other statuses than these rewrite or answer in place.
    const found = /^(\/\S*)(\s+)(\S+)(?=\s*$|\s+30\d)/.exec(line);
    if (found !== null) {
      const [, from = "", gap = "", to = ""] = found;
      const at = start + from.length + gap.length;
      const redirect: Redirect = { from, to, file, line: number + 1, column: 1, toRange: [at, at + to.length] };
      redirects.push(redirect);
      ranges.set(redirect, { start, end: Math.min(text.length, start + line.length + 1), text: "" });
    }
    start += line.length + 1;
  }
  return {
    ...model,
    configFiles: [...model.configFiles, file],
    redirects,
    redirectStore: {
      add(pairs) {
        const newline = newlineOf(text);
        const gap = text === "" || text.endsWith("\n") ? "" : newline;
        const lines = pairs.map(({ from, to }) => encodePiece(`${from} ${to} 301${newline}`)).join("");
        return { file, splices: [{ start: text.length, end: text.length, text: gap + lines }] };
      },
      remove: (gone) => ({ file, splices: gone.flatMap((redirect) => ranges.get(redirect) ?? []) }),
    },
  };
}
