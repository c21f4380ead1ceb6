import type { Parts, Syntax } from "./page-parts.ts";

/** A node of a page's code, in ESTree form. */
export interface ScriptNode {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

const contentTypes =
  /^(?:Program|ExpressionStatement|ChainExpression|ArrayExpression|ObjectExpression|Property|Literal|TemplateLiteral|TemplateElement|UnaryExpression|MemberExpression|Identifier|JSX\w+)$/;
/** `__class__`, `constructor` and similar properties give access to everything from any value. */
const internal = /^_|_$|^(?:constructor|prototype|mro|globals)$/;

/** Whether an MDX expression consists of literals, markup and names that the page defines. */
export function isContent(node: ScriptNode, names: ReadonlySet<string>): boolean {
  const { type, kind = "init", computed, method, operator, regex, expressions, name } = node;
  if (!contentTypes.test(type) || kind !== "init" || method || operator === "delete" || regex) return false;
  if (type === "TemplateLiteral" && (expressions as unknown[]).length > 0) return false;
  if (type === "Identifier") return names.has(String(name)) && !internal.test(String(name));
  const word = type === "Property" ? node.key : type === "MemberExpression" ? node.property : null;
  if (isNode(word) && (computed ? typeof word.value !== "number" : internal.test(String(word.name ?? word.value))))
    return false;
  return childrenOf(node).every((child) => child === word || isContent(child, names));
}

/** The names that MDX gives every page, and those that the page's statements define. */
export function namesIn(modules: readonly ScriptNode[]): ReadonlySet<string> {
  const names = new Set(["props", "frontMatter", "frontmatter", "children", "undefined"]);
  for (const node of modules.flatMap(nodesBelow)) {
    const id = node.local ?? (node.type === "VariableDeclarator" ? node.id : null);
    if (isNode(id) && typeof id.name === "string") names.add(id.name);
  }
  return names;
}

/** Packages of docs frameworks. Their modules only render. */
const frameworkModules =
  /^(?:@theme(?:-original)?|@docusaurus|@astrojs\/starlight|nextra(?:-theme-docs)?|vitepress|fumadocs-ui|@mintlify|@rspress\/core|rspress)(?:\/[\w/-]*)?$/;
/** An image, a page, or a component of the repository. */
const importable =
  /^(?:\.{1,2}\/|\/|@site\/|@\/|~\/)[^!?]*\.(?:mdx?|png|jpe?g|gif|webp|avif|svg|mp4|webm|pdf|jsx|tsx|vue|svelte|astro)$/i;

/** One import or declaration, in an MDX page or in a component's script. */
export function readStatement(
  parts: Parts,
  statement: ScriptNode,
  { source, names, at }: { source: string; names: ReadonlySet<string>; at: number },
): void {
  const from = isNode(statement.source) ? String(statement.source.value) : null;
  const written = source.slice(statement.start, statement.end);
  if (from === null) {
    const declared = isNode(statement.declaration) ? statement.declaration : statement;
    const values = nodesIn(declared.declarations).flatMap((one) => nodesIn(one.init));
    const isPlain = declared.type === "VariableDeclaration" && values.every((value) => isContent(value, names));
    if (!isPlain) parts.code(written, "code", at);
  } else if (statement.type !== "ImportDeclaration") parts.code(written, "a re-export", at);
  else if (importable.test(from)) parts.include(from, at);
  // Compared by its source alone: it does not matter which names a page imports from a module that other pages import
  // too.
  else if (!frameworkModules.test(from)) parts.code(`import ${from}`, `the import ${written.slice(0, 200)}`, at);
}

export function nodesBelow(root: ScriptNode): readonly ScriptNode[] {
  const nodes = [root];
  for (const node of nodes) nodes.push(...childrenOf(node));
  return nodes;
}

function childrenOf(node: ScriptNode): readonly ScriptNode[] {
  return Object.entries(node).flatMap(([field, value]) => (field === "comments" ? [] : nodesIn(value)));
}

export function nodesIn(value: unknown): readonly ScriptNode[] {
  return [value].flat().filter(isNode);
}

export function isNode(value: unknown): value is ScriptNode {
  return typeof value === "object" && value !== null && typeof (value as ScriptNode).type === "string";
}

const operand =
  "(?:not\\s+|[!-]\\s*)*(?:\"[^\"\\\\]*\"|'[^'\\\\]*'|[\\d.]+|(?:[a-z$][\\w$-]*)(?:\\??\\.[a-z][\\w$-]*|\\[\\d+\\])*)";
const operator = "\\s*(?:[=!]==?|[<>]=?|&&|\\|\\|?|\\?\\??|:|,|\\b(?:in|is|and|or|if|else|of)\\b)\\s*";
const templateExpression = new RegExp(`^\\s*(?:${operand}(?:${operator}${operand})*)?,?\\s*$`, "i");
/** Global names that a template must not read. */
const outerNames =
  /(?<![\w$.-])(?:process|global|globalThis|window|self|document|env|environ|environment|os|config|import|require|this)\b|(?:\b_|[a-z0-9]_\b|\b(?:constructor|prototype|mro|globals)\b)/i;

/**
 * An expression of Vue, Jinja, Liquid, Nunjucks or Handlebars. Allowed: names, literals, comparisons, and filters
 * without arguments.
 */
export function readTemplateExpression(parts: Parts, source: string, at: number): void {
  // A list or object is safe if its elements are. An index is not.
  const bare = source.replaceAll(/(?<![\w$\])"'.]\s*)[[{]|[\]}](?=\s*(?:[,:?|&=\]}]|$))/g, " ");
  const words = bare.replaceAll(/"[^"]*"|'[^']*'/g, "0");
  if (!templateExpression.test(bare) || outerNames.test(words)) {
    parts.code(source, "an expression that is not a literal or a name", at);
  } else parts.value(source, at);
}

/**
 * How builders include another file in a page: Markdown snippets, VitePress, mdBook, FastAPI, Sphinx, AsciiDoc,
 * templates.
 */
const includes: readonly RegExp[] = [
  /--8<--[ \t]+["']([^"'\n]+)["']/g,
  /\{!\s*([^\s!]+)\s*!\}/g,
  /\{\*\s+(\S+)[^*\n]*\*\}/g,
  /<!--\s*@include:\s*([^\s{}>]+)/g,
  /^<<<\s*(\S+)/gm,
  /\{\{\s*#(?:rustdoc_)?(?:include|playground)\s+([^\s:}]+)/g,
  /^\s*(?:\.\.\s+|[`~:]{3,}\{)(?:include|literalinclude|mdinclude|csv-table|raw)(?:::|\})[ \t]*([^\s<]\S*)/gm,
  /^\s*:(?:file|url|start-after-file):\s*(\S+)/gm,
  /(?:^|\s)include::([^\s[\]]+)\[/gm,
  /\{%-?\s*(?:include|include_relative|include-markdown|include_file|import|from|extends)\s+["']?([\w@./-]+)/g,
  /^\s*[`~]{3,}[^\n`]*\s(?:file|src)=["']?([^\s"']+)/gm,
];
const includeBlock = /^[ \t]*--8<--[ \t]*\n([\s\S]*?)^[ \t]*--8<--[ \t]*$/gm;

/** Directives of Sphinx, docutils and MyST that only format text. Others may import, run or fetch. */
const directives = new Set(
  `admonition attention caution danger error hint important note tip warning seealso todo versionadded versionchanged
  versionremoved deprecated deprecated-removed figure image table list-table csv-table code code-block sourcecode
  parsed-literal literalinclude include highlight toctree contents math glossary rubric topic sidebar epigraph highlights
  pull-quote container compound only centered hlist index productionlist tabularcolumns line-block class meta sectnum
  header footer target-notes footnotes replace unicode date tab tabs group-tab code-tab tab-set tab-item tab-set-code grid
  grid-item grid-item-card card card-carousel dropdown button-link button-ref div aside margin figure-md mermaid graphviz
  digraph inheritance-diagram function class method attribute data exception module currentmodule decorator property
  option program envvar describe object confval cmdoption default-domain acks bibliography`.split(/\s+/),
);
const directive = /^[ \t]*(?:\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:.-]+)::|(?:`{3,}|~{3,}|:{3,})\{([\w:.-]+)\})/gm;
/** AsciiDoc's passthroughs are raw HTML. */
const passthrough = /^\+{4,}$|\+{2,3}[^+\n]*<[^+\n]*\+{2,3}|\bpass:\w*\[[^\]\n]*\]|^\[(?:subs|stem|pass)\b[^\n]*/gm;
const asciidocScheme = /(?:https?|ftp|irc|mailto|link|image|video|audio|include|xref):/i;

/** AsciiDoc attributes can stand for any text. The scheme is searched once per word: a word can have thousands. */
function readAsciidoc(parts: Parts, text: string): void {
  for (const { 0: word, index } of text.matchAll(/[^\s[\]]+/g)) {
    const start = word.search(asciidocScheme);
    const address = start === -1 ? "" : word.slice(start);
    if (/\{[\w-]+\}/.test(address)) parts.code(address, "an attribute inside an address", index + start);
  }
  for (const match of text.matchAll(passthrough)) parts.code(match[0], "a passthrough", match.index);
}

/** What builders process in a page's text besides its Markdown. `text` is without code samples. */
export function readDirectives(parts: Parts, text: string, whole: string, syntax: Syntax): void {
  for (const pattern of includes) {
    for (const match of whole.matchAll(pattern)) parts.include(match[1] ?? "", match.index);
  }
  for (const { 1: list = "", index } of whole.matchAll(includeBlock)) {
    for (const target of list.split("\n")) if (target.trim() !== "") parts.include(target.trim(), index);
  }
  for (const { 1: rst, 2: myst, index } of whole.matchAll(directive)) {
    const name = (rst ?? myst ?? "").replace(/^(?:py|c|cpp|js|rst|std|math):.*$/, "function");
    if (!directives.has(name)) parts.code(`${name}::`, `the directive ${name}`, index);
  }
  if (syntax === "asciidoc") readAsciidoc(parts, text);
  if (syntax !== "mdx") readTemplates(parts, text);
}

const tag = /\{\{([<%]?)([\s\S]{0,2000}?)[>%]?\}\}|\{%-?([\s\S]{0,2000}?)-?%\}|<%([\s\S]{0,2000}?)%>/g;
/** An address or a markup tag that starts here and does not end. */
const opened =
  /(?:\]\(\s*<?|\]:[ \t]*<?|[a-z][a-z0-9+.-]*:\/\/|\bwww\.|(?:^|[\s"'=(])\/\/)[^\s)"'<>]*$|<\/?(?:[a-z][^<>]*)?$/i;
/** Tags of GitBook, Jekyll and Jinja that show, choose or repeat. Others may assign, include or run. */
const statements =
  /^\s*(?:end[\w-]*|hint|tabs?|code|content-ref|embed|file|stepper|step|columns?|card|cards|swagger|openapi[\w-]*|updates?|raw|comment|highlight|if|elif|elsif|else|unless|for|include[\w-]*|link|post_url|updated|note|warning|tip)\b/;

function readTemplates(parts: Parts, text: string): void {
  for (const { 0: whole, 1: shortcode, 2: output, 3: statement, index } of text.matchAll(tag)) {
    const rest = (statement ?? "").replace(statements, "").replaceAll(/"[^"]*"|'[^']*'/g, "0");
    const [before] = opened.exec(text.slice(Math.max(0, index - 300), index)) ?? [];
    if (before !== undefined) parts.code(before + whole, "a template tag inside an address or a tag", index);
    else if (output !== undefined && shortcode === "" && !/^\s*[#/!>^]/.test(output))
      readTemplateExpression(parts, output, index);
    else if (output === undefined && (!statements.test(statement ?? "") || /[(|]/.test(rest) || outerNames.test(rest)))
      parts.code(whole, "a template tag that runs", index);
    else parts.value(whole.replaceAll(/[{}%<>]+/g, " "), index);
  }
}

/**
 * Languages whose blocks every renderer shows as text. Blocks in other languages may be drawn (mermaid, plantuml),
 * embedded or run, so they count as part of the page.
 */
const languages = new Set(
  `text txt plain plaintext none ansi log diff patch sh shell bash zsh fish console terminal shellscript shellsession
  powershell ps1 pwsh cmd bat batch js javascript mjs cjs jsx ts typescript mts tsx json json5 jsonc jsonl node py python
  python3 pycon rb ruby erb php perl lua r julia java kotlin kt kts scala groovy gradle clojure go golang rust rs c h cpp
  c++ cs csharp fsharp swift objc objective-c dart zig elixir erlang haskell ocaml sql psql postgresql graphql gql yaml yml
  toml ini env dotenv properties conf config cfg gitignore csv html xml svg css scss sass less vue svelte astro hbs
  handlebars ejs pug liquid jinja jinja2 twig njk mustache md markdown mdx rst asciidoc adoc tex latex http https curl uri
  url docker dockerfile nginx apache caddy makefile make cmake nix hcl terraform tf ssh systemd proto protobuf prisma
  solidity wasm asm glsl regex ebnf vim lisp scheme awk jq`.split(/\s+/),
);
/** The language, or a flag right after it, that makes plugins run a block at build time or in the reader's browser. */
const runningLanguage = /^\{(?:code-cell|python|r|julia|ojs|bash|eval-rst|jupyter.*)\}?/i;
const flag = "(?:live|preview|playground|run|runnable|exec|execute|eval|evaluate|repl|sandbox|interactive)";
const runningFlag = new RegExp(`^\\{?\\s*\\.?${flag}(?![\\w-])|\\b${flag}=(?!["'{]?(?:off|no|false|0)\\b)`);

/** What happens with a fenced block, by its language and flags: it is run, shown or drawn. */
export function fenceOf(opening: string, words: string): "runs" | "shown" | "drawn" {
  const rest = opening.replace(/^[\w+#-]+/, "");
  if (runningLanguage.test(opening) || runningFlag.test(words) || runningFlag.test(rest)) return "runs";
  const [, name = ""] = /^([\w+#-]+)(?:$|[:,{[(.=])/.exec(opening) ?? [];
  return opening === "" || languages.has(name.toLowerCase()) ? "shown" : "drawn";
}
