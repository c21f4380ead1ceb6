import { parentPort } from "node:worker_threads";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkMdx from "remark-mdx";
import remarkParse from "remark-parse";
import { unified } from "unified";
import { decodePiece, type Place, toByteString } from "../text/bytes.ts";

export interface SyntaxProblem extends Place {
  message: string;
}

interface Fault {
  reason?: string;
  line?: number | null;
  column?: number | null;
  place?: { line?: number; column?: number; start?: { line: number; column: number } };
}

const headingId = /^(#{1,6}[^\n]*?)[ \t]*\{#[\w.:-]+\}[ \t]*$/gm;
const comment = /<!--[\s\S]*?-->/g;

/**
 * Blanks out syntax that some frameworks accept in MDX by preprocessing: heading ids and HTML comments. Offsets stay
 * the same.
 */
function lenient(source: string): string {
  const blank = (text: string): string => text.replace(/[^\n]/g, " ");
  return source
    .replace(headingId, (whole, head: string) => head + blank(whole.slice(head.length)))
    .replace(comment, blank);
}

/** Parses a page with the full MDX parser, without evaluating it. Returns the syntax error, or null. */
export function parseMdx(text: string): SyntaxProblem | null {
  const processor = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter, ["yaml", "toml"]).use(remarkMdx);
  try {
    processor.parse(lenient(decodePiece(text)));
    return null;
  } catch (error) {
    const fault = error as Fault;
    const place = fault.place?.start ?? fault.place;
    const message = fault.reason ?? (error instanceof Error ? error.message : String(error));
    // An unclosed tag is reported at the end of the page, but the message contains its own position.
    const named = /\((\d+):(\d+)/.exec(message);
    const line = named === null ? (fault.line ?? place?.line ?? 1) : Number(named[1]);
    return { message, line, column: named === null ? (fault.column ?? place?.column ?? 1) : Number(named[2]) };
  }
}

parentPort?.on("message", (bytes: Uint8Array) => {
  parentPort?.postMessage(parseMdx(toByteString(bytes)));
});
