/**
 * The link forms that Emend resolves: one table for every builder. Targets use `.md`; a layout changes the extension.
 */

/** Pages by name, without extension. Each has a heading "Scopes" and a heading "Here". */
export const pages = [
  "index",
  "start",
  "guide/index",
  "guide/auth",
  "guide/keys",
  "guide/two words",
  "guide/deep/token",
  "guide/Mixed-Case",
  "guide/release-1.2",
  "guide/under_score",
  "guide/ünïcode",
  "lib/README",
  "lib/tools",
] as const;

export interface LinkCase {
  from: string;
  target: string;
}

function from(page: string, ...targets: string[]): LinkCase[] {
  return targets.map((target) => ({ from: page, target }));
}

/** Relative links, absolute links, files and fragments, each valid and broken. */
export const links: readonly LinkCase[] = [
  ...from("guide/auth", "keys.md", "./keys.md", "../start.md", "../index.md", "index.md", "deep/token.md"),
  ...from("guide/auth", "../guide/keys.md", "../../start.md", "missing.md", "../missing.md", "/missing.md"),
  ...from("guide/auth", "/start.md", "/guide/keys.md", "KEYS.md", "./release-1.2.md", "under_score.md"),
  ...from("guide/auth", "two%20words.md", "<two words.md>", "ünïcode.md", "Mixed-Case.md", "mixed-case.md"),
  ...from("guide/auth", "keys", "./keys", "../start", "..", "../", ".", "./", "deep/token", "deep/token/", "keys/"),
  ...from("guide/auth", "../keys", "../keys/", "../../start", "../../start/", "missing", "./missing", "../missing"),
  ...from("guide/auth", "keys.html", "../start.html", "./missing.html", "release-1.2", "two%20words", "mixed-case"),
  ...from("guide/auth", "/", "/start", "/start/", "/start.html", "/guide", "/guide/", "/guide/index", "/index.html"),
  ...from("guide/auth", "/guide/keys", "/guide/keys/", "/guide/keys.html", "/guide/index.html", "/guide/KEYS"),
  ...from("guide/auth", "/missing", "/missing/", "/guide/missing", "/guide/release-1.2", "/guide/Mixed-Case"),
  ...from("guide/auth", "/guide/two%20words", "/guide/ünïcode", "/guide/under_score", "/lib/tools", "/lib", "/lib/"),
  ...from("guide/auth", "/lib/README", "../lib/README.md", "../lib/", "../lib"),
  ...from("guide/auth", "keys.md#scopes", "keys.md#Scopes", "keys.md#nowhere", "keys.md?x=1#scopes", "keys.md#"),
  ...from("guide/auth", "#here", "#Here", "#nowhere", "#", "#top", "?x=1", "?x=1#here", "/guide/keys#scopes"),
  ...from("guide/auth", "/guide/keys#nowhere", "keys#scopes", "./keys/#scopes", "../start.md#scopes", "auth.md#here"),
  ...from("guide/auth", ".#here", ".#nowhere", "./#here", "./#nowhere", "..#here", "../#here", "../#nowhere"),
  ...from("guide/auth", "/notes.txt", "/missing.txt", "notes.txt", "missing.txt", "../guide/notes.txt"),
  ...from("guide/auth", "//example.org/x", "mailto:a@example.org", "https://example.org/x"),
  ...from(
    "index",
    "start.md",
    "./start.md",
    "guide/index.md",
    "guide/keys.md",
    "start",
    "./guide/",
    "guide",
    "missing",
  ),
  ...from("guide/index", "keys.md", "../start.md", "keys", "./keys", "../start", "guide/keys", "auth/", "deep/token"),
  ...from("guide/deep/token", "../keys.md", "../../start.md", "../../../start.md", "../keys", "../../start"),
  ...from(
    "guide/deep/token",
    "../../../start",
    "../../keys",
    "../",
    "../..",
    "token",
    "./token.md",
    "/guide/deep/token",
  ),
  ...from("lib/README", "tools.md", "tools", "./tools", "../start.md", "lib/tools"),
];

