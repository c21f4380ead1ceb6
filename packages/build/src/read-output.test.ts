import { expect, it } from "vitest";
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
