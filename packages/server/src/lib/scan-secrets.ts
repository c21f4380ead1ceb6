import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import { knownSecretsIn } from "./known-secrets.ts";

/** A credential in a text: where, and of what kind. */
export interface FoundSecret {
  start: number;
  end: number;
  /** From 1. */
  line: number;
  kind: string;
}

/** Real texts hold a handful; each one found costs its callers a look into the repository. */
const secretsMax = 500;

/** A text that cannot be searched in bounds: whoever asked must treat it as one that holds a secret. */
export class UnsearchableText extends Error {}

// The rules alone, and not the library's core: that one lets a page turn the search off (`secretlint-disable`), compares
// every finding with every other, and keeps marks of each search for as long as the process lives.
const scanners = (rules as readonly Rule[]).filter(({ meta }) => !meta.id.endsWith("-filter-comments"));

/** What of a rule is used here; the package leaves its types to another one. */
interface Rule {
  meta: { id: string };
  create(
    context: {
      sharedOptions: object;
      createTranslator(): (messageId: string) => { message: string; messageId: string };
      report(finding: { range: readonly [start: number, end: number] }): void;
      ignore(): void;
    },
    options: object,
  ): { file?(source: Source): void | Promise<void> };
}

interface Source {
  content: string;
  filePath: string;
  ext: string;
  contentType: "text";
}

/**
 * What looks like a credential, is a key of Emend's own, or is one of those that are known, in the order in which it
 * stands. The expressions run on this thread: call `secretsIn` instead wherever others wait.
 */
export async function scanSecrets(text: string, known: readonly string[] = []): Promise<readonly FoundSecret[]> {
  const found = new Map<string, FoundSecret>();
  const lineAt = lineCounter(text);
  const add = (start: number, end: number, kind: string) => {
    found.set(`${start} ${end} ${kind}`, { start, end, line: lineAt(start), kind });
    if (found.size > secretsMax) throw new UnsearchableText(`more than ${secretsMax} credentials`);
  };
  const source: Source = { content: text, filePath: "text.md", ext: ".md", contentType: "text" };
  for (const rule of scanners) {
    const kind = rule.meta.id.replace(/^@secretlint\/secretlint-rule-/, "");
    const handler = rule.create(
      {
        sharedOptions: {},
        createTranslator: () => (messageId) => ({ message: "", messageId }),
        report: ({ range }) => add(range[0], range[1], kind),
        ignore: () => undefined,
      },
      {},
    );
    await handler.file?.(source);
  }
  for (const { start, end, kind } of knownSecretsIn(text, known)) add(start, end, kind);
  return [...found.values()].sort((a, b) => a.start - b.start || b.end - a.end);
}

/**
 * The line of a place, by the places where lines end: asked for each finding, so never counted from the top again. Only
 * `\n` ends one, as for everybody who splits a text into lines; else a page of `\r` would move a finding to another line.
 */
function lineCounter(text: string): (index: number) => number {
  const ends: number[] = [];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) ends.push(at);
  return (index) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] as number) < index) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
