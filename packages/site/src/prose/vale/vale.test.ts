import { describe, expect, it } from "vitest";
import { type Files, memoryTree } from "../../../test/support/memory-tree.ts";
import { checkSite } from "../../check-site.ts";
import { openSite } from "../../open-site.ts";
import { plainDialect } from "../../parse/dialect.ts";
import { indexLines } from "../../text/bytes.ts";
import { readPassages } from "../passages.ts";
import { openProseThread } from "../prose-thread.ts";
import { judgePage } from "./judge-page.ts";
import { loadStyles } from "./load-styles.ts";
import { compilePattern } from "./pattern.ts";

const ini = "MinAlertLevel = suggestion\n[*]\nBasedOnStyles = S\n";

function alerts(rule: string, page: string, more: Record<string, string> = {}, path = "a.md"): string[] {
  const files = { ".vale.ini": ini, "styles/S/R.yml": rule, ...more };
  const styles = loadStyles(".vale.ini", files);
  expect(styles.problems).toEqual([]);
  const source = Buffer.from(page).toString("latin1");
  const { place } = indexLines(source);
  return judgePage(styles, path, source, readPassages(source, plainDialect)).map(({ offset, message }) => {
    const { line, column } = place(offset);
    return `${line}:${column} ${message}`;
  });
}

const left = "extends: existence\nmessage: \"'%s' left\"\ntokens: [TODO, TWO]\n";
const swap = (fields: string): string => `extends: substitution\nmessage: Use '%s' instead of '%s'\n${fields}`;
const sentence =
  "extends: capitalization\nmessage: \"'%s'\"\nscope: heading\nmatch: $sentence\nindicators: [':']\nprefix: '^[a-z]\\.\\s'\nexceptions: [Axon Server]\n";

/**
 * The expected alerts are from Vale's own tests: `testdata/features` of errata-ai/vale at bb78a32 (2024-10-15). For
 * supported rules, they expect 88 alerts in Markdown. 84 of them match to the column; docs/checks.md lists the others.
 */
