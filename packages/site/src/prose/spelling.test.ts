import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type Files, memoryTree } from "../../test/support/memory-tree.ts";
import { checkSite } from "../check-site.ts";
import { openSite } from "../open-site.ts";
import { plainDialect } from "../parse/dialect.ts";
import { readPassages } from "./passages.ts";
import { createWordList, readDictionary } from "./word-list.ts";

const on = { ".emend/check.json": '{"checks":{"spelling":"warning"}}' };

async function slips(files: Files): Promise<string[]> {
  const findings = await checkSite(await openSite(memoryTree({ ...on, ...files })));
  return findings.flatMap(({ check, path, line, column, message }) =>
    check === "spelling" ? `${path}:${line}:${column} ${message}` : [],
  );
}

/**
 * Results of Hunspell 1.7.1 (Debian 12) with the dictionary of dictionary-en 4.0.0, on 2026-11-16. Both agreed on all
 * 16,719 words of the FastAPI and Vue docs.
 */
const judged = {
  right:
    "color Color COLOR reused unlocked don't Don't DON'T NASA GitHub dogs walked walking happiest Alice ALICE naive",
  wrong: "colour wOrd cOLOR teh alice nasa Nasa reusability unmapped lowercased preconfigured walkeded xyzz",
};

it("judges words as Hunspell does with the same dictionary", () => {
  const file = (name: string) => readFileSync(new URL(name, import.meta.resolve("dictionary-en")), "utf8");
  const list = createWordList(readDictionary(file("index.aff"), file("index.dic")), []);
  expect(judged.right.split(" ").filter((word) => !list.has(word))).toEqual([]);
  expect(judged.wrong.split(" ").filter((word) => list.has(word))).toEqual([]);
  expect(["recieve", "Teh", "seperate", "xqzw"].map((word) => list.near(word)[0])).toEqual([
    "receive",
    "The",
    "separate",
    undefined,
  ]);
});

it("names misspelled words in prose and titles, once a page, and none in code, addresses, attributes or names", async () => {
  const page = [
    "---",
    'title: "A speling"',
    "foo: wrongg",
    "---",
    "",
    "Some **prose** with an eror, and the eror again. See [a tuorial](./pagee.md#seccion).",
    "",
    "Not `coode`, https://exampel.com, foo_barr, camelCasee, XQZW, v1.2x, --flagg, `g`reater, <code>nott</code> or {{ x }}.",
    "",
    "```js",
    "conts x = 1;",
    "```",
    "",
    '<Card title="Titel" icon="icoon">It’s the user’s **w**ord &amp; fine.</Card>',
    "",
    "![A pikture](x.png)",
  ].join("\n");
  expect(await slips({ "a.md": page, "pagee.md": "# A\n", "x.png": "" })).toEqual([
    "a.md:2:11 `speling` may be misspelled; did you mean `spelling` or `spieling`?",
    "a.md:6:24 `eror` may be misspelled; did you mean `error` or `err`?",
    "a.md:6:57 `tuorial` may be misspelled; did you mean `tutorial`?",
    "a.md:16:5 `pikture` may be misspelled; did you mean `picture`?",
  ]);
});

it("takes the project's own words, from the file that the settings name, and leaves other languages alone", async () => {
  const files = { "a.md": "Pydantic's zod, Emendd.\n" };
  expect(await slips(files)).toHaveLength(3);
  expect(await slips({ ...files, ".emend/dictionary.txt": "Pydantic # a library\nzod\n" })).toEqual([
    expect.stringContaining("`Emendd`"),
  ]);
  const settings = '{"checks":{"spelling":"info"},"dictionary":"words.txt"}';
  const named = { ".emend/check.json": settings, "words.txt": "Pydantic\nzod\nEmendd\n" };
  expect(await slips({ ...files, ...named })).toEqual([]);
  const french =
    "Cette page explique comment installer le logiciel sur votre machine avec les outils dont vous avez besoin pour commencer rapidement.\n";
  expect(await slips({ "a.md": french })).toEqual([]);
  expect(await slips({ ".emend/check.json": "{}", "a.md": "An eror.\n" })).toEqual([]);
});

it("reads a page as its readers do", () => {
  const page = [
    "# A *big* `code` heading",
    "",
    "See [a link](x.md), [one][r] and ![an image](x.png): \\*plain\\* <b>bold</b>, snake_case.",
    "",
    "- item",
    "",
    "  more of it",
    "",
    "> said",
    "> there",
    "",
    "| a | b |",
    "| - | - |",
    "| c | d |",
    "",
    "[r]: http://x.test",
  ].join("\n");
  const passages = readPassages(page, plainDialect);
  expect(passages.map(({ kind, text }) => `${kind}: ${text.trim()}`)).toEqual([
    "heading: A big **** heading",
    "paragraph: See a link, one and : *plain* bold, snake_case.",
    "alt: an image",
    "list: item",
    "list: more of it",
    "blockquote: said\nthere",
    ...["header: a", "header: b", "cell: c", "cell: d"],
  ]);
  for (const { text, at } of passages.filter(({ kind }) => kind === "blockquote"))
    expect(page.slice(at(text.indexOf("there")))).toMatch(/^there/);
});
