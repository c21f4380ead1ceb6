import { expect, it } from "vitest";
import { lastLines } from "./judge.ts";
import { newDiagnostics, readOutput } from "./read-output.ts";

const files = { all: ["docs/index.md", "docs/guide.md", "other/guide.md"], changed: new Set(["docs/guide.md"]) };
const read = (output: string) =>
  readOutput(output, "/work", files).map(({ severity, path, line, text }) => `${severity} ${path}:${line} ${text}`);

// What the builders print, shortened.
it.each([
  [
    "mkdocs",
    "INFO    -  Building documentation\nWARNING -  Doc file 'guide.md' contains a link 'gone.md', but the target is not found\nINFO    -  Built\n",
    "warning docs/guide.md:null WARNING -  Doc file 'guide.md' contains a link 'gone.md', but the target is not found",
  ],
  [
    "sphinx",
    "/work/docs/guide.md:4: WARNING: undefined label: 'gone'\ngenerating indices... done\n",
    "warning docs/guide.md:4 docs/guide.md:4: WARNING: undefined label: 'gone'",
  ],
  [
    "hugo",
    'ERROR 2026/11/18 04:50:19 [en] REF_NOT_FOUND: Ref "gone.md": "/work/docs/guide.md:5:12": page not found\n',
    'error docs/guide.md:5 ERROR [en] REF_NOT_FOUND: Ref "gone.md": "docs/guide.md:5:12": page not found',
  ],
  [
    "asciidoctor",
    "asciidoctor: ERROR: guide.md: line 5: include file not found: gone.adoc\n",
    "error docs/guide.md:5 asciidoctor: ERROR: guide.md: line 5: include file not found: gone.adoc",
  ],
  [
    "docusaurus",
    "Exhaustive list of all broken links found:\n- Broken link on source page path = /guide:\n   -> linking to /gone\n",
    "error docs/guide.md:null - Broken link on source page path = /guide: -> linking to /gone",
  ],
  [
    "astro",
    "[InvalidContentEntryDataError] docs → guide data does not match collection schema.\n\n  title: Required\n  Hint:\n    See the page.\n  Location:\n    /work/docs/guide.md:3:0\n  Stack trace:\n",
    "error docs/guide.md:3 [InvalidContentEntryDataError] docs → guide data does not match collection schema.",
  ],
])("reads what %s prints", (_builder, output, found) => {
  expect(read(output)).toContain(found);
});

it("colours and times make nothing new, and one complaint more is new", () => {
  const before = readOutput("\x1b[33mWARNING: docs/index.md:3: odd (in 12 ms)\x1b[0m\n", "/work", files);
  const same = readOutput("WARNING: docs/index.md:9: odd (in 345 ms)\n", "/work", files);
  expect(newDiagnostics(before, same)).toEqual([]);
  const more = readOutput("WARNING: docs/index.md:12: odd (in 1 ms)\n", "/work", files);
  expect(newDiagnostics(before, [...same, ...more])).toHaveLength(1);
});

it("says the last words of a builder without its colours and the places in its code", () => {
  const colour = String.fromCharCode(27);
  const ruby = "from /usr/lib/ruby/bundler.rb:9:in `setup'\n\tfrom /usr/bin/jekyll:25:in `<main>'";
  expect(lastLines(`${colour}[31mERROR${colour}[0m - no gem "sass"\n${ruby}\n    at main (a.js:1:2)\n`)).toBe(
    'ERROR - no gem "sass"',
  );
});

it("reads what Next says below its heading, and takes no line of another complaint", () => {
  const said = `- warn [nextra] Init git repository failed
[nextra] Error compiling /work/docs/guide.md.
Failed to compile.

./docs/guide.md?metadata
Expected a closing tag for \`<open>\` (5:4-5:10) before the end of \`paragraph\`

Import trace for requested module:
./docs/index.md
`;
  expect(read(said)).toEqual([
    "warning null:null - warn [nextra] Init git repository failed",
    "error docs/guide.md:null [nextra] Error compiling docs/guide.md.",
    "error docs/guide.md:5 Failed to compile. ./docs/guide.md?metadata Expected a closing tag for `<open>` (5:4-5:10) before the end of `paragraph`",
  ]);
});
