import { classifyAddress, type Names } from "./classify-address.ts";
import { nameOf, nodeAt, nodesAt, nodesBelow, type Program, type ScriptNode } from "./script-nodes.ts";

interface Attribute {
  /** Null: a spread. */
  name: string | null;
  program: Program;
}

/** Whose value a reader's browser may follow, on elements and, by their usual names, on components. */
const leading =
  /^(?:data|action|background|cite|ping|manifest|style|content|dangerouslySetInnerHTML|html|icon|logo|avatar|poster|cover|thumbnail|video|audio|source|endpoint|site|origin|host|to|as|base|srcdoc|srcset|.*(?:url|uri|href|src|link|image|img))$/i;
/** That a browser only shows, or lays out by. */
const shown =
  /^(?:className|class|key|id|alt|title|label|name|width|height|d|viewBox|transform|fill|stroke.*|aria-.*)$/;
const leadingCalls =
  /^(?:fetch|open|sendBeacon|importScripts|createElement|cloneElement|jsx|jsxs|h|setAttribute|assign|write|writeln|insertAdjacentHTML|eval|Function|WebSocket|EventSource|Image|Audio|Worker|SharedWorker|XMLHttpRequest|Request|get|post|axios|push|navigate)$/;
const leadingFields =
  /^(?:src|href|srcset|srcdoc|innerHTML|outerHTML|action|location|host|hostname|cssText|background(?:Image)?|data)$/;
const wordsMax = 200;

/** The strings of a page's code, and what of it puts addresses together that cannot be read. */
export function readScripts(
  scripts: { modules: readonly Program[]; attributes: readonly Attribute[] },
  text: string,
): { strings: readonly string[]; unreadable: readonly string[]; comments: readonly { start: number; end: number }[] } {
  const programs = [...scripts.modules, ...scripts.attributes.map(({ program }) => program)];
  const nodes = programs.flatMap((program) => nodesBelow(program));
  const names = namesIn(nodes);
  const leads = [...scripts.attributes.flatMap(leadsOfAttribute), ...nodes.flatMap(leadsOf)];
  const isLed = leads.some((node) => classifyAddress(node, names) !== "fixed");
  // What comes from a name or from elsewhere may come from anything that the page puts together.
  const inUse = isLed ? programs.filter((program) => !shownPrograms(scripts.attributes).has(program)) : [];
  const found = inUse
    .flatMap((program) => nodesBelow(program, isShownAttribute))
    .filter((node) => isMaking(node) && classifyAddress(node, names) === "built");
  return {
    strings: nodes.flatMap(stringsOf),
    unreadable: [...new Set(found.map(({ start, end }) => text.slice(start, end).slice(0, wordsMax)))],
    comments: programs.flatMap(({ comments = [] }) => comments.map(({ start, end }) => ({ start, end }))),
  };
}

function namesIn(nodes: readonly ScriptNode[]): Names {
  const imported = new Set<string>();
  const values = new Map<string, ScriptNode[]>();
  const set = (name: string, value: ScriptNode | null) => {
    if (value !== null) values.set(name, [...(values.get(name) ?? []), value]);
  };
  for (const node of nodes) {
    if (node.type.startsWith("Import") && node.type.endsWith("Specifier")) imported.add(nameOf(nodeAt(node, "local")));
    const id = nodeAt(node, "id");
    if (node.type === "VariableDeclarator" && id?.type === "Identifier") set(nameOf(id), nodeAt(node, "init"));
    const left = nodeAt(node, "left");
    if (node.type === "AssignmentExpression" && left?.type === "Identifier") set(nameOf(left), node);
  }
  return { imported, values };
}

function shownPrograms(attributes: readonly Attribute[]): ReadonlySet<Program> {
  return new Set(attributes.filter(({ name }) => isShown(name)).map(({ program }) => program));
}

function isShown(name: string | null): boolean {
  return name !== null && (shown.test(name) || /^on[A-Z]/.test(name)) && !leading.test(name);
}

function isShownAttribute(node: ScriptNode): boolean {
  return node.type === "JSXAttribute" && shown.test(nameOf(nodeAt(node, "name")));
}

function isMaking({ type, operator, kind }: ScriptNode): boolean {
  if (/^(?:TemplateLiteral|TaggedTemplateExpression|CallExpression|NewExpression)$/.test(type)) return true;
  return operator === "+" || operator === "+=" || (type === "Property" && kind === "get");
}

function leadsOfAttribute({ name, program }: Attribute): readonly ScriptNode[] {
  const values = nodesAt(program, "body").map((statement) => nodeAt(statement, "expression"));
  const given = values.filter((value) => value !== null);
  return name === null || leading.test(name) ? given : [];
}

/** The values by which a piece of code leads a browser somewhere. */
function leadsOf(node: ScriptNode): readonly ScriptNode[] {
  const named = (field: string) => nameOf(nodeAt(node, field));
  const present = (...fields: string[]) => fields.map((field) => nodeAt(node, field)).filter((inner) => inner !== null);
  switch (node.type) {
    case "JSXAttribute":
      return leading.test(named("name")) ? present("value") : [];
    case "JSXSpreadAttribute":
      return present("argument");
    case "ImportExpression":
      return present("source");
    case "CallExpression":
    case "NewExpression":
      return leadingCalls.test(named("callee")) ? nodesAt(node, "arguments") : [];
    case "AssignmentExpression":
      return leadingFields.test(named("left")) ? present("right") : [];
    default:
      return [];
  }
}

function stringsOf(node: ScriptNode): readonly string[] {
  if (node.type === "Literal" && typeof node.value === "string") return [node.value];
  if (node.type !== "TemplateElement") return [];
  const { cooked } = node.value as { cooked?: string | null };
  return cooked ? [cooked] : [];
}
