import { setImmediate as nextTick } from "node:timers/promises";
import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";
import type { Added, AddedLine } from "./added-lines.ts";
import type { Violation } from "./review.ts";

const chunkCharactersMax = 256_000;
const preset = { id: "@secretlint/secretlint-rule-preset-recommend", rule: creator, options: {} };

/** Credentials in what a change adds. Where, and of what kind: never the value. */
export async function findSecrets(
  added: Added,
  linesOfWords: readonly AddedLine[],
  signal: AbortSignal,
): Promise<readonly Violation[]> {
  const violations: Violation[] = [];
  for (const chunk of chunks([...added.lines, ...linesOfWords])) {
    signal.throwIfAborted();
    violations.push(...(await secretsIn(chunk, added)));
    // The expressions run on this thread: let heartbeats in between.
    await nextTick();
  }
  return violations;
}

async function secretsIn(lines: readonly AddedLine[], added: Added): Promise<readonly Violation[]> {
  const content = lines.map((line) => line.text).join("\n");
  const result = await lintSource({
    source: { content, filePath: "added.md", ext: ".md", contentType: "text" },
    options: { noPhysicFilePath: true, maskSecrets: true, config: { rules: [preset] } },
  });
  const violations = new Map<string, Violation>();
  for (const { range, loc, ruleId } of result.messages) {
    if (added.heldBefore(content.slice(...range))) continue;
    const at = lines[loc.start.line - 1];
    if (!at) continue;
    const kind = ruleId.replace(/^@secretlint\/secretlint-rule-/, "");
    const rule = `line ${at.line} holds what looks like a secret (${kind})`;
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
