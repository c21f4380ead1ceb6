import { readFrontMatter } from "../parse/front-matter.ts";
import type { Site } from "../site.ts";
import { decodePiece, indexLines, textStart, toByteString } from "../text/bytes.ts";
import { readPageCode } from "./page-code.ts";

/** A fenced block of a page. */
export interface PageSample {
  /** In lower case; "" if it has none. */
  language: string;
  info: string;
  text: string;
  line: number;
}

/** The samples of a page, and whether its front matter marks all of them to run. Null: there is no such page. */
export async function readSamples(
  site: Site,
  path: string,
): Promise<{ samples: readonly PageSample[]; isMarked: boolean } | null> {
  const page = site.pages.find((one) => one.path === path);
  const bytes = page ? await site.tree.read(path) : null;
  if (bytes === null) return null;
  const text = toByteString(bytes);
  const { lineOf } = indexLines(text);
  const front = readFrontMatter(text, textStart(text));
  const samples = readPageCode(text, site.model.dialect(path)).samples.map(({ language, info, text: code, at }) => ({
    language,
    info: decodePiece(info),
    text: decodePiece(code),
    // The opening fence is the line above, and lines count from 0 here.
    line: Math.max(1, lineOf(at(0))),
  }));
  return { samples, isMarked: /^emend:[ \t]*run[ \t]*$/m.test(text.slice(0, front?.bodyStart ?? 0)) };
}
