import { expect, it } from "vitest";
import { syntaxes } from "../test/syntaxes.ts";
import { readPage } from "./read-page.ts";
import type { Syntax } from "./syntax.ts";

const fence = "```";

function read(text: string, syntax: Syntax = syntaxes.mdx) {
  const parts = readPage(text, syntax);
  const hostsOf = (kind: string) => parts.flatMap((part) => (part.kind === kind ? (part.hosts ?? []) : []));
  const forms = parts.flatMap((part) =>
    /^(?:address|sample|rest)$/.test(part.kind) || part.isCover ? [] : [part.text],
  );
  return { live: [...new Set(hostsOf("address"))], shown: hostsOf("sample"), forms };
}

it.each([
  "[x](https://evil.example/x)",
  "![x](//evil.example/x)",
  "![x][1]\n\n[1]: //evil.example/x",
  "<https://evil.example/x>",
  "See https://evil.example/x.",
  '<img src="https://evil.example/x" />',
  '<img src={"https://evil.example/x"} />',
  "[x](https://known.test/?u=https://evil.example/x)",
  "---\nimage: https://evil.example/x\n---\n",
])("%s is live", (text) => {
  expect(read(text).live).toContain("evil.example");
});

it.each<readonly [string, readonly string[]]>([
  [`${fence}sh\ncurl https://evil.example/x\n${fence}`, ["evil.example"]],
  ["Call `GET https://evil.example/x`.", ["evil.example"]],
  [
    `<Steps>\n  <Step>\n    ${fence}bash\n    curl https://evil.example\n    ${fence}\n  </Step>\n</Steps>`,
    ["evil.example"],
  ],
  ["{/* see https://evil.example */}", []],
  [`${fence}\nDATABASE_URL=postgres://user:word@db.evil.example:5432/docs\n${fence}`, []],
  ["Set `redis://cache.evil.example` first.", []],
])("%s is shown", (text, named) => {
  expect(read(text)).toMatchObject({ live: [], shown: named });
});

/** Where parsers disagree on what is code, nothing is taken for code from there on. */
it.each<readonly [string, Syntax]>([
  [`${fence}\na\n${fence}${"`"}\n<b1 x>\n${fence}`, syntaxes.vue],
  [`${fence}\na\n ${fence}\n<b1 x>\n${fence}`, syntaxes.python],
  [`- ${fence}html\n  a\n${fence}\n<b1 x>\n${fence}`, syntaxes.vue],
  [`> ${fence}\n> a\n\n<b1 x>\n\n> ${fence}`, syntaxes.vue],
  [`<div>\n${fence}\n<b1 x>\n${fence}\n</div>`, syntaxes.common],
  ["a ` b\n`<b1 x>`", syntaxes.vue],
  ["\\`<b1 x>`", syntaxes.vue],
  ["| a | b |\n|---|---|\n| `a | <b1 x>` |", syntaxes.vue],
])("%s has a live tag in %s", (text, syntax) => {
  expect(read(text, syntax).forms.join(" ")).toContain("<b1 x>");
});

it("keeps the whole text of a construct, however long it is", () => {
  const script = `<script>${"a();\n".repeat(2_000)}</script>`;
  expect(read(`${script}\n`, syntaxes.vue).forms).toEqual([script]);
});

it.each<readonly [string, Syntax]>([
  ["[a]({{ site.url }}.evil.test/)", syntaxes.liquid],
  ["[a]({{ '//evil.test' | relative_url }})", syntaxes.liquid],
  ["[a](https://known.test{{< param title >}}/)", syntaxes.hugo],
  ["See https://known.test{{< param title >}}/.", syntaxes.hugo],
  ["{{% param title %}}.evil.test", syntaxes.hugo],
])("joins nothing with what a template stands for: %s", (text, syntax) => {
  expect(read(text, syntax).forms).not.toEqual([]);
});

it.each([
  ["{ text: 'A', link: '/a' }", "{ text: 'B', link: '/b' },\n    { text: 'C', link: '/c' }", true],
  ["{ text: 'A', link: '/a' }", "{ text: run(), link: '/a' }", false],
  ["{ text: 'A', link: '/a' }", "{ text: 'A' + run, link: '/a' }", false],
  ["{ text: 'A', link: '/a' }", "{ text: 'A', script: '/a' }", false],
  ["'plugin'", "'other-plugin'", false],
])("of a program, only entries of navigation are data: %s to %s", (before, after, isData) => {
  const restOf = (one: string) =>
    readPage(`export default define({\n  nav: [\n    ${one}\n  ],\n})\n`, syntaxes.docusaurusConfig).find(
      ({ kind }) => kind === "rest",
    )?.text;
  expect(restOf(before) === restOf(after)).toBe(isData);
});

it("reads lists of a sidebar as data, and no argument of a call", () => {
  const restOf = (one: string) =>
    readPage(one, { ...syntaxes.docusaurusConfig, kind: "navigation", path: "sidebars.js" })[0]?.text;
  const comment = "/** @type {import('a').Sidebars} */\n";
  expect(restOf(`${comment}module.exports = { docs: ['a'] };`)).toBe(
    restOf(`${comment}module.exports = { docs: ['a', 'b', { label: 'c', items: ['d'] }] };`),
  );
  expect(restOf("module.exports = load(1, 'a', 2);")).not.toBe(restOf("module.exports = load(1, 'b', 2);"));
});
