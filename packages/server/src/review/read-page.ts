import { parse as parseScript } from "acorn";
import { type TokenHandler, Tokenizer, TokenizerMode } from "parse5";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkMdx from "remark-mdx";
import remarkParse from "remark-parse";
import { parse as parseToml } from "smol-toml";
import { unified } from "unified";
import { parse as parseYaml } from "yaml";
import { hostsIn } from "../hosts/hosts-in.ts";
import * as code from "./page-code.ts";
import { collectParts, type Part, type Parts, type Syntax } from "./page-parts.ts";

interface Node {
  type: string;
  children?: readonly Node[];
  position?: { start: { offset?: number }; end: { offset?: number } };
  value?: unknown;
  url?: string;
  identifier?: string;
  lang?: string | null;
  meta?: string | null;
  name?: string | null;
  attributes?: readonly Node[];
  data?: { estree?: code.ScriptNode };
}

const markdown = unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter, ["yaml", "toml"]);
const mdx = markdown().use(remarkMdx).freeze();

/** Parses a page with the parsers that builders use. Nothing is evaluated. */
export function readPage(text: string, syntax: Syntax): readonly Part[] {
  const parts = collectParts();
  if (syntax === "markup") {
    readMarkup(parts, text);
    if (/<!ENTITY|<\?xml-stylesheet/i.test(text)) parts.code("<!ENTITY", "a document type with entities", 0);
  } else if (syntax === "rst" || syntax === "asciidoc") {
    code.readDirectives(parts, text, text, syntax);
    readPlain(parts, text);
  } else readMarkdown(parts, text, syntax);
  return parts.all;
}

/**
 * Text in a format without a parser here: every address counts, and so does everything that looks like running code.
 */