const commonHeadings: readonly string[] = [
  "Plain words",
  "8. FAQ / Debug Guide",
  "C++ & C#",
  "Q&A",
  "R & D",
  "What's new?",
  "It’s “quoted”",
  "Don't / won't",
  "@scope/package",
  "#1 choice",
  "Foo — bar",
  "Foo – bar",
  "Foo - bar",
  "Foo -- bar",
  "a.b.c",
  "v1.2.3 (beta)",
  "`code_span` and **bold_text**",
  "`GET /users/:id`",
  "snake_case name",
  "__init__",
  "  Extra   spaces  ",
  "Ünïcödé straße",
  "日本語の見出し",
  "Привет, мир",
  "Emoji 🚀 rocket",
  "100% sure",
  "$100 + tax = total",
  "Colon: subtitle",
  "a/b/c",
  "camelCase & PascalCase",
  "[Link text](https://example.org)",
  "![alt](/d.png) Image",
  "Trailing punctuation!",
  "...dots...",
  "-leading dash",
  "Tab\\_escaped \\*star\\*",
  "&amp; entity &lt;tag&gt;",
  "1. Numbered",
  "2024-01-01",
  "Comma, separated; list",
  "Pipe | bar",
  "Tilde ~ and ^ caret",
  "Plain words",
  "Plain words",
  "plain words 1",
  "Plain words-1",
  "(parentheses) [brackets]",
  "CamelCase",
  "x".repeat(70),
  "N°1 ½ ²",
  "日本 and English",
  "iPhone® ™",
];

/** Headings that only some frameworks support. */
const specialHeadings: readonly { source: string; only: readonly string[] }[] = [
  { source: "Own id {#my-id}", only: ["mkdocs", "vitepress", "starlight", "docusaurus", "mintlify"] },
  { source: "Own id { #spaced-id }", only: ["mkdocs", "vitepress", "starlight"] },
  { source: "Own id {: #python-id }", only: ["mkdocs", "starlight"] },
  { source: 'Own id { id="attr-id" }', only: ["mkdocs", "vitepress", "starlight"] },
  {
    source: "Own id [#bracket-id]",
    only: ["mkdocs", "vitepress", "starlight", "docusaurus", "nextra", "mintlify", "fumadocs"],
  },
  { source: "{braces} stay", only: ["mkdocs", "vitepress", "starlight"] },
  { source: "\\{escaped} braces", only: ["docusaurus", "nextra", "mintlify", "fumadocs"] },
  {
    source: "<em>Tag</em> inside",
    only: ["mkdocs", "vitepress", "starlight", "docusaurus", "nextra", "mintlify", "fumadocs"],
  },
  {
    source: "Generic\\<T> type",
    only: ["mkdocs", "vitepress", "starlight", "docusaurus", "nextra", "mintlify", "fumadocs"],
  },
];

/** Headings whose ids differ between builders, in page order. */
export function headingsFor(framework: string): string[] {
  const special = specialHeadings.filter(({ only }) => only.includes(framework)).map(({ source }) => source);
  return [...commonHeadings, ...special];
}

