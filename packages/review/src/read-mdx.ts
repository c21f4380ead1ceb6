import { forbidden } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import { readElement } from "./read-html.ts";
import { addressAttributes, frameworkModules, importable } from "./schema.ts";
import type { Flavor } from "./syntax.ts";

interface Estree {
  body: readonly Fields[];
}
interface Expression {
  type: string;
  value: string;
  data?: { estree?: Estree | null };
}
export interface MdxNode {
  type: string;
  name?: string | null;
  value?: string;
  attributes?: ReadonlyArray<{
    type: string;
    name?: string;
    value?: string | null | Expression;
    data?: Expression["data"];
  }>;
  children?: MdxNode[];
  position?: { start: { offset?: number }; end: { offset?: number } };
  data?: unknown;
}
type Fields = { type: string; start: number; end: number } & Record<string, unknown>;

/** Judges a component, an expression or an import, and returns where its own source ends. */
export function readMdxNode(parts: Parts, text: string, node: MdxNode, imports: Set<string>, flavor: Flavor): number {
  const start = node.position?.start.offset ?? 0;
  const end = node.position?.end.offset ?? start;
  const source = text.slice(start, end);
  const estree = (node.data as Expression["data"])?.estree;
  if (node.type === "mdxjsEsm") {
    for (const one of estree?.body ?? [])
      readModule(
        parts,
        text.slice(one.start, one.end),
        one as Fields,
        start + source.indexOf(text.slice(one.start, one.end)),
        imports,
      );
    return end;
  }
  if (/Expression$/.test(node.type)) {
    readExpression(parts, source, start, estree, imports);
    return end;
  }
  // Its text names a file.
  const isWhole = node.name === "include";
  const opening = isWhole ? source : text.slice(start, node.children?.[0]?.position?.start.offset ?? end);
  if (node.name == null) return start + opening.length;
  const given: { name: string; value: string | null }[] = [];
  for (const { type, name = "", value, data } of node.attributes ?? []) {
    if (type === "mdxJsxExpressionAttribute") readExpression(parts, opening, start, data?.estree, imports);
    else if (value !== null && typeof value === "object") {
      const literal = literalOf(value.data?.estree);
      given.push({ name, value: literal });
      // An address that is put together is one that nobody sees.
      if (literal === null)
        readExpression(
          parts,
          addressAttributes.has(name) ? `${name}={${value.value}}` : `{${value.value}}`,
          start,
          value.data?.estree,
          imports,
        );
    } else given.push({ name, value: value ?? "" });
  }
  readElement(parts, { name: node.name, given, text: opening, at: start, isMdx: true, isVue: flavor.isVue });
  return start + opening.length;
}

function literalOf(estree: Estree | null | undefined): string | null {
  const expression = ((estree?.body[0] ?? {}) as Fields).expression as Fields | undefined;
  if (expression?.type === "Literal" && typeof expression.value === "string") return expression.value;
  if (expression?.type === "TemplateLiteral" && (expression.expressions as unknown[]).length === 0)
    return String(((expression.quasis as Fields[])[0]?.value as { cooked?: string })?.cooked ?? "");
  return null;
}

/** What a page may always name. */
const ownNames = new Set(["props", "frontMatter", "frontmatter", "undefined"]);
/** What makes an expression a program. */
const running =
  /^(?:New|Import|TaggedTemplate|Assignment|Update|ArrowFunction|Function|Await|Yield|This|Class|Sequence|Meta)\w*Expression$|^(?:SpreadElement|MetaProperty)$/;

interface Reading {
  isRunning: boolean;
  /** More than literals. */
  isReading: boolean;
  isOdd: boolean;
}

/** A literal is content. Reading what the page has imported is unknown, and all else that reads or calls is refused. */
function readExpression(
  parts: Parts,
  text: string,
  at: number,
  estree: Estree | null | undefined,
  bound: ReadonlySet<string>,
): void {
  const found: Reading = { isRunning: false, isReading: false, isOdd: false };
  for (const one of estree?.body ?? []) walk(parts, one, found, { text, at, bound });
  const reason = "This expression calls or reads something.";
  if (found.isRunning) parts.unknown("expression", text, at, reason, { instead: forbidden.expression });
  else if (found.isReading) parts.unknown("expression", text, at, reason);
  else if (found.isOdd) parts.unknown("expression", text, at, "This value is not plain text.");
}

