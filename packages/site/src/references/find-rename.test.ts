import { expect, test } from "vitest";
import { compare, treeOf } from "../../test/support/sources.ts";
import { plainDialect } from "../parse/dialect.ts";
import { compareReferences } from "./compare-references.ts";
import { findCodeReferences } from "./find-references.ts";
import { indexSource } from "./source-index.ts";

test("offers the new name where it stands at every place of the old one", async () => {
  const before = {
    "src/a.ts": 'option("--dry-run", "x");\nif (o["--dry-run"]) run();\n',
    "src/b.ts": "export const oldName = 1;\n",
  };
  const after = {
    "src/a.ts": 'option("--preview", "x");\nif (o["--preview"]) run();\n',
    "src/b.ts": "export const newName = 1;\n",
  };
  expect(await compare(before, after, "`--dry-run`, `oldName`")).toEqual([
    "--dry-run → --preview",
    "oldName → newName",
  ]);
});

test.each([
  ["in one line", (name: string) => `export const ${name} = 1;`],
  ["in the first line", (name: string) => `export const ${name} = 1;\n\nrest();\nrest();\n`],
  ["in the last line", (name: string) => `rest();\nrest();\nexport const ${name} = 1;`],
  ["twice", (name: string) => `rest();\nexport const ${name} = 1;\nuse(${name});\nrest();\nuse(${name});\nrest();\n`],
  ["with lines that Windows wrote", (name: string) => `rest();\r\nexport const ${name} = 1;\r\nrest();\r\n`],
  [
    "beside lines that look alike",
    (name: string) => `export const a = 1;\nexport const ${name} = 1;\nexport const b = 1;\n`,
  ],
])("offers a new name that is like the old one, %s", async (_, text) => {
  for (const to of ["newName", "oldNameX", "xOldName", "oldNam"]) {
    const found = await compare({ "a.ts": text("oldName") }, { "a.ts": text(to) }, "`oldName`");
    expect(found).toEqual([`oldName → ${to}`]);
  }
});

test("takes nothing for a rename that only looks like one at the start of a file", async () => {
  const before = { "a.ts": "\nexport const oldName = 1;\n" };
  expect(await compare(before, { "a.ts": "export const newName = 1;\n" }, "`oldName`")).toEqual(["oldName → newName"]);
  expect(await compare(before, { "a.ts": "Xexport const newName = 1;\n" }, "`oldName`")).toEqual(["oldName removed"]);
});

test("offers the new name beside a line that repeats another one", async () => {
  const text = (lines: string) => ({ "a.ts": `export const a = 1;\nrest();\n${lines}end();\n` });
  const after = text("export const newName = 1;\nexport const a = 1;\n");
  expect(await compare(text("export const oldName = 1;\n"), after, "`oldName`")).toEqual(["oldName → newName"]);
});

test("offers nothing where two names took its place, or the new name was there before", async () => {
  const before = { "a.ts": "const oldName = 1;\nuse(oldName);\nconst there = 2;\n" };
  expect(
    await compare(before, { "a.ts": "const newName = 1;\nuse(another);\nconst there = 2;\n" }, "`oldName`"),
  ).toEqual(["oldName removed"]);
  expect(await compare(before, { "a.ts": "const there = 1;\nuse(there);\n" }, "`oldName`")).toEqual([
    "oldName removed",
  ]);
});

test("the fix replaces the name alone, in bytes", async () => {
  const old = await indexSource(treeOf({ "a.ts": "export const oldName = 1;\n" }));
  const page = Buffer.from("Über `app.oldName()`.");
  const [stale] = await compareReferences(
    findCodeReferences("page.md", page, plainDialect),
    old,
    await indexSource(treeOf({ "a.ts": "export const newName = 1;\n" })),
  );
  const edit = stale?.fix?.edits[0];
  expect(page.subarray(edit?.start, edit?.end).toString()).toBe("oldName");
  expect(edit?.text).toBe("newName");
});

test("follows a file that moved, and knows packages by their manifests", async () => {
  const before = { "src/app.ts": "const aLongLine = 1;\n", "package.json": '{ "name": "old-kit" }' };
  const after = { "lib/app.ts": "const aLongLine = 1;\n", "package.json": '{ "name": "new-kit" }' };
  const page = '`src/app.ts`\n\n```js\nimport x from "old-kit/part";\n```\n';
  expect(await compare(before, after, page)).toEqual(["src/app.ts → lib/app.ts", "old-kit removed"]);
});

test("offers no name where two became one: either may be the renamed one", async () => {
  const list = (...names: string[]) => ({
    "a.py": `options = [\n${names.map((name) => `    "${name}"`).join(",\n")}\n]\n`,
  });
  const made = (names: string[]) => ({ "a.py": names.map((name) => `option(\n    "${name}",\n)\n`).join("") });
  const page = "`--debug-port` `--compose-file`";
  const removed = ["--debug-port removed", "--compose-file removed"];
  expect(await compare(made(["--debug-port", "--compose-file"]), made(["--base-image"]), page)).toEqual(removed);
  expect(await compare(list("--debug-port", "--compose-file"), list("--base-image"), page)).toEqual(removed);
});

test("offers it where another name left such a line and is still there, in any order of the lines", async () => {
  const lines = ["class oldName: ...", '__all__ = [\n    oldName,\n    "helper"\n]', "import (\n    helper,\n)"];
  for (const order of [lines, lines.toReversed()]) {
    const before = { "a.py": `${order.join("\n")}\n`, "b.py": "helper()\n" };
    const after = {
      "a.py": `${order.slice(0, 3).join("\n").replaceAll("oldName", "newName").replace("    helper,\n", "")}\n`,
      "b.py": "helper()\n",
    };
    expect(await compare(before, after, "`oldName`")).toEqual(["oldName → newName"]);
  }
});
