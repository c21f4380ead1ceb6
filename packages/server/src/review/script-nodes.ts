/** A part of a page's own code, as the parser gives it: of the shape that ESTree says. */
export interface ScriptNode {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

export interface Program extends ScriptNode {
  comments?: readonly { start: number; end: number }[];
}

function isNode(value: unknown): value is ScriptNode {
  return typeof value === "object" && value !== null && typeof (value as ScriptNode).type === "string";
}

/** The nodes right below one. */
function childrenOf(node: ScriptNode): readonly ScriptNode[] {
  return Object.entries(node).flatMap(([field, value]) => (field === "comments" ? [] : [value].flat().filter(isNode)));
}

/** A node and all below it, but for those that `skip` names and what is below them. */
export function nodesBelow(root: ScriptNode, skip: (node: ScriptNode) => boolean = () => false): readonly ScriptNode[] {
  const nodes = [root];
  for (const node of nodes) nodes.push(...childrenOf(node).filter((child) => !skip(child)));
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

/** What a name, or the last part of `a.b`, is called. */
export function nameOf(node: ScriptNode | null): string {
  if (node === null) return "";
  if (node.type === "MemberExpression") return nameOf(nodeAt(node, "property"));
  if (node.type === "Literal") return String(node.value);
  return typeof node.name === "string" ? node.name : "";
}
