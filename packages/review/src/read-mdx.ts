import { forbidden } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import { readElement } from "./read-html.ts";
import { addressAttributes, frameworkModules, importable } from "./schema.ts";
import type { Flavor } from "./syntax.ts";

type Fields = { type: string; start: number; end: number } & Record<string, unknown>;
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
/** Judges a component, an expression or an import, and returns where its own source ends. */
export function readMdxNode(parts: Parts, text: string, node: MdxNode, imports: Set<string>, flavor: Flavor): number {
  const start = node.position?.start.offset ?? 0;
  const end = node.position?.end.offset ?? start;
  const source = text.slice(start, end);
  const estree = (node.data as Expression["data"])?.estree;
  const read = (written: string, tree: Estree | null | undefined) => {
    const [does] = doesOf(parts, tree?.body ?? [], { text: written, at: start, imports });
    if (does === "runs")
      parts.refuse("expression", written, start, "This expression calls or reads something.", forbidden.expression);
    else if (does !== "shows") parts.unknown("expression", written, start, "This expression is more than plain text.");
  };
  if (node.type === "mdxjsEsm")
    for (const one of (estree?.body ?? []) as Fields[]) readModule(parts, text.slice(one.start, one.end), one, imports);
  else if (/Expression$/.test(node.type)) read(source, estree);
  else {
    // The text of an include names a file.
    const opening =
      node.name === "include" ? source : text.slice(start, node.children?.[0]?.position?.start.offset ?? end);
    const given = (node.attributes ?? []).flatMap(({ type, name = "", value, data }) => {
      if (type === "mdxJsxExpressionAttribute") {
        read(opening, data?.estree);
        return [];
      }
      if (value === null || typeof value !== "object") return [{ name, value: value ?? "" }];
      const literal = literalOf(value.data?.estree);
      // An address that is put together is one that nobody sees.
      if (literal === null)
        read(`${addressAttributes.has(name) ? `${name}=` : ""}{${value.value}}`, value.data?.estree);
      return [{ name, value: literal }];
    });
    if (node.name != null)
      readElement(parts, { name: node.name, given, text: opening, at: start, isMdx: true, isVue: flavor.isVue });
    return start + opening.length;
  }
  return end;
}

function literalOf(estree: Estree | null | undefined): string | null {
  const expression = ((estree?.body[0] ?? {}) as Fields).expression as Fields | undefined;
  if (expression?.type === "Literal" && typeof expression.value === "string") return expression.value;
  if (expression?.type !== "TemplateLiteral" || (expression.expressions as unknown[]).length > 0) return null;
  return String(((expression.quasis as Fields[])[0]?.value as { cooked?: string })?.cooked ?? "");
}

/** What a page may always name. */
const ownNames = /^(?:props|front[mM]atter|undefined)$/;
/** What makes an expression a program. */
const running =
  /^(?:New|Import|TaggedTemplate|Assignment|Update|ArrowFunction|Function|Await|Yield|This|Class|Sequence|Meta)\w*Expression$|^(?:SpreadElement|MetaProperty)$/;
const operators = /^(?:Binary|Logical|Conditional|Unary)Expression$/;
/** A literal is content. Reading what the page has imported is unknown, and all else that reads or calls is refused. */
const levels = ["runs", "reads", "joins", "shows"] as const;
type Does = (typeof levels)[number];

interface Place {
  text: string;
  at: number;
  imports: ReadonlySet<string>;
}

/** What the nodes and all in them do, the worst first. */
function doesOf(parts: Parts, nodes: readonly Fields[], place: Place): Does[] {
  const found = new Set<Does>(
    nodes.flatMap((node) => [doesNode(parts, node, place), ...doesOf(parts, partsOf(node), place)]),
  );
  return [...levels.filter((one) => found.has(one)), "shows"];
}

