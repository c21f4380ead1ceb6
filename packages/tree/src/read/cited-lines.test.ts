import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CitedLines, citeLines, findAgain } from "./cited-lines.ts";

let trees: TestTrees;
beforeAll(async () => {
  trees = await openTestTrees();
});
afterAll(() => trees.close());

const code = `export const retries = 3;

export function connect(options: Options): Connection {
  const timeoutMs = options.timeoutMs ?? 30_000;
  return open({ timeoutMs, retries });
}

export function listen(options: Options): Server {
  const backlog = options.backlog ?? 128;
  return serve({ backlog });
}
`;
const cite = (line: number, lineEnd = line, path = "src/net.ts", content = code) =>
  citeLines(path, content, line, lineEnd) as CitedLines;
const look = async (cited: CitedLines, files: Record<string, string>) =>
  findAgain(await trees.open(files), cited, { movedTo: new Map(), searches: 0 }, AbortSignal.timeout(20_000));

test.each([
  [1, "retries"],
  [4, "timeoutMs"],
  [5, "connect"],
  [10, "listen"],
])("line %d belongs to %s", (line, symbol) => {
  expect(cite(line).symbol).toBe(symbol);
});

test.each([
  ["a: 1\nserver:\n  port: 80\n  hosts:\n    - one\n", 5, "hosts"],
  ["[server]\nport = 80\n", 2, "server"],
  ["def connect(self):\n    return open(self.url)\n", 2, "connect"],
  ["func (c *Client) Dial() error {\n\treturn nil\n}\n", 2, "Dial"],
  ["int main(int argc, char **argv) {\n  return 0;\n}\n", 2, "main"],
  ["just words\nand more\n", 2, null],
])("the symbol is found by layout in other languages: %j", (content, line, symbol) => {
  expect(citeLines("x", content, line, line)?.symbol).toBe(symbol);
});

test("lines that are not there, blank or too many cannot be cited", () => {
  expect(citeLines("x", code, 12, 12)).toBeNull();
  expect(citeLines("x", code, 2, 2)).toBeNull();
  expect(citeLines("x", code, 0, 1)).toBeNull();
  expect(citeLines("x", "a\n".repeat(100), 1, 61)).toBeNull();
});

test("lines are the same where they were, and moved where others came before them or their file has another name", async () => {
  const cited = cite(4, 5);
  expect(await look(cited, { "src/net.ts": `${code}\n// more\n` })).toEqual({ kind: "same", cited });
  expect(await look(cited, { "src/net.ts": `// licence\n\n${code}` })).toMatchObject({
    kind: "moved",
    cited: { path: "src/net.ts", line: 6, lineEnd: 7, symbol: "timeoutMs" },
  });
  expect(await look(cited, { "lib/connect.ts": code })).toMatchObject({
    kind: "moved",
    cited: { path: "lib/connect.ts", line: 4, lineEnd: 5 },
  });
});

test("changed lines are reported with the lines in their place", async () => {
  const changed = code.replace("30_000", "60_000");
  expect(await look(cite(4), { "src/net.ts": `// licence\n${changed}` })).toEqual({
    kind: "changed",
    cited: {
      path: "src/net.ts",
      line: 5,
      lineEnd: 5,
      text: "  const timeoutMs = options.timeoutMs ?? 60_000;",
      symbol: "timeoutMs",
    },
  });
  const renamed = code.replaceAll("retries", "attempts");
  expect(await look(cite(1), { "src/net.ts": renamed })).toMatchObject({
    kind: "changed",
    cited: { text: "export const attempts = 3;" },
  });
});

test("the same text in another symbol is not taken for the one that changed", async () => {
  const twice = `const a = {\n  limit: 10,\n};\nconst b = {\n  limit: 10,\n};\n`;
  const cited = citeLines("x.ts", twice, 2, 2) as CitedLines;
  const inFunctions = `function one() {\n  wait(10);\n}\nfunction two() {\n  wait(10);\n}\n`;
  const first = citeLines("x.ts", inFunctions, 2, 2) as CitedLines;
  expect(first.symbol).toBe("one");
  expect(cited.symbol).toBe("limit");
  const after = inFunctions.replace("wait(10)", "wait(20)");
  expect(await look(first, { "x.ts": after })).toMatchObject({
    kind: "changed",
    cited: { line: 2, text: "  wait(20);" },
  });
});

test("a copy in another file is not what was cited while the original changed", async () => {
  const cited = cite(4);
  const changed = code.replace("30_000", "60_000");
  expect(await look(cited, { "src/net.ts": changed, "old/net.ts": code })).toMatchObject({
    kind: "changed",
    cited: { path: "src/net.ts" },
  });
});

test("removed lines, removed files and binary files are gone", async () => {
  const without = code.replace(/export function listen.*/s, "");
  expect(await look(cite(9), { "src/net.ts": without })).toEqual({ kind: "gone" });
  expect(await look(cite(9), { "README.md": "# Net\n" })).toEqual({ kind: "gone" });
  expect(await look(cite(9), { "src/net.ts": `\0${code}` })).toEqual({ kind: "gone" });
});