const expected: [name: string, rule: string, page: string, alerts: string[]][] = [
  ["existence", left, "# TODO\n\nA TODO, no TODOs, not `TODO`.\n", ["1:3 'TODO' left", "3:3 'TODO' left"]],
  [
    "existence, raw",
    'extends: existence\nmessage: "End \'%s\'"\nraw: ["\\\\b(?:of|by)[.!]"]\n',
    "Made by.\n",
    ["1:6 End 'by.'"],
  ],
  [
    "existence, spacing",
    'extends: existence\nmessage: "%s"\nnonword: true\ntokens: ["[a-z][.?!][A-Z]"]\n',
    "Good.And.\n",
    ["1:4 d.A"],
  ],
  [
    "substitution",
    swap("swap: {term: Term}\n"),
    "term\nhttps://a.test/term\n\nA term.\n",
    ["1:1 Use 'Term' instead of 'term'", "4:3 Use 'Term' instead of 'term'"],
  ],
  [
    "substitution, ignoring case",
    swap("ignorecase: true\nswap: {javascript: JavaScript}\n"),
    "Javascript, JavaScript.\n",
    ["1:1 Use 'JavaScript' instead of 'Javascript'"],
  ],
  [
    "substitution, replacing",
    swap('action: {name: replace}\nswap: {"cell ?phone": phone|mobile phone}\n'),
    "A cell phone.\n",
    ["1:3 Use 'phone' or 'mobile phone' instead of 'cell phone'"],
  ],
  [
    "substitution, capitals",
    swap("ignorecase: true\ncapitalize: true\nswap: {mankind: human kind}\n"),
    "Mankind.\n",
    ["1:1 Use 'Human kind' instead of 'Mankind'"],
  ],
  [
    "substitution, groups",
    swap(
      'scope: raw\nignorecase: true\ncapitalize: true\nswap: {"change into the (.*) directory": change to the $1 directory}\n',
    ),
    "Change into the `/etc` directory.\n",
    ["1:1 Use 'Change to the `/etc` directory' instead of 'Change into the `/etc` directory'"],
  ],
  [
    "occurrence",
    "extends: occurrence\nmessage: Too long\nscope: heading & ~heading.h1\nmax: 10\ntoken: .\n",
    "# A long first heading\n\n## A long heading\n\n### Short\n",
    ["3:4 Too long"],
  ],
  [
    "occurrence, none",
    'extends: occurrence\nmessage: No intro\nscope: raw\nmin: 1\ntoken: "# Introduction"\n',
    "# Intro\n",
    ["1:1 No intro"],
  ],
  [
    "occurrence, sentences",
    "extends: occurrence\nmessage: Long\nscope: sentence\nmax: 4\ntoken: \\b(\\w+)\\b\n",
    "Short, e.g. this.\nThis one has too many words.\n",
    ["2:1 Long"],
  ],
  [
    "repetition",
    "extends: repetition\nmessage: \"'%s' is repeated\"\nalpha: true\ntokens: ['[^\\s]+']\n",
    "Not not. This this, in in.\n\n1 1\n",
    [],
  ],
  [
    "repetition, ignoring case",
    "extends: repetition\nmessage: \"'%s' is repeated\"\nignorecase: true\ntokens: ['[^\\s]+']\n",
    "This this is.\n",
    ["1:1 'this' is repeated"],
  ],
  [
    "consistency",
    "extends: consistency\nmessage: \"Mixed '%s'\"\nignorecase: true\neither: {centre: center}\n",
    "The centre.\n\nA center.\n",
    ["3:3 Mixed 'center'"],
  ],
  [
    "conditional",
    "extends: conditional\nmessage: \"'%s' has no definition\"\nfirst: '\\b([A-Z]{3,5})\\b'\nsecond: '(?:\\b[A-Z][a-z]+ )+\\(([A-Z]{3,5})\\)'\nexceptions: [ABC]\n",
    "The National Basketball Association (NBA). The NBA, the NFL, ABC.\n",
    ["1:57 'NFL' has no definition"],
  ],
  [
    "sentence case",
    sentence,
    "# this isn't\n\n# This Does Not Comply\n\n# Find it: Introduction\n\n# 1. An important heading\n\n# a. An heading\n\n## Axon Server connection\n",
    ["1:3 'this isn't'", "3:3 'This Does Not Comply'"],
  ],
  [
    "title case",
    "extends: capitalization\nmessage: \"'%s' ('%s')\"\nscope: heading.h2\nmatch: $title\n",
    "## this is another heading!\n\n## A Guide to the Parts\n",
    ["1:4 'this is another heading!' ('This Is Another Heading!')"],
  ],
  [
    "scopes",
    `${left}scope: [heading.h2, list, table.cell]\n`,
    "# TODO\n\n## TODO\n\nTODO\n\n- TODO\n\n| TODO |\n| - |\n| TODO |\n",
    ["3:4 'TODO' left", "7:3 'TODO' left", "11:3 'TODO' left"],
  ],
  ["scopes, negated", `${left}scope: ["~blockquote & ~heading"]\n`, "# TODO\n\n> TODO\n\nTODO\n", ["5:1 'TODO' left"]],
  [
    "raw",
    "extends: existence\nmessage: \"'%s'\"\nscope: raw\nnonword: true\ntokens: ['(?<=\\*\\*)TODO(?=\\*\\*)']\n",
    "A **TODO**.\n",
    ["1:5 'TODO'"],
  ],
  ["letters of any language", "extends: existence\nmessage: \"'%s'\"\ntokens: [na]\n", "naïve na.\n", ["1:7 'na'"]],
  [
    "comments",
    left,
    "TODO\n\n<!-- vale off -->\n\nTODO\n\n<!-- vale on -->\n\nTODO\n\n<!-- vale S.R = NO -->\n\nTODO\n",
    ["1:1 'TODO' left", "9:1 'TODO' left"],
  ],
];

