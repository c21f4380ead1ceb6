import { nameOf, nodeAt, nodesAt, type ScriptNode } from "./script-nodes.ts";

/**
 * fixed: where it leads can be read from the page; open: it comes from elsewhere, a parameter or a call; built: the page's
 * code puts it together so that its site cannot be read.
 */
type AddressClass = "fixed" | "open" | "built";

/** What names of a page's code stand for: all that each is set to, or that it is imported. */
export interface Names {
  imported: ReadonlySet<string>;
  values: ReadonlyMap<string, readonly ScriptNode[]>;
}

const depthMax = 40;
/** By which strings are made of others. */
const making =
  /^(?:join|concat|replace|replaceAll|reverse|split|fromCharCode|fromCodePoint|atob|decodeURI|decodeURIComponent|unescape|padStart|padEnd|raw|eval|Function|at|charAt|slice|substring|substr|repeat|toReversed|reduce|parse|assign|fromEntries|defineProperty|get|toString|String)$/;
/** Of sites' own frameworks: they lead to a file or page of this site. */
const localHelpers = /^(?:useBaseUrl|withBase|require|asset)$/;
/** A site with what ends its name, a path of this site, or what can begin no address of another. */
const closed =
  /^\s*(?:(?:https?|wss?|ftp):[/\\]*[^/\\?#\s]+[/\\?#]|mailto:|tel:|[/\\](?![/\\])[^/\\]|[.#?]|[a-z][a-z0-9+.-]*[^a-z0-9+.:\s-]|[^\sa-z/\\])/i;

/** Text that holds addresses further on: markup, and rules of style. */
const holding = /<|url\(|url=|@import/i;

export function classifyAddress(node: ScriptNode | null, names: Names, depth = 0): AddressClass {
  if (node === null) return "fixed";
  if (depth > depthMax) return "built";
  const below = (inner: ScriptNode | null) => classifyAddress(inner, names, depth + 1);
  const all = (inner: readonly (ScriptNode | null)[]) => worst(inner.map(below));
  switch (node.type) {
    case "Literal":
    case "UnaryExpression":
    case "UpdateExpression":
    case "ArrowFunctionExpression":
    case "FunctionExpression":
    case "JSXElement":
    case "JSXFragment":
    case "JSXEmptyExpression":
      return "fixed";
    case "TemplateLiteral":
      return templateClass(node, below);
    case "BinaryExpression":
      return node.operator === "+" ? sumClass(node, below) : "fixed";
    case "ConditionalExpression":
      return all([nodeAt(node, "consequent"), nodeAt(node, "alternate")]);
    case "LogicalExpression":
      return all([nodeAt(node, "left"), nodeAt(node, "right")]);
    case "AssignmentExpression":
      return node.operator === "=" ? below(nodeAt(node, "right")) : "built";
    case "SequenceExpression":
      return all(nodesAt(node, "expressions"));
    case "ArrayExpression":
      return all(nodesAt(node, "elements"));
    case "ObjectExpression":
      return all(nodesAt(node, "properties"));
    case "Property":
      return node.kind === "get" ? "built" : below(nodeAt(node, "value"));
    case "SpreadElement":
      return below(nodeAt(node, "argument"));
    case "ChainExpression":
    case "JSXExpressionContainer":
      return below(nodeAt(node, "expression"));
    case "MemberExpression":
      return below(nodeAt(node, "object"));
    case "Identifier":
      return identifierClass(nameOf(node), names, all);
    case "CallExpression":
      return callClass(node, below);
    case "TaggedTemplateExpression":
      return "built";
    case "NewExpression":
      return nameOf(nodeAt(node, "callee")) === "URL" ? "built" : "open";
    default:
      return "open";
  }
}

function worst(classes: readonly AddressClass[]): AddressClass {
  return classes.includes("built") ? "built" : classes.includes("open") ? "open" : "fixed";
}

function identifierClass(
  name: string,
  { imported, values }: Names,
  all: (nodes: readonly ScriptNode[]) => AddressClass,
): AddressClass {
  if (imported.has(name) || name === "undefined") return "fixed";
  const set = values.get(name);
  return set === undefined ? "open" : all(set);
}

function callClass(node: ScriptNode, below: (inner: ScriptNode | null) => AddressClass): AddressClass {
  const callee = nodeAt(node, "callee");
  const name = nameOf(callee);
  if (making.test(name)) return "built";
  const [first = null] = nodesAt(node, "arguments");
  if (localHelpers.test(name) && first?.type === "Literal" && isClosed(String(first.value))) return below(first);
  return "open";
}

function templateClass(node: ScriptNode, below: (inner: ScriptNode | null) => AddressClass): AddressClass {
  const texts = nodesAt(node, "quasis").map(textOf);
  const expressions = nodesAt(node, "expressions");
  if (expressions.length === 0 || isClosed(texts[0] ?? "")) return "fixed";
  return (texts[0] ?? "").trim() === "" ? continued(below(expressions[0] ?? null), texts[1] ?? "") : "built";
}

function isClosed(beginning: string): boolean {
  return closed.test(beginning) && !holding.test(beginning);
}

/** A whole address and then a path: the site is that of the beginning. */
function continued(beginning: AddressClass, then: string): AddressClass {
  return /^[/\\?#]/.test(then) ? beginning : "built";
}

function sumClass(node: ScriptNode, below: (inner: ScriptNode | null) => AddressClass): AddressClass {
  const parts = summands(node);
  const [first = null, second = null] = parts;
  const isText = (part: ScriptNode | null) => part?.type === "Literal" && typeof part.value === "string";
  if (first !== null && isText(first)) return isClosed(String(first.value)) ? "fixed" : "built";
  const isNumber = parts.some((part) => part.type === "Literal" && typeof part.value === "number");
  if (isNumber && !parts.some((part) => isText(part) || part.type === "TemplateLiteral")) return "fixed";
  return isText(second) ? continued(below(first), String(second?.value)) : "built";
}

function summands(node: ScriptNode): readonly ScriptNode[] {
  const parts: ScriptNode[] = [];
  for (let left: ScriptNode | null = node; left !== null; ) {
    const isSum: boolean = left.type === "BinaryExpression" && left.operator === "+";
    const part: ScriptNode | null = isSum ? nodeAt(left, "right") : left;
    if (part) parts.unshift(part);
    left = isSum ? nodeAt(left, "left") : null;
  }
  return parts;
}

function textOf(quasi: ScriptNode): string {
  const { cooked } = quasi.value as { cooked?: string | null };
  return cooked ?? "";
}