/** Blocks that may create ids. Each is on its own page, so that its ids can be read from it. */
export const blocks: readonly { name: string; source: string; only?: readonly string[] }[] = [
  // Nextra's link component requires a target.
  {
    name: "a-id",
    source: '<a id="by-id"></a>\n\nText.',
    only: ["mkdocs", "vitepress", "starlight", "docusaurus", "mintlify"],
  },
  { name: "anchors", source: '<div id="in-div">\n\nText\n\n</div>\n\nText <span id="in-span">x</span>.' },
  {
    name: "names",
    source: 'Text <a name="by-name">x</a>.',
    only: ["mkdocs", "vitepress", "starlight", "docusaurus", "mintlify"],
  },
  { name: "footnotes", source: "Text[^1] and more[^note].\n\n[^1]: First.\n[^note]: Second." },
  { name: "setext", source: "Over line\n---------\n\nText.\n\nOver double\n===========\n\nText." },
  { name: "quoted", source: "> ## In a quote\n>\n> Text.\n\n- ## In a list\n\n  Text." },
  { name: "levels", source: "## Two\n\n### Three\n\n#### Four\n\n##### Five\n\n###### Six" },
  { name: "code", source: "```md\n## Not a heading\n```\n\n    ## Nor this\n\n~~~\n## Nor that\n~~~" },
  { name: "closed", source: "## Closed ##\n\n##No space\n\n## Escaped \\#" },
  {
    name: "mdx-id",
    source: "## Title {/* #mdx-id */}\n\nText.",
    only: ["docusaurus", "nextra", "mintlify", "fumadocs"],
  },
  {
    name: "plain-id",
    source: "## Title {#plain-id}\n\nText.",
    only: ["docusaurus", "vitepress", "mkdocs", "mintlify", "docsify"],
  },
  { name: "colon-id", source: "## Title :id=colon-id\n\nText.\n\n## Number :id=1-x", only: ["docsify"] },
  { name: "bracket-id", source: "## Title [#bracket-id]\n\nText." },
  {
    name: "list-ids",
    source: 'Paragraph.\n{: #para-id }\n\n## Title { #spaced .class }\n\n## Quoted { id="quoted-id" }',
    only: ["mkdocs"],
  },
  {
    name: "attr-ids",
    source: "## Title {#spaced .class}\n\n## Quoted {id=quoted-id}\n\n### Last {.class}",
    only: ["vitepress"],
  },
  {
    name: "admonition",
    source: '!!! note "Title"\n\n    ## Inside\n\n    Text.\n\n=== "Tab one"\n\n    ## In tab',
    only: ["mkdocs"],
  },
  {
    name: "slashes",
    source: "/// note\n\n## Inside\n\nText.\n\n///\n\n//// tab | Name\n\n## In tab\n\n////",
    only: ["mkdocs"],
  },
  {
    name: "containers",
    source: "::: tip Title\n\n## Inside\n\n:::\n\n::: details More\n\n### Deeper\n\n:::",
    only: ["vitepress"],
  },
  {
    name: "admonitions",
    source: ":::note\n\n## Inside\n\n:::\n\n:::tip[Title]\n\n### Deeper\n\n:::",
    only: ["docusaurus", "starlight"],
  },
  { name: "details", source: "<details>\n<summary>More</summary>\n\n## Inside details\n\n</details>" },
  { name: "html-heading", source: '<h2 id="own">Own</h2>\n\n<h3>Without id</h3>' },
  {
    name: "jsx",
    source:
      '<Accordion title="How it works">\n\nText.\n\n</Accordion>\n\n<Tabs>\n<Tab title="npm install">\n\nText.\n\n</Tab>\n</Tabs>\n\n<Steps>\n<Step title="First step">\n\nText.\n\n</Step>\n</Steps>\n\n<Update label="2024-05-01">\n\nText.\n\n</Update>\n\n<Expandable title="Props">\n\nText.\n\n</Expandable>\n\n<Card title="A card" href="/start">\n\nText.\n\n</Card>',
    only: ["mintlify"],
  },
  {
    name: "params",
    source:
      '<ParamField body="user_id" type="string">\n\nText.\n\n</ParamField>\n\n<ParamField query="page[size]">\n\nText.\n\n</ParamField>\n\n<ResponseField name="created_at" type="string">\n\nText.\n\n</ResponseField>\n\n<ResponseField name="Data.items">\n\nText.\n\n</ResponseField>\n\n<ParamField header="X-Api-Key">\n\nText.\n\n</ParamField>',
    only: ["mintlify"],
  },
];