function readPlain(parts: Parts, text: string): void {
  for (const line of text.matchAll(/[^\n]+/g)) {
    for (const host of hostsIn(line[0])) parts.address(`//${host}`, line.index);
    for (const [scheme] of line[0].matchAll(/\b(?:javascript|vbscript|data(?=:\w+\/)|file):(?=[^\s`])/gi))
      parts.code(scheme, `a ${scheme} address`, line.index);
  }
}

function readMarkdown(parts: Parts, text: string, syntax: "markdown" | "mdx"): void {
  const [, language] = /^---+[ \t]*(\S+)/.exec(text) ?? [];
  if (language && !/^(?:ya?ml|toml|json|-+)$/.test(language)) parts.code(`---${language}`, "front matter that runs", 0);
  const asMdx = syntax === "mdx" ? parsed(() => mdx.parse(lenient(text)) as Node) : null;
  if (syntax === "mdx" && asMdx === null) {
    parts.code("unreadable", "a page that cannot be parsed as MDX", 0);
    for (const { 0: source, index } of text.matchAll(/\{[^{}\n]{0,500}\}/g)) parts.code(source, "an expression", index);
  }
  const nodes = [asMdx ?? (markdown.parse(text) as Node)];
  for (const node of nodes) nodes.push(...(node.children ?? []));
  const used = new Set(nodes.filter(({ type }) => type.endsWith("Reference")).map(({ identifier }) => identifier));
  const modules = nodes.filter(({ type }) => type === "mdxjsEsm").flatMap(({ data }) => data?.estree ?? []);
  const names = code.namesIn(modules);
  for (const module of modules) readScript(parts, module, { text, names });
  for (const node of nodes) readNode(parts, node, { text, names, used });
  code.readDirectives(parts, withoutSamples(text, nodes), text, syntax);
}

function readNode(parts: Parts, node: Node, { text, names, used }: Script & { used: ReadonlySet<unknown> }): void {
  const [at, end] = [node.position?.start.offset ?? 0, node.position?.end.offset];
  const value = typeof node.value === "string" ? node.value : "";
  switch (node.type) {
    case "link":
    case "image":
      return void parts.address(node.url ?? "", at, { loads: node.type === "image" });
    case "definition":
      return void parts.address(node.url ?? "", at, { kind: used.has(node.identifier) ? "link" : "unused" });
    case "html":
      return void readMarkup(parts, value, at);
    case "text":
      // Markdown parsers disagree on what a tag is.
      if (/<[a-z][^<]*[=/]/i.test(value)) readMarkup(parts, text.slice(at, end).replaceAll("\\<", "  "), at);
      return;
    case "yaml":
    case "toml":
      return void readFrontMatter(parts, value, { kind: node.type, page: text });
    case "inlineCode":
      return void parts.sample(value, at);
    case "code":
      return void readFence(parts, node, value, { at, isFenced: /[`~]/.test(text[at] ?? "") });
    case "mdxJsxFlowElement":
    case "mdxJsxTextElement":
      if (runningTag.test(node.name ?? "")) parts.code(node.name ?? "", `a <${node.name}> element`, at);
      for (const { name, value: given, data } of node.attributes ?? []) {
        const program = data?.estree ?? (given as Node | null | undefined)?.data?.estree;
        if (program) readScript(parts, program, { text, names });
        const [first] = code.nodesIn(program?.body).map((one) => one.expression as { value?: unknown } | undefined);
        readAttribute(parts, name ?? "", String((program ? first?.value : given) ?? " "), { at, isJsx: true });
      }
      return;
    case "mdxFlowExpression":
    case "mdxTextExpression":
      if (node.data?.estree) readScript(parts, node.data.estree, { text, names });
  }
}

interface Script {
  text: string;
  names: ReadonlySet<string>;
  offset?: number;
}

/** An MDX expression, or the statements of a page or a component's script. */
function readScript(parts: Parts, program: code.ScriptNode, { text, names, offset = 0 }: Script): void {
  for (const statement of code.nodesIn(program.body)) {
    const at = offset + statement.start;
    if (statement.type !== "ExpressionStatement") code.readStatement(parts, statement, { source: text, names, at });
    else if (!code.isContent(statement, names))
      parts.code(text.slice(statement.start, statement.end), "an expression that is not a literal", at);
    for (const node of code.nodesBelow(statement)) {
      if (node.type === "JSXAttribute") {
        const { name } = node.name as { name?: unknown };
        const literal = code.isNode(node.value) ? (node.value.value ?? " ") : "";
        readAttribute(parts, String(name), String(literal), { at, isJsx: true });
      }
      const written = node.type === "TemplateElement" ? (node.value as { cooked?: string }).cooked : node.value;
      if (typeof written === "string" && node.type !== "JSXText" && node !== statement.source) parts.value(written, at);
    }
  }
}

function readFence(parts: Parts, node: Node, value: string, { at, isFenced }: { at: number; isFenced: boolean }): void {
  const [lang, meta] = [node.lang ?? "", node.meta ?? ""];
  // Docusaurus treats this block as part of the page.
  if (lang === "mdx-code-block") return void readMarkdown(parts, value, "mdx");
  const kind = code.fenceOf(lang, meta);
  if (kind === "runs") parts.code(`${lang} ${meta}\n${value}`, `a block that runs (${lang} ${meta})`, at);
  if (isFenced && kind === "shown") parts.sample(value, at);
  else parts.value(value, at);
  parts.value(meta, at);
}

/** Front matter keys that add scripts to a page's head. */
const headKeys = /^(?:head|scripts?|javascripts?|extra_javascript|styles?|stylesheets?|hooks)$/i;

function readFrontMatter(parts: Parts, text: string, { kind, page }: { kind: "yaml" | "toml"; page: string }): void {
  if (/(?:^|\s)!!?(?:python|js|ruby|php)\b/m.test(text)) parts.code(text, "front matter that runs", 0);
  if (text.includes("<") && /\{\{(?!\s*[<%])|\{%/.test(page)) parts.code(text, "markup that a template could show", 0);
  const fields = parsed(() => (kind === "yaml" ? parseYaml(text, { logLevel: "silent" }) : parseToml(text)) as unknown);
  if (fields === null) return void parts.value(text, 0);
  JSON.stringify(fields, (key, value) => {
    if (headKeys.test(key)) parts.code(`${key}: ${JSON.stringify(value)}`, `${key} in the front matter`, 0);
    if (typeof value === "string") parts.value(value, 0);
    return value;
  });
}

/** Elements whose content is not markup. */
const rawModes: Readonly<Record<string, number>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  textarea: TokenizerMode.RCDATA,
  title: TokenizerMode.RCDATA,
};

/** Parses HTML with a browser's tokenizer, independent of the text around it. */
function readMarkup(parts: Parts, text: string, offset = 0): void {
  const others = ["EndTag", "Comment", "Eof", "Character", "NullCharacter", "WhitespaceCharacter"] as const;
  const ignored = Object.fromEntries(others.map((name) => [`on${name}`, () => undefined])) as unknown as Omit<
    TokenHandler,
    "onStartTag" | "onDoctype"
  >;
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag({ tagName, attrs, selfClosing, location }) {
        const at = offset + (location?.startOffset ?? 0);
        const isRaw = tagName in rawModes && !selfClosing;
        const [body = ""] = isRaw ? text.slice(location?.endOffset).split(new RegExp(`</${tagName}`, "i"), 1) : [];
        // A component's script may import and declare, like an MDX page.
        const isSetup = tagName === "script" && attrs.some(({ name }) => name === "setup");
        const program = isSetup
          ? parsed(() => parseScript(body, { ecmaVersion: "latest", sourceType: "module" }))
          : null;
        const script = program as code.ScriptNode | null;
        if (script) readScript(parts, script, { text: body, names: code.namesIn([script]), offset: at });
        else if (runningTag.test(tagName)) {
          const written = text.slice(location?.startOffset, location?.endOffset) + body;
          parts.code(written, `a <${tagName}> element`, at);
        }
        for (const { name, value } of attrs) readAttribute(parts, name, value, { at });
        if (tagName === "style") parts.value(body, at);
        if (isRaw) {
          tokenizer.state = rawModes[tagName] as typeof tokenizer.state;
          tokenizer.lastStartTagName = tagName;
        }
      },
      onDoctype({ location }) {
        const written = text.slice(location?.startOffset, location?.endOffset);
        if (written.includes("[")) parts.code(written, "a document type with entities", offset);
      },
      ...ignored,
    },
  );
  tokenizer.write(text, true);
}

const runningTag = /^(?:.*:)?(?:script|base|applet|frame|frameset|portal|handler)$/i;
/** Attributes that hold one address; those that only link; and names without a special meaning in any framework. */
const addressed =
  /^(?:href|src|action|formaction|poster|background|cite|manifest|longdesc|codebase|classid|profile|data|xlink:href|.+(?:url|uri|href|src))$/;
const linked = /(?:href|cite|url|uri)$/;
const plainName =
  /^(?!v-(?!pre$|cloak$|once$|else$|slot)|x-(?:data|init|on|bind|html|effect)|bind:)[a-z_#][\w.-]*(?::[\w.-]*)?$/;
/** `once` and `only` are not events. */
const runningName =
  /^(?:on:.*|on(?!ce$|ly$|e$|line$)[a-z]{3,}|srcdoc|v-html|v-text|innerhtml|outerhtml|dangerouslysetinnerhtml|html|set:html|http-?equiv)$/;

function readAttribute(parts: Parts, name: string, value: string, { at, isJsx }: { at: number; isJsx?: true }): void {
  const plain = name.toLowerCase();
  if (runningName.test(plain)) return void parts.code(`${name}="${value}"`, `the attribute ${name}`, at);
  if (!isJsx && /\{\{|\{%|<%/.test(name + value)) parts.code(`${name}="${value}"`, "a template tag inside a tag", at);
  else if (!isJsx && !plainName.test(plain) && value !== "") return void code.readTemplateExpression(parts, value, at);
  if (addressed.test(plain)) return void parts.address(value, at, { loads: !linked.test(plain) });
  // Browsers drop these characters inside an address.
  for (const read of new Set([value, value.replaceAll(/[\t\r\n]/g, "")])) parts.value(read, at);
}

function parsed<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Heading ids and HTML comments, which some MDX parsers accept by rewriting them first, replaced by blanks. */
function lenient(text: string): string {
  return text
    .replace(/^(#{1,6}[^\n]*?)([ \t]*\{#[\w.:-]+\}[ \t]*)$/gm, (_, head: string, id: string) => head + blank(id))
    .replace(/<!--[\s\S]*?-->/g, blank);
}

/** Samples are replaced by blanks, so that offsets stay the same. */
function withoutSamples(text: string, nodes: readonly Node[]): string {
  const samples = nodes
    .filter(({ type }) => type === "code" || type === "inlineCode")
    .flatMap(({ position }) => position ?? []);
  const places = samples.map(({ start, end }) => [start.offset ?? 0, end.offset ?? 0] as const);
  let [rest, from] = ["", 0];
  for (const [start, end] of places.sort((a, b) => a[0] - b[0])) {
    rest += text.slice(from, start) + blank(text.slice(start, end));
    from = end;
  }
  return rest + text.slice(from);
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}
