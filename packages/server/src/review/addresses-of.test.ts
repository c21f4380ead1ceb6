import { describe, expect, it, test } from "vitest";
import { addressesOf } from "./addresses-of.ts";
import { openPageReader } from "./page-reader.ts";
import type { Syntax } from "./page-reading.ts";
import { unkeptThreads } from "./page-threads.ts";
import { parsePage } from "./parse-page.ts";

const fence = "```";
const read = (text: string, syntax: Syntax = "mdx") => addressesOf(text, parsePage(text, syntax));
const template = (text: string) => text.replaceAll("$(", "$" + "{").replaceAll(")$", "}");

/** Whatever a rendered page could load from or link to. */
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
  'import x from "https://evil.example/x.js"\n',
  `${fence}mermaid\nclick A "https://evil.example/x"\n${fence}`,
  `${fence}{image} https://evil.example/x.png\n${fence}`,
  `${fence}jsx live\n<img src="https://evil.example/x" />\n${fence}`,
  `${fence}sh https://evil.example\nls\n${fence}`,
  // Code for MDX, and a picture for a reader of Markdown.
  `<div>\n${fence}sh\n<img src="https://evil.example/x" />\n${fence}\n</div>`,
  // Taken out first, as some readers of MDX do, the comment takes the end of the first block with it.
  `${fence}html\n<!--\n${fence}\n\nSee [x](https://evil.example/x)\n\n${fence}\n-->\n${fence}`,
  `<!--\n${fence}\n-->\n\nSee https://evil.example/x\n\n<!--\n${fence}\n-->`,
];

it.each(live)("%s is live", (text) => {
  expect([...read(text).live]).toEqual(["evil.example"]);
});

/** Code that is shown: not live, and told where it spells an address of the web out. */
const shown: ReadonlyArray<readonly [string, readonly string[]]> = [
  [`${fence}sh\ncurl https://evil.example/x\n${fence}`, ["evil.example"]],
  ["Call `GET https://evil.example/x`.", ["evil.example"]],
  [
    `<Steps>\n  <Step>\n    ${fence}bash\n    curl https://evil.example\n    ${fence}\n  </Step>\n</Steps>`,
    ["evil.example"],
  ],
  ["{/* see https://evil.example */}", ["evil.example"]],
  [`${fence}js\nconst a = 1; //this.name is set\n${fence}`, []],
  [`${fence}\nDATABASE_URL=postgres://user:word@db.evil.example:5432/docs\n${fence}`, []],
  ["Set `redis://cache.evil.example` first.", []],
  [`${fence}html Example\n<script src="//cdn.evil.example/x.js"></script>\n${fence}`, []],
  ["Run postgres://user@db.evil.example/x by hand.", []],
  ["export const a = 1 //this.name is set\n", []],
];

it.each(shown)("%s is shown", (text, named) => {
  expect([...read(text).live]).toEqual([]);
  expect([...read(text).shown]).toEqual(named);
});

it("reads Markdown as Markdown does, where it cannot be MDX", () => {
  const page = `Use <key> and {x}.\n\n${fence}sh\ncurl https://evil.example\n${fence}\n`;
  expect([...read(page, "markdown").live]).toEqual([]);
  expect([...read(page, "mdx").live]).toEqual(["evil.example"]);
  expect([...read(`${page}\n    indented https://evil.example\n`, "markdown").live]).toEqual(["evil.example"]);
});

/** Addresses that a page's code puts together. */
const built = [
  '<img src={"https:/" + "/evil.example"} />',
  template("<a href={`https:/$(slash)$evil.example`}>x</a>"),
  template("<a href={`https://known.test$(end)$/x`}>x</a>"),
  '<img srcSet={["https:", "", "evil.example"].join("/")} />',
  '<video poster={atob("Ly9ldmls")} />',
  'export const name = "https:/" + "/evil.example"\n\n<img src={name} />',
  'export const a = "https:/"\nexport const b = "/evil.example"\n\n<img src={a + b} />',
  'export const name = ["//ev", "il.example"].join("")\n\n<Card img={name} />',
  'export const to = (x) => "https://" + x\n\n<a href={to("evil.example")}>x</a>',
  'export const name = "x".replace("x", "//evil.example")\n\n<img {...{ src: name }} />',
  '<div style={{ background: "url(" + evil + ")" }} dangerouslySetInnerHTML={{ __html: "<img src=" + evil + ">" }} />',
  "export const go = () => fetch(String.fromCharCode(47, 47, 101))\n",
  'export const go = () => { location.href = "//" + evil }\n',
  'export const Evil = ({ x }) => <img src={x} />\n\n<Evil x={"//" + "evil.example"} />',
];

it.each(built)("%s cannot be read", (text) => {
  expect(read(text).unreadable).not.toEqual([]);
});

it.each([
  "<img src={logo} />",
  'import logo from "./logo.png"\n\n<img src={logo} />',
  'export const name = "/img/a.png"\n\n<img src={name} />',
  '<img src={useBaseUrl("/img/a.png")} />',
  '<img src={require("./a.png").default} />',
  '<a href={"/guides/" + name}>x</a>',
  template("<a href={`/users/$(id)$`}>x</a>"),
  template("<a href={`https://example.com/users/$(id)$`}>x</a>"),
  template("<div className={`$(a)$ $(b)$`} />"),
  template(
    'export const Tag = ({ kind, children }) => <b className={`tag $(kind)$`}>{children}</b>\n\n<Tag kind="new" href={x}>Hi</Tag>',
  ),
  "export const Sum = ({ a }) => <b>{a + 1}</b>\n",
  'export const rows = [{ name: "a", href: "/a" }]\n\n{rows.map((row) => <a href={row.href}>{row.name}</a>)}',
])("%s can be read", (text) => {
  expect(read(text).unreadable).toEqual([]);
});

describe("in Markdown that Vue renders", () => {
  it.each([
    `<img :src="'https:/' + '/evil.example'">`,
    `<div v-html="'<img src=' + x + '>'"></div>`,
    `<script setup>\nconst name = "https:/" + "/evil.example"\n</script>\n\n<img :src="name">`,
  ])("%s cannot be read", (text) => {
    expect(read(text, "markdown").unreadable).not.toEqual([]);
  });

  it.each([
    `<img :src="withBase('/a.png')">`,
    `<a :href="'/guides/' + name">x</a>`,
    "<script setup>\nimport A from './a.vue'\n</script>",
  ])("%s can be read", (text) => {
    expect(read(text, "markdown").unreadable).toEqual([]);
  });
});

test("a page that keeps the parser busy, or is too large for it, counts whole", async () => {
  const reader = openPageReader(unkeptThreads, { pageMsMax: 1 });
  const page = `${fence}sh\ncurl https://evil.example\n${fence}\n`;
  expect(await reader.read("a.mdx", page)).toBeNull();
  expect(await reader.read("a.mdx", page + " ".repeat(2 ** 20))).toBeNull();
  expect(await reader.read("a.json", page)).toBeNull();
  await reader.close();
  expect([...addressesOf(page, null).live]).toEqual(["evil.example"]);
});

test("pages are read one after the other, each with its own answer", async () => {
  const reader = openPageReader();
  const pages = ["`a`", "`a` `b`", "none"];
  const readings = await Promise.all(pages.map((text) => reader.read("a.md", text)));
  expect(readings.map((reading) => reading?.code.length)).toEqual([1, 2, 0]);
  await reader.close();
});
