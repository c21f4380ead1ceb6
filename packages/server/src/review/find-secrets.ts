import { asRead } from "../lib/as-read.ts";
import { type FoundSecret, secretsIn, UnsearchableText } from "../lib/secrets-in.ts";
import type { OverlayEntry, Tree } from "../tree/tree.ts";
import type { Added, AddedLine } from "./added-lines.ts";
import type { Violation } from "./review.ts";

const chunkCharactersMax = 256_000;

/** Credentials in what a change adds, as it is written and as it is read. Where, and of what kind: never the value. */
export async function findSecrets(
  added: Added,
  linesOfWords: readonly AddedLine[],
  known: readonly string[],
  signal: AbortSignal,
): Promise<readonly Violation[]> {
  const written = [...added.lines, ...linesOfWords];
  let readBefore: readonly string[] | undefined;
  const heldBefore = (secret: string) => {
    if (added.heldBefore(secret)) return true;
    readBefore ??= added.before.map((file) => asRead(file.text));
    return readBefore.some((text) => text.includes(secret));
  };
  const violations = new Map<string, Violation>();
  for await (const { at, secret, kind } of secretsOf([...written, ...readOtherwise(written)], known, signal)) {
    if (heldBefore(secret)) continue;
    const rule = kind === unsearched ? unsearchedRule : `line ${at.line} holds ${inWords(kind)}`;
    violations.set(`${at.path} ${rule}`, { path: at.path, rule, isSecret: true });
  }
  return [...violations.values()];
}

/** Credentials in the names that a change gives to files. The name itself is not told: it holds one. */
export async function findSecretNames(
  base: Tree,
  entries: readonly OverlayEntry[],
  known: readonly string[],
  signal: AbortSignal,
): Promise<readonly Violation[]> {
  const names = entries
    .filter(({ content }) => content !== null)
    .map(({ path }): AddedLine => ({ path, line: 1, text: path }));
  const rules = new Set<string>();
  for await (const { secret, kind } of secretsOf([...names, ...readOtherwise(names)], known, signal)) {
    const there = await base.list();
    if (!there.some(({ path }) => path.includes(secret) || asRead(path).includes(secret))) rules.add(inWords(kind));
  }
  return [...rules].map((words) => ({ path: "a file's name", rule: `it holds ${words}`, isSecret: true }));
}

interface SecretLine {
  at: AddedLine;
  secret: string;
  kind: FoundSecret["kind"];
}

async function* secretsOf(
  lines: readonly AddedLine[],
  known: readonly string[],
  signal: AbortSignal,
): AsyncIterable<SecretLine> {
  for (const chunk of chunks(lines)) {
    signal.throwIfAborted();
    const content = chunk.map((line) => line.text).join("\n");
    for (const { start, end, line, kind } of await secretsIn(content, known).catch(asOne(content))) {
      const at = chunk[line - 1];
      if (at) yield { at, secret: content.slice(start, end), kind };
    }
  }
}

const unsearched = "unsearched";
const unsearchedRule = "its added lines could not be searched for secrets: they hold too many, or take too long";

/** What cannot be searched is judged as one secret as long as all of it. */
function asOne(content: string): (error: unknown) => readonly FoundSecret[] {
  return (error) => {
    if (error instanceof UnsearchableText) return [{ start: 0, end: content.length, line: 1, kind: unsearched }];
    throw error;
  };
}

/** The lines that say something else once a browser or a parser has read them. */
function readOtherwise(lines: readonly AddedLine[]): readonly AddedLine[] {
  return lines
    .map((line) => ({ ...line, text: asRead(line.text) }))
    .filter(({ text }, index) => text !== lines[index]?.text);
}

function inWords(kind: string): string {
  if (kind === unsearched) return "too much to be searched for secrets";
  return kind === "known" ? "a secret of this installation" : `what looks like a secret (${kind})`;
}

function chunks(lines: readonly AddedLine[]): readonly (readonly AddedLine[])[] {
  const all: AddedLine[][] = [];
  let room = 0;
  for (const line of lines) {
    if (room < line.text.length) {
      all.push([]);
      room = chunkCharactersMax;
    }
    all.at(-1)?.push(line);
    room -= line.text.length + 1;
  }
  return all;
}
