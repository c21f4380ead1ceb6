import { forbidden } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import { readElement } from "./read-html.ts";
import { addressAttributes, frameworkModules, importable } from "./schema.ts";
import type { Flavor } from "./site-syntax.ts";

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

/** A literal is content. What holds elements or functions is unknown, and what reads or calls is refused. */
function readExpression(
  parts: Parts,
  text: string,
  at: number,
  estree: Estree | null | undefined,
  imports: ReadonlySet<string>,
): void {
  const found = new Set<string>();
  let names: string[] = [];
  const walk = (node: Fields): void => {
    found.add(node.type);
    if (node.type === "Literal" && typeof node.value === "string") {
      if (/[<\\]|script:/i.test(node.value)) found.add("odd");
      parts.hosts(node.value, at, true);
      if (/^(?:https?:)?\/\//.test(node.value)) parts.address(node.value, at, { loads: true, text });
    }
    if (node.type === "Identifier") names.push(String(node.name));
    if (node.type === "Property" && !node.computed) {
      const [key, value] = [node.key as Fields, node.value as Fields];
      const name = String(key.name ?? key.value);
      if (/^(?:on[A-Z]|__|.*html$)/i.test(name)) found.add("odd");
      return walk(value);
    }
    if (node.type === "JSXOpeningElement") {
      const name = nameOf(node.name as Fields);
      const given = (node.attributes as Fields[]).map((one) => ({
        name: one.type === "JSXAttribute" ? nameOf(one.name as Fields) : "...",
        value:
          one.value === null
            ? ""
            : (one.value as Fields)?.type === "Literal"
              ? String((one.value as Fields).value)
              : null,
      }));
      readElement(parts, { name, given, text, at, isMdx: true });
    }
    for (const [key, value] of Object.entries(node))
      if (!(node.type === "JSXOpeningElement" && key === "name"))
        for (const child of [value].flat())
          if (typeof (child as Fields | null)?.type === "string") walk(child as Fields);
  };
  for (const one of estree?.body ?? []) walk(one as Fields);
  names = names.filter((name) => !imports.has(name));
  const isRunning = [
    "CallExpression",
    "NewExpression",
    "ImportExpression",
    "TaggedTemplateExpression",
    "AssignmentExpression",
    "UpdateExpression",
    "MemberExpression",
    "ArrowFunctionExpression",
    "FunctionExpression",
    "AwaitExpression",
    "SpreadElement",
  ].some((type) => found.has(type));
  if (isRunning || names.length > 0)
    return parts.unknown("expression", text, at, "This expression calls or reads something.", {
      instead: forbidden.expression,
    });
  if (found.has("odd")) parts.unknown("expression", text, at, "This value is not plain text.");
}

function nameOf(node: Fields): string {
  if (node.type === "JSXMemberExpression") return `${nameOf(node.object as Fields)}.${nameOf(node.property as Fields)}`;
  if (node.type === "JSXNamespacedName") return `${nameOf(node.namespace as Fields)}:${nameOf(node.name as Fields)}`;
  return String(node.name);
}

function readModule(parts: Parts, text: string, node: Fields, at: number, imports: Set<string>): void {
  const source = String((node.source as Fields | undefined)?.value ?? "");
  if (node.type !== "ImportDeclaration")
    return parts.unknown("expression", text, at, "An export of a page is code.", { instead: forbidden.import });
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
