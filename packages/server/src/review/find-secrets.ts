import { setImmediate as nextTick } from "node:timers/promises";
import { secretsIn } from "../lib/secrets-in.ts";
import type { Added, AddedLine } from "./added-lines.ts";
import type { Violation } from "./review.ts";

const chunkCharactersMax = 256_000;

/** Credentials in what a change adds. Where, and of what kind: never the value. */
export async function findSecrets(
  added: Added,
  linesOfWords: readonly AddedLine[],
  known: readonly string[],
  signal: AbortSignal,
): Promise<readonly Violation[]> {
  const violations: Violation[] = [];
  for (const chunk of chunks([...added.lines, ...linesOfWords])) {
    signal.throwIfAborted();
    violations.push(...(await violationsIn(chunk, added, known)));
    // The expressions run on this thread: let heartbeats in between.
    await nextTick();
  }
  return violations;
}

async function violationsIn(
  lines: readonly AddedLine[],
  added: Added,
  known: readonly string[],
): Promise<readonly Violation[]> {
  const content = lines.map((line) => line.text).join("\n");
  const violations = new Map<string, Violation>();
  for (const { start, end, line, kind } of await secretsIn(content, known)) {
    if (added.heldBefore(content.slice(start, end))) continue;
    const at = lines[line - 1];
    if (!at) continue;
    const what = kind === "known" ? "a secret of this installation" : `what looks like a secret (${kind})`;
    const rule = `line ${at.line} holds ${what}`;
    violations.set(`${at.path} ${rule}`, { path: at.path, rule, isSecret: true });
  }
  return [...violations.values()];
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
