import { expect, it } from "vitest";
import type { Syntax } from "./page-parts.ts";
import { readPage } from "./read-page.ts";

const fence = "```";
const template = (text: string) => text.replaceAll("$(", "$" + "{").replaceAll(")$", "}");

function read(text: string, syntax: Syntax = "mdx") {
  const parts = readPage(text, syntax);
  const of = (...kinds: readonly string[]) => parts.filter(({ kind }) => kinds.includes(kind));
  return {
    live: [...new Set(of("link", "unused").flatMap(({ hosts }) => hosts))],
    shown: of("sample").map(({ key }) => key),
    code: of("code").map(({ why }) => why),
  };
}

/** Everything that a rendered page could load or link to. */
const live = [
  "[x](https://evil.example/x)",
  "![x](//evil.example/x)",
  "![x][1]\n\n[1]: //evil.example/x",
  "<https://evil.example/x>",
  "See https://evil.example/x.",
  '<img src="https://evil.example/x" />',
  '<img src={"https://evil.example/x"} />',
  "<img src={`//evil.example/x`} />",
  '<img srcSet="a.png 1x, //evil.example/x 2x" />',
  '<base href="//evil.example/" />',
  '<meta httpEquiv="refresh" content="0;url=//evil.example/x" />',
  '<div style={{ background: "url(//evil.example/x)" }} />',
  '<a href="https&#58;//evil.example">x</a>',
  '<a href="https://ev%69l.example">x</a>',
  '<a href="https://known.test@evil.example/x">x</a>',
  "[x](https://evil\u3002example/x)",
  'export const name = "https://evil.example/x"\n\n<img src={name} />',
  'export const name = "\\x68ttps:\\u002f\\u002fevil.example/x"\n\n<img src={name} />',
  'export const site = { img: { src: "\\x2f\\x2fevil.example" } }\n\n<img {...site.img} />',
  `${fence}mermaid\nclick A "https://evil.example/x"\n${fence}`,
  `${fence}{image} https://evil.example/x.png\n${fence}`,
  `${fence}jsx live\n<img src="https://evil.example/x" />\n${fence}`,
  `${fence}sh https://evil.example\nls\n${fence}`,
  `${fence}mdx-code-block\n<img src="https://evil.example/x" />\n${fence}`,
];

it.each(live)("%s is live", (text) => {
  expect(read(text, /^<base|^<meta|^<https|^<img src=https/.test(text) ? "markdown" : "mdx").live).toEqual([
    "evil.example",
  ]);
});

/** Code that is only shown. It is not active, and its web addresses are reported. */
const shown: ReadonlyArray<readonly [string, readonly string[]]> = [
  [`${fence}sh\ncurl https://evil.example/x\n${fence}`, ["evil.example"]],
  ["Call `GET https://evil.example/x`.", ["evil.example"]],
  [
    `<Steps>\n  <Step>\n    ${fence}bash\n    curl https://evil.example\n    ${fence}\n  </Step>\n</Steps>`,
    ["evil.example"],
  ],
  ["{/* see https://evil.example */}", []],
  [`${fence}js\nconst a = 1; //this.name is set\n${fence}`, []],
  [`${fence}\nDATABASE_URL=postgres://user:word@db.evil.example:5432/docs\n${fence}`, []],
  ["Set `redis://cache.evil.example` first.", []],
  [`${fence}html Example\n<script src="//cdn.evil.example/x.js"></script>\n${fence}`, []],
  ["Run postgres://user@db.evil.example/x by hand.", []],
  ["export const a = 1 //this.name is set\n", []],
];

it.each(shown)("%s is shown", (text, named) => {
  expect(read(text)).toMatchObject({ live: [], shown: named });
});

it("reads Markdown as Markdown does, where it cannot be MDX", () => {
  const page = `Use <key> and {x}.\n\n${fence}sh\ncurl https://evil.example\n${fence}\n`;
  expect(read(page, "markdown")).toEqual({ live: [], shown: ["evil.example"], code: [] });
  expect(read(page, "mdx").code).toContain("a page that cannot be parsed as MDX");
});

/** What builders and browsers run. The table of orders has many more. */
it.each([
  '<img src={"https:/" + "/evil.example"} />',
  template("<a href={`https://known.test$(end)$/x`}>x</a>"),
  'export const Evil = ({ x }) => <img src={x} />\n\n<Evil x="a" />',
  "<img src={logo} />",
  '<img src={require("./a.png").default} />',
  "<Card {...rest} />",
  "{props.constructor}",
])("%s is code in MDX", (text) => {
  expect(read(text).code).not.toEqual([]);
});

it.each([
  'import logo from "./logo.png"\n\n<img src={logo} />',
  'export const name = "/img/a.png"\n\n<img src={name} />',
  'export const rows = [{ name: "a", href: "/a" }]\n\n<Table rows={rows} first={rows[0].name} />',
  '<Tabs items={["a", `b`]} style={{ color: "red" }} on={-1} isOpen />',
  "<Card title={<b>Hi</b>} />",
  "{props.title} {frontMatter.version}",
])("%s is content in MDX", (text) => {
  expect(read(text).code).toEqual([]);
});

it.each([
  `<img :src="'https:/' + '/evil.example'">`,
  `<div v-html="x"></div>`,
  `<script setup>\nconst name = "https:/" + "/evil.example"\n</script>`,
  "{{ $data.constructor }}",
  `{{ load("x") }}`,
])("%s is code in Markdown", (text) => {
  expect(read(text, "markdown").code).not.toEqual([]);
});

it.each([
  `<Badge :text="theme.name" :level="1 + 1 > 2 ? 'a' : 'b'" v-if="isNew" />`.replace("1 + 1", "2"),
  "<script setup>\nimport A from './a.vue'\nconst n = 1\n</script>",
  "{{ page.title | upper }} {{ $frontmatter.title }}",
  "Heading { #id .class }",
])("%s is content in Markdown", (text) => {
  expect(read(text, "markdown").code).toEqual([]);
});

it("tells code of the same shape by its harmless texts alone", () => {
  const shapeOf = (text: string) => readPage(text, "mdx").find(({ kind }) => kind === "code")?.key;
  expect(shapeOf('{useBaseUrl("/img/a.png")}')).toBe(shapeOf("{useBaseUrl('./b c.png')}"));
  expect(shapeOf('{require("./a.png")}')).not.toBe(shapeOf('{require("child_process")}'));
  expect(shapeOf('{load("/a")}')).not.toBe(shapeOf('{load("//evil.example/a")}'));
  expect(shapeOf('{load("/a")}')).not.toBe(shapeOf('{load("../../../a")}'));
});
