import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");

/** Words that people had to read twice, and what to say instead. */
const refused: readonly (readonly [RegExp, string])[] = [
  [/\b(is|are|was|be) told\b/i, "say who does what: Emend shows, sends, reports"],
  [/\bnobody\b(?!")|\bwhoever\b|\bwhatever\b/i, "name the person or the thing"],
  [/\bby itself\b|\bby themselves\b/i, "automatically, or separately"],
  [/\bof (theirs|ours|yours)\b/i, "their, our, your"],
  [/\bbroke off\b|\bbroken off\b/i, "was interrupted, went wrong"],
  [/\bno such\b/i, "not found"],
  [/\b(is|was|were|are) away\b/i, "unavailable"],
  [/\btaken up\b|\btake up\b/i, "started, resumed"],
  [/\bkept here\b/i, "hosted by Emend"],
  [/\bthat git takes\b/i, "a valid git branch name"],
  [/\bone a line\b|\b(jobs|tokens|files) an? (hour|day|job)\b/i, "per line, per hour, per job"],
  [/\be-mail\b/i, "email"],
  [/\bmend\b|\bmended\b/i, "fix, fixed"],
  [/\bat work\b/i, "running"],
];
const sources = ["packages/dashboard/src/**/*.{ts,tsx}", "packages/cli/src/**/*.ts", "packages/server/src/**/*.ts"];

/** What a person may read of a source file: texts of pages, and literals of several words that are no query. */
function* textsOf(path: string): Generator<{ line: number; text: string }> {
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, readFileSync(join(root, path), "utf8"), ts.ScriptTarget.Latest, true, kind);
  const waiting: ts.Node[] = [file];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const isText = ts.isJsxText(node) || ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
    const text = isText ? node.getText(file).replace(/\s+/g, " ").trim() : "";
    if (/[a-z] [a-z]/i.test(text) && !/\b(select|insert into|update|delete from|returning) [^.]*[$("'=]/i.test(text)) {
      yield { line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1, text };
    }
    if (!ts.isImportDeclaration(node)) node.forEachChild((child) => void waiting.push(child));
  }
}

test("what people read is in plain words", async () => {
  const found: string[] = [];
  for await (const path of glob(sources, { cwd: root })) {
    if (/\.test\.tsx?$|\/agent\/rules\//.test(path)) continue;
    for (const { line, text } of textsOf(path)) {
      for (const [pattern, instead] of refused) {
        const word = pattern.exec(text)?.[0];
        if (word) found.push(`${path}:${line} says "${word}" (${instead}): ${text.slice(0, 160)}`);
      }
    }
  }
  expect(found).toEqual([]);
});
