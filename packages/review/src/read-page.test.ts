import { expect, it } from "vitest";
import { readPage, type Syntax } from "./read-page.ts";

const fence = "```";

function read(text: string, syntax: Syntax = "mdx") {
  const parts = readPage(text, syntax);
  const of = (...kinds: readonly string[]) => parts.filter(({ kind }) => kinds.includes(kind));
  return {
    live: [...new Set(of("link", "unused").flatMap(({ hosts }) => hosts))],
    shown: of("sample").map(({ key }) => key),
    forms: of("form").map(({ key }) => key),
  };
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
  expect(read(text)).toEqual({ live: [], shown: named, forms: [] });
});

it("knows that Mintlify shows every word behind a language", () => {
  const sample = `${fence}bash cURL\ncurl /jobs\n${fence}`;
  expect(read(sample, "mdx mintlify").forms).toEqual([]);
  expect(read(sample, "mdx").forms).toHaveLength(1);
  expect(read(`${fence}jsx live\n<b1 />\n${fence}`, "mdx mintlify").forms).toHaveLength(1);
  expect(read(`${fence}js Set playground\na()\n${fence}`, "mdx mintlify").forms).toEqual([]);
});

it("takes a fence below a comment for code where comments end with their line", () => {
  const page = (comment: string) => `${comment}\n${fence}html\n<b1 x>\n${fence}`;
  expect(read(page("<!-- formatted by hand -->"), "markdown vue").forms.join(" ")).not.toContain("<b1 x>");
  for (const comment of ["<!-->\n<div>\n-->", "<!-- a\n-->", "<!-- a --> <div>", "<div>\n<!-- a -->"])
    expect(read(page(comment), "markdown vue").forms.join(" "), comment).toContain("<b1 x>");
  expect(read(page("<!-- formatted by hand -->"), "markdown liquid").forms.join(" ")).toContain("<b1 x>");
});

/** Where parsers disagree on what is code, nothing is taken for code from there on. */
it.each<readonly [string, Syntax]>([
  [`${fence}\na\n${fence}${"`"}\n<b1 x>\n${fence}`, "markdown vue"],
  [`${fence}\na\n ${fence}\n<b1 x>\n${fence}`, "markdown python"],
  [`- ${fence}html\n  a\n${fence}\n<b1 x>\n${fence}`, "markdown vue"],
  [`text\n    ${fence}html\n    <b1 x>\n    ${fence}`, "markdown vue"],
  [`> ${fence}\n> a\n\n<b1 x>\n\n> ${fence}`, "markdown vue"],
  [`<div>\n${fence}\n<b1 x>\n${fence}\n</div>`, "markdown commonmark"],
  [`<div>\n\n${fence}\n<b1 x>\n${fence}\n</div>`, "markdown liquid"],
  ["a ` b\n`<b1 x>`", "markdown vue"],
  ["\\`<b1 x>`", "markdown vue"],
  ["a ` <b1 x> `", "markdown liquid"],
  ["| a | b |\n|---|---|\n| `a | <b1 x>` |", "markdown vue"],
  ["\\<b1 x>", "markdown python"],
  ["a: `\nb <b1 x>`", "markdown python"],
  ["A.\n\n# a `\nb <b1 x>`", "markdown vue"],
  ["A.\n\n[a]: /b `\nb <b1 x>`", "markdown vue"],
  ["A.\n\na `b\n> c <b1 x>`", "markdown vue"],
  ["A.\n\n> a `b\nc <b1 x>`", "markdown vue"],
  ["A.\n\na `b\n- c <b1 x>`", "markdown vue"],
  ["A.\n\na `b | c\nd <b1 x>`", "markdown liquid"],
  ["A.\n\n*[a]: `\nb <b1 x>`", "markdown python"],
  ["A.\n\na `b\nc <b1 x>`\n: d", "markdown python"],
  [`A ${"`".repeat(150)} b ${"`".repeat(100)} <b1 x> ${"`".repeat(50)}`, "markdown vue"],
  ["A.\n\na `b\n(c)=\nd <b1 x>`", "markdown commonmark"],
])("%s has a live tag in %s", (text, syntax) => {
  expect(read(text, syntax).forms.join(" ")).toContain("<b1 x>");
});

it("tells a component by its name and the names of its literal attributes", () => {
  const { forms } = read('<Gizmo size="2" mood="good" onClick={x} />');
  expect(forms).toEqual(["<Gizmo>", "<Gizmo mood>", "<Gizmo onClick={x}>"]);
});

it("keeps the whole text of a construct, however long it is", () => {
  const script = `<script>${"a();\n".repeat(2_000)}</script>`;
  expect(read(`${script}\n`, "markdown vue").forms).toEqual([script]);
});

it.each<readonly [string, Syntax, readonly string[]]>([
  ["See [a]({{ site.baseurl }}/guide) and [b]({{ '/x' | relative_url }}).", "markdown liquid", []],
  [
    'Go {{< param versions.go >}}, [a]({{< ref "a.md" >}}#b), https://known.test/{{< param "version" >}}/x.',
    "markdown hugo",
    [],
  ],
  ["[a]({{ site.url }}.evil.test/)", "markdown liquid", ["({{ site.url }}.evil.test/)", "(.evil.test/)"]],
  ["[a]({{ '//evil.test' | relative_url }})", "markdown liquid", ["({{ '//evil.test' | relative_url }})"]],
  ["[a](https://known.test{{< param title >}}/)", "markdown hugo", ["(https://known.test{{< param title >}}/)"]],
  ["See https://known.test{{< param title >}}/.", "markdown hugo", ["{{< param title >}}"]],
  ["{{% param title %}}.evil.test", "markdown hugo", ["{{% param title %}}"]],
])("joins nothing with what a template stands for: %s", (text, syntax, forms) => {
  expect(read(text, syntax).forms).toEqual(forms);
});

it.each([
  ["export default config;", true],
  ["module.exports = config", true],
  ["export default make(config);", false],
  ["export default other;", false],
])("knows the navigation of a configuration with a name only where it is exported: %s", (end, isKnown) => {
  const of = (label: string) => {
    const items = `[{ label: '${label}', to: '/a' }]`;
    const config = `const config: Config = { title: 'Docs', themeConfig: { navbar: { items: ${items} } } };\n${end}\n`;
    return readPage(config, "configuration docusaurus.config.ts").find(({ kind }) => kind === "rest");
  };
  expect(JSON.stringify(of("A")) === JSON.stringify(of("B"))).toBe(isKnown);
});

it("a configuration that is nested too deeply leaves the next ones readable", () => {
  const nested = `export default ${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const [kept] = readPage(nested, "configuration docusaurus.config.ts");
  expect(kept).toMatchObject({ kind: "rest" });
  const items = "[{ label: 'A', to: 'https://evil.example/x' }]";
  const config = `export default { themeConfig: { navbar: { items: ${items} } } } satisfies Config;\n`;
  expect(read(config, "configuration docusaurus.config.ts").live).toEqual(["evil.example"]);
});
