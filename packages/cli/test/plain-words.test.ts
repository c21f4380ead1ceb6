import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");

/** Phrases that people had to read twice, and what to write instead. */
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
/** For people only: models read the agent's texts, and recorded figures depend on their length. */
const refusedToPeople: typeof refused = [
  ...refused,
  [/\b(go|goes|went) on (with|from|after|before|elsewhere|working|within)\b/i, "continue"],
  [/\bfar ends?\b/i, "forge, model, service"],
  [/\bin words\b/i, "say what is shown: an error, a message"],
  [/\bwhere it (lies|stands)\b|\b(lies|lie) (in|below|elsewhere|outside)\b/i, "is in, is stored in"],
  [/\bhanded over\b|\bhands over\b/i, "returned, finished"],
  [/\bholds no\b|\bmust (not )?hold (a|an|no|U)\b/i, "contains no, must not contain"],
  [/\b(comes|come|came) of (it|them|an?|auto|its)\b/i, "result, outcome"],
  [/\b(read|made|make|makes|written|begins?|looks?) (\w+ )?anew\b/i, "again"],
  [/\btaken in\b|\btake in\b/i, "kept, merged"],
  [/\bknows no\b|\btakes no\b/i, "has no, does not accept"],
  [/\bheld to\b/i, "compared with, tested against"],
  [/\b(free words|words of your own)\b/i, "your own words"],
  [/\b(untried|tried against)\b/i, "not tested, tested against"],
  [/(?<!there )\bis no (\w+ )?(folder|file|revision|repository|JSON|setting|path|name|route|table)\b/i, "is not a"],
  [/\b(next|two|each|every) looks?\b/i, "check"],
  [/\bparted from\b|\bopens? \w+ all the same\b/i, "the merge base; anyway"],
];
const sources = ["dashboard", "cli", "server", "contract", "mcp", "sdk", "action", "lsp"].map(
  (name) => `packages/${name}/src/**/*.{ts,tsx}`,
);
const pages = ["*.md", "docs/**/*.md", "action/*.md", "packages/*/README.md"];

/** The texts of a source file that a person may read: page texts, and literals of several words that are not queries. */
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

function riddlesIn(path: string, line: number, text: string): string[] {
  return (path.includes("/agent/") ? refused : refusedToPeople).flatMap(([pattern, instead]) => {
    const word = pattern.exec(text)?.[0];
    return word ? [`${path}:${line} says "${word}" (${instead}): ${text.slice(0, 160)}`] : [];
  });
}

test("what people read is in plain words", async () => {
  const found: string[] = [];
  for await (const path of glob(sources, { cwd: root })) {
    if (/\.test\.tsx?$|\/conformance\.ts$|\/agent\/rules\//.test(path)) continue;
    for (const { line, text } of textsOf(path)) found.push(...riddlesIn(path, line, text));
  }
  expect(found).toEqual([]);
});

test("the docs, the README and the changelog are in plain words", async () => {
  const found: string[] = [];
  for await (const path of glob(pages, { cwd: root })) {
    let isCode = false;
    for (const [index, line] of readFileSync(join(root, path), "utf8").split("\n").entries()) {
      if (/^\s*(```|````)/.test(line)) isCode = !isCode;
      if (!isCode) found.push(...riddlesIn(path, index + 1, line.replace(/`[^`]*`/g, "``")));
    }
  }
  expect(found).toEqual([]);
});

test("log messages are static and in lower case, with their data in fields", async () => {
  const found: string[] = [];
  for await (const path of glob("packages/server/src/**/*.ts", { cwd: root })) {
    if (path.endsWith(".test.ts")) continue;
    const text = readFileSync(join(root, path), "utf8");
    for (const [, message = ""] of text.matchAll(
      /\blog(?:ger)?\??\.(?:warn|info|error|debug)\([^;]*?,\s*(["`][^"`]*["`])/g,
    )) {
      if (/^"[A-Z][a-z]|\$\{/.test(message)) found.push(`${path}: ${message}`);
    }
  }
  expect(found).toEqual([]);
});
