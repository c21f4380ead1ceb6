/** A part of a page's own code, as ESTree has it. */
export interface ScriptNode {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

const content =
  /^(?:Program|ExpressionStatement|ChainExpression|ParenthesizedExpression|ArrayExpression|ObjectExpression|JSX\w+)$/;

interface Rules {
  isKnown(name: string): boolean;
  /** Vue's, Jinja's and Liquid's expressions compare and choose, and pipe values through filters. */
  isTemplate?: boolean;
}

/** Whether it is made of literals, markup and names that are known. */
export function isContent(node: ScriptNode, rules: Rules): boolean {
  switch (node.type) {
    case "Identifier":
      return rules.isKnown(String(node.name)) && !isInternal(node.name);
    case "MemberExpression": {
      const [object, property] = [nodeAt(node, "object"), nodeAt(node, "property")];
      if (object === null || property === null || isInternal(property.name ?? property.value)) return false;
      return isContent(object, rules) && (!node.computed || property.type === "Literal");
    }
    case "Property":
      if (node.kind !== "init" || node.computed || node.method) return false;
      return isContent(nodeAt(node, "value") as ScriptNode, rules);
    case "Literal":
      return !("regex" in node);
    case "TemplateLiteral":
      return nodesAt(node, "expressions").length === 0;
    case "UnaryExpression":
      return node.operator !== "delete" && isContent(nodeAt(node, "argument") as ScriptNode, rules);
    case "BinaryExpression":
      if (!rules.isTemplate || node.operator === "+") return false;
      break;
    case "LogicalExpression":
    case "ConditionalExpression":
      if (!rules.isTemplate) return false;
      break;
    default:
      if (!content.test(node.type)) return false;
  }
  return Object.entries(node).every(
    ([field, value]) =>
      field === "comments" || [value].flat().every((inner) => !isNode(inner) || isContent(inner, rules)),
  );
}

/** `__class__`, `constructor` and the like lead from any value to everything. */
function isInternal(name: unknown): boolean {
  return typeof name === "string" && /^_|_$|^(?:constructor|prototype|mro|globals)$/.test(name);
}

export function parsed(read: () => unknown): ScriptNode | null {
  try {
    return read() as ScriptNode;
  } catch {
    return null;
  }
}

function isNode(value: unknown): value is ScriptNode {
  return typeof value === "object" && value !== null && typeof (value as ScriptNode).type === "string";
}

export function nodesBelow(root: ScriptNode): readonly ScriptNode[] {
  const nodes = [root];
  for (const node of nodes) {
    for (const [field, value] of Object.entries(node)) {
      if (field !== "comments") nodes.push(...[value].flat().filter(isNode));
    }
  }
  return nodes;
}

export function nodeAt(node: ScriptNode, field: string): ScriptNode | null {
  const value = node[field];
  return isNode(value) ? value : null;
}

export function nodesAt(node: ScriptNode, field: string): readonly ScriptNode[] {
  const value = node[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}