function walk(
  parts: Parts,
  node: Fields,
  found: Reading,
  place: { text: string; at: number; bound: ReadonlySet<string> },
): void {
  const { text, at, bound } = place;
  if (running.test(node.type)) found.isRunning = true;
  if (node.type === "CallExpression" && (node.callee as Fields).type !== "Identifier") found.isRunning = true;
  if (node.type === "MemberExpression") {
    const { name = "" } = node.property as { name?: string };
    found.isReading = true;
    const isNamed = /^(?:Identifier|MemberExpression)$/.test((node.object as Fields).type);
    if (!isNamed || node.computed || /^(?:constructor|__\w+|prototype)$/.test(name)) found.isRunning = true;
    return void walk(parts, node.object as Fields, found, place);
  }
  if (/^(?:Binary|Logical|Conditional|Unary)Expression$/.test(node.type) || node.regex) found.isOdd = true;
  if (node.type === "Literal" && typeof node.value === "string") {
    if (/[<\\]|script:/i.test(node.value)) found.isOdd = true;
    if (/^(?:https?:)?\/\//.test(node.value)) parts.address(node.value, at, { loads: true, text });
    else parts.hosts(node.value, at, true);
  }
  if (node.type === "Identifier") {
    const name = String(node.name);
    found.isReading = true;
    if (!bound.has(name) && !ownNames.has(name)) found.isRunning = true;
  }
  if (node.type === "Property" && !node.computed) {
    const { name, value } = node.key as Fields;
    if (/^(?:on[A-Z]|__|.*html$)/i.test(String(name ?? value))) found.isOdd = true;
    return void walk(parts, node.value as Fields, found, place);
  }
  if (node.type === "JSXOpeningElement") {
    const given = (node.attributes as Fields[]).map((one) => {
      const value = one.value as Fields | null | undefined;
      const literal = value?.type === "Literal" ? String(value.value) : null;
      return {
        name: one.type === "JSXAttribute" ? nameOf(one.name as Fields) : "...",
        value: value === null ? "" : literal,
      };
    });
    readElement(parts, { name: nameOf(node.name as Fields), given, text, at, isMdx: true });
  }
  for (const [key, value] of Object.entries(node))
    if (!(/^JSX(?:Opening|Closing)Element$/.test(node.type) && key === "name"))
      for (const child of [value].flat())
        if (typeof (child as Fields | null)?.type === "string") walk(parts, child as Fields, found, place);
}

function nameOf(node: Fields): string {
  if (node.type === "JSXMemberExpression") return `${nameOf(node.object as Fields)}.${nameOf(node.property as Fields)}`;
  if (node.type === "JSXNamespacedName") return `${nameOf(node.namespace as Fields)}:${nameOf(node.name as Fields)}`;
  return String(node.name);
}

function readModule(parts: Parts, text: string, node: Fields, at: number, imports: Set<string>): void {
  const source = String((node.source as Fields | undefined)?.value ?? "");
  if (node.type !== "ImportDeclaration") {
    const { declarations = [] } = (node.declaration ?? {}) as { declarations?: Fields[] };
    const found: Reading = { isRunning: declarations.length === 0, isReading: false, isOdd: false };
    for (const { id, init } of declarations) {
      if (init) walk(parts, init as Fields, found, { text, at, bound: imports });
      imports.add(String((id as Fields).name));
    }
    const isCode = found.isRunning || found.isReading || found.isOdd;
    return void parts.unknown(
      "expression",
      text,
      at,
      "An export of a page is code.",
      isCode ? { instead: forbidden.import } : {},
    );
  }
  const bound = (node.specifiers as Fields[]).map((one) => String((one.local as Fields).name));
  const isData = importable.test(source) && !/[?#]/.test(source);
  for (const name of bound) imports.add(name);
  if (isData || source.startsWith("@site/"))
    parts.address(source.replace(/^(?:@site|@|~)\//, "/"), at, { loads: isData, text });
  if ((isData || frameworkModules.test(source)) && bound.length > 0 && !source.includes("..", 3)) return;
  // A module that other pages import, or of the site itself: its code is there, and a person says whether this page may run it.
  const isOwn = /^(?:\.{1,2}\/|\/(?!\/)|@site\/|@\/|~\/|@components\/|src\/)[\w@./-]+$/.test(source);
  parts.unknown("expression", text, at, `No page of this site imports ${source}.`, {
    key: `import ${source}`,
    find: source,
    ...(isOwn ? {} : { instead: forbidden.import }),
  });
}
