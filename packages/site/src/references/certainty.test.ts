import { expect, test } from "vitest";
import { treeOf } from "../../test/support/sources.ts";
import { plainDialect } from "../parse/dialect.ts";
import { staleFinding } from "./check-references.ts";
import { compareReferences } from "./compare-references.ts";
import { findCodeReferences } from "./find-references.ts";
import { indexSource } from "./source-index.ts";

test.each<[string, Record<string, string>, string, boolean]>([
  ["a flag that the code defines", { "a.ts": 'option("--deep-mode");\n' }, "`--deep-mode`", true],
  ["a flag of another program", { "a.go": 'var flags = []string{"--deep-mode", "1"}\n' }, "`--deep-mode`", false],
  ["a flag in a language without a grammar", { "a.rb": 'option "--deep-mode"\n' }, "`--deep-mode`", false],
  [
    "a variable with the program's name",
    { "a.ts": "run(process.env.DEEP_SEA_MODE);\n", "go.mod": "module example.com/me/deep-sea/v2\n" },
    "`DEEP_SEA_MODE`",
    true,
  ],
  [
    "a variable of many programs",
    { "a.ts": "run(process.env.DEEP_MODE);\n", "go.mod": "module deep.io/sea\n" },
    "`DEEP_MODE`",
    false,
  ],
  [
    "a variable with the name of an example",
    { "a.ts": "run(process.env.DEEP_MODE);\n", "examples/a/package.json": '{"name":"deep"}' },
    "`DEEP_MODE`",
    false,
  ],
  ["a route", { "a.ts": 'app.get("/api/deep/mode");\n' }, "`GET /api/deep/mode`", true],
  ["a file", { "src/deep/mode.ts": "" }, "`src/deep/mode.ts`", true],
  ["a declared name", { "a.ts": "export function deepMode() {}\n" }, "`deepMode`", false],
  ["a key", { "a.ts": 'const keys = ["deep_mode"];\n' }, "```yaml\ndeep_mode: 1\n```", false],
])("how certain a missing name is: %s", async (_, before, page, isCertain) => {
  const old = await indexSource(treeOf(before));
  const references = findCodeReferences("page.md", Buffer.from(page), plainDialect);
  const kept = Object.fromEntries(Object.keys(before).map((path) => [path, "\n"]));
  const after = await indexSource(treeOf("src/deep/mode.ts" in before ? {} : kept), { previous: old });
  const found = await compareReferences(references, old, after);
  expect(found.map((stale) => stale.isCertain)).toEqual([isCertain]);
});

test("only a certain one is an error, with its fix", async () => {
  const findings = async (before: string, after: string, page: string) => {
    const old = await indexSource(treeOf({ "a.ts": before }));
    const references = findCodeReferences("page.md", Buffer.from(page), plainDialect);
    const now = await indexSource(treeOf({ "a.ts": after }), { previous: old });
    return (await compareReferences(references, old, now)).map((stale) => staleFinding(stale, null));
  };
  const flag = await findings('option("--deep-mode");\n', 'option("--deep-way");\n', "`--deep-mode`");
  expect(flag).toMatchObject([{ severity: "error", fix: { title: "Replace --deep-mode with --deep-way" } }]);
  const [likely] = await findings("export function deepMode() {}\n", "export function deepWay() {}\n", "`deepMode`");
  expect(likely).toMatchObject({ severity: "warning", certainty: "likely", why: "another package may have it" });
  expect(likely).not.toHaveProperty("fix");
});