function partsOf(node: Fields): Fields[] {
  if (node.type === "MemberExpression") return [node.object as Fields];
  if (node.type === "Property" && !node.computed) return [node.value as Fields];
  return Object.entries(node).flatMap(([key, value]) =>
    /^JSX(?:Opening|Closing)Element$/.test(node.type) && key === "name"
      ? []
      : [value].flat().filter((one): one is Fields => typeof (one as Fields | null)?.type === "string"),
  );
}

function doesNode(parts: Parts, node: Fields, { text, at, imports }: Place): Does {
  const typeOf = (one: unknown) => (one as Fields).type;
  if (running.test(node.type) || (node.type === "CallExpression" && typeOf(node.callee) !== "Identifier"))
    return "runs";
  if (node.type === "MemberExpression") {
    const { name = "" } = node.property as { name?: string };
    const isNamed = /^(?:Identifier|MemberExpression)$/.test(typeOf(node.object)) && !node.computed;
    return isNamed && !/^(?:constructor|__\w+|prototype)$/.test(name) ? "reads" : "runs";
  }
  if (node.type === "Identifier")
    return imports.has(String(node.name)) || ownNames.test(String(node.name)) ? "reads" : "runs";
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
  if (node.type === "Literal" && typeof node.value === "string") {
    if (/^(?:https?:)?\/\//.test(node.value)) parts.address(node.value, at, { loads: true, text });
    else parts.hosts(node.value, at, true);
    return /[<\\]|script:/i.test(node.value) ? "joins" : "shows";
  }
  const { name, value } = (node.key ?? {}) as Fields;
  const isOddKey = node.type === "Property" && /^(?:on[A-Z]|__|.*html$)/i.test(String(name ?? value));
  return operators.test(node.type) || node.regex || isOddKey ? "joins" : "shows";
}

function nameOf(node: Fields): string {
  const [one, joint, other] =
    node.type === "JSXMemberExpression" ? [node.object, ".", node.property] : [node.namespace, ":", node.name];
  return joint === "." || node.type === "JSXNamespacedName"
    ? `${nameOf(one as Fields)}${joint}${nameOf(other as Fields)}`
    : String(node.name);
}

function readModule(parts: Parts, text: string, node: Fields, imports: Set<string>): void {
  const source = String((node.source as Fields | undefined)?.value ?? "");
  const at = node.start;
  if (node.type !== "ImportDeclaration") {
    const { declarations = [] } = (node.declaration ?? {}) as { declarations?: Fields[] };
    const inits = declarations.flatMap(({ init }) => (init ? [init as Fields] : []));
    const [does] = doesOf(parts, inits, { text, at, imports });
    for (const { id } of declarations) imports.add(String((id as Fields).name));
    if (does !== "shows" || declarations.length === 0) parts.refuse("expression", text, at, isCode, forbidden.import);
    else parts.unknown("expression", text, at, isCode);
    return;
  }
  const bound = (node.specifiers as Fields[]).map((one) => String((one.local as Fields).name));
  const isData = importable.test(source) && !/[?#]/.test(source);
  for (const name of bound) imports.add(name);
  if (isData || source.startsWith("@site/"))
    parts.address(source.replace(/^(?:@site|@|~)\//, "/"), at, { loads: isData, text });
  if ((isData || frameworkModules.test(source)) && bound.length > 0 && !source.includes("..", 3)) return;
  // A module that other pages import, or of the site itself: its code is there, and a person says whether this page may run it.
  const isOwn = /^(?:\.{1,2}\/|\/(?!\/)|@site\/|@\/|~\/|@components\/|src\/)[\w@./-]+$/.test(source);
  // One module of a package is known where pages import another one.
  const [name = source] = isOwn ? [] : (/^(?:@[\w.-]+\/)?[\w.-]+(?=\/|$)/.exec(source) ?? []);
  parts.unknown("expression", text, at, `No page of this site imports ${source}.`, {
    key: `import ${name}`,
    find: name,
    ...(isOwn ? {} : { instead: forbidden.import }),
  });
}
const isCode = "An export of a page is code.";
