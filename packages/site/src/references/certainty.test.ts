import { expect, test } from "vitest";
import { treeOf } from "../../test/support/sources.ts";
import { plainDialect } from "../parse/dialect.ts";
import { staleFinding } from "./check-references.ts";
import { compareReferences } from "./compare-references.ts";
import { findCodeReferences } from "./find-references.ts";
import { indexSource } from "./source-index.ts";

// One file has the name as a string, and the page names nothing else of it.
const value = { "a.ts": 'export type Mode = "deepMode" | "flat";\n' };
const nine = Array.from({ length: 9 }, (_, i) => `otherName${i}`);
test.each<[string, Record<string, string>, string, boolean]>([
  ["only a string of one file", value, "`deepMode`", false],
  ["a declared one", { "a.ts": "export function deepMode() {}\n" }, "`deepMode`", true],
  ["one of three files", { ...value, "b.ts": "run(o.deepMode);\n", "c.ts": "run(o.deepMode);\n" }, "`deepMode`", true],
  ["one of a sample's code", value, "`deepMode`\n\n```ts\nrun().deepMode();\n```", true],
  ["a key of a sample", { "a.ts": 'const keys = ["deep_mode"];\n' }, "```yaml\ndeep_mode: 1\n```", false],
  ["a flag", { "a.ts": 'option("--deep-mode");\n' }, "`--deep-mode`", true],
  ["a file", { "src/deep/mode.ts": "" }, "`src/deep/mode.ts`", true],
  [
    "one of ten names of one file",
    { "a.ts": `${value["a.ts"]}${[...nine, "otherName9"].join(";\n")}` },
    `\`deepMode\` ${[...nine, "otherName9"].map((name) => `\`${name}\``).join(" ")}`,
    true,
  ],
  [
    "one of nine names of one file",
    { "a.ts": `${value["a.ts"]}${nine.join(";\n")}` },
    `\`deepMode\` ${nine.map((name) => `\`${name}\``).join(" ")}`,
    false,
  ],
])("how certain a missing name is: %s", async (_, before, page, isCertain) => {
  const old = await indexSource(treeOf(before));
  const references = findCodeReferences("page.md", Buffer.from(page), plainDialect);
  const kept = Object.fromEntries(Object.keys(before).map((path) => [path, `${nine.join(";\n")};\notherName9\n`]));
  const after = await indexSource(treeOf("src/deep/mode.ts" in before ? {} : kept), { previous: old });
  const found = await compareReferences(references, old, after);
  expect(new Set(found.map((stale) => stale.isCertain))).toEqual(new Set([isCertain]));
});

test("only a certain one is an error, with its fix", async () => {
  const findings = async (before: string, after: string) => {
    const old = await indexSource(treeOf({ "a.ts": before }));
    const references = findCodeReferences("page.md", Buffer.from("`deepMode`"), plainDialect);
    const now = await indexSource(treeOf({ "a.ts": after }), { previous: old });
    return (await compareReferences(references, old, now)).map((stale) => staleFinding(stale, null));
  };
  expect(await findings("export function deepMode() {}\n", "export function deepWay() {}\n")).toMatchObject([
    { severity: "error", fix: { title: "Replace deepMode with deepWay" } },
  ]);
  const [likely] = await findings('type Mode = "deepMode";\n', 'type Mode = "deepWay";\n');
  expect(likely).toMatchObject({ severity: "warning", certainty: "likely", why: "another package may have it" });
  expect(likely).not.toHaveProperty("fix");
});