describe("rules in Vale's format", () => {
  it.each(expected)("%s", (_, rule, page, wanted) => {
    expect(alerts(rule, page)).toEqual(wanted);
  });

  it("takes sections, levels, vocabularies and ignores from .vale.ini", () => {
    const sections = `${ini}TokenIgnores = (\\$TODO)\n[guides/*.md]\nS.R = NO\n`;
    const page = "TODO and $TODO\n";
    expect(alerts(left, page, { ".vale.ini": sections })).toEqual(["1:1 'TODO' left"]);
    expect(alerts(left, page, { ".vale.ini": sections }, "guides/b.md")).toEqual([]);
    expect(alerts(`${left}level: suggestion\n`, page, { ".vale.ini": ini.replace("suggestion", "error") })).toEqual([]);
    const vocab = {
      ".vale.ini": `Vocab = Own\n[*]\nBasedOnStyles = Vale\n`,
      "styles/config/vocabularies/Own/accept.txt": "GitHub\n",
      "styles/config/vocabularies/Own/reject.txt": "foo\n",
    };
    expect(alerts(left, "A github foo foo.\n", vocab)).toEqual([
      "1:3 Use 'GitHub' instead of 'github'.",
      "1:10 Avoid using 'foo'.",
      "1:14 Avoid using 'foo'.",
    ]);
  });

  it("is a check: with the rules' own levels up to that of the setting, and a finding for what is not supported", async () => {
    const files: Files = {
      "a.md": "---\ntitle: TODO\n---\n\n# A\n\nTODO `TODO`\n",
      ".vale.ini": ini,
      "styles/S/R.yml": `${left}level: error\n`,
      "styles/S/Script.yml": "extends: script\nmessage: x\n",
      "styles/S/Bad.yml": "extends: existence\nmessage: x\ntokens: ['(?>a)']\n",
    };
    const found = async (level: string, more: Files = {}): Promise<string[]> => {
      const settings = { ".emend/check.json": JSON.stringify({ checks: { "prose-rules": level } }) };
      const findings = await checkSite(await openSite(memoryTree({ ...files, ...settings, ...more })));
      return findings.map(({ severity, path, line, message }) => `${severity} ${path}:${line} ${message}`);
    };
    expect(await found("error")).toEqual([
      "error a.md:7 'TODO' left. (S.R)",
      'warning styles/S/Bad.yml:1 This is not used: the pattern has "(?>a" within a pattern, which is not supported.',
      "warning styles/S/Script.yml:1 This is not used: the rule S.Script extends `script`, which is not supported.",
    ]);
    expect((await found("info"))[0]).toBe("info a.md:7 'TODO' left. (S.R)");
    expect(await found("off")).toEqual([]);
  });

  it("ends a pattern that never would, and says which it was", async () => {
    const files = { ".vale.ini": ini, "styles/S/R.yml": 'extends: existence\nmessage: x\nraw: ["^(a+)+$"]\n' };
    const thread = openProseThread({ kind: "vale", configFile: ".vale.ini", files, left: [] }, { pageMsMax: 200 });
    try {
      const bytes = Buffer.from(`${"a".repeat(60)}!\n`);
      expect(await thread.judge({ path: "a.md", bytes, dialect: plainDialect })).toEqual({ slow: 0 });
    } finally {
      await thread.close();
    }
  });

  it.each([
    ["[^]a]b", "xb", true],
    ["(?P<n>a)\\-\\'b", "a-'b", true],
    ["(?i)abc", "ABC", true],
    ["[[:alpha:]]{2}", "ab", true],
    ["a{b}", "a{b}", true],
    ["\\Aa\\z", "a", true],
    ["\\p{L}+", "é", true],
  ])("reads %s as Vale does", (source, text, isMatch) => {
    expect(compilePattern(source).test(text)).toBe(isMatch);
  });
});
