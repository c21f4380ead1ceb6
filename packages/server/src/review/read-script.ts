import { parse } from "acorn";
import type { Notes } from "./page-reading.ts";
import { readAttribute } from "./read-attribute.ts";
import { isContent, nodeAt, nodesAt, nodesBelow, parsed, type ScriptNode } from "./script-nodes.ts";

/** What MDX gives every page. */
const givenNames = /^(?:props|frontMatter|frontmatter|children|undefined)$/;
/** Packages of docs frameworks, whose modules render. */
const frameworkModules =
  /^(?:@theme(?:-original)?|@docusaurus|@astrojs\/starlight|nextra(?:-theme-docs)?|vitepress|fumadocs-ui|@mintlify|@rspress\/core|rspress)(?:\/[\w/-]*)?$/;
/** A picture, a page, or a component of the repository. */
const importable = /\.(?:mdx?|png|jpe?g|gif|webp|avif|svg|mp4|webm|pdf|jsx|tsx|vue|svelte|astro)$/i;
/** An expression of MDX. `names`: what the page imports and declares. */
export function readExpression(notes: Notes, node: ScriptNode, source: string, names: ReadonlySet<string>): void {
  const isPlain = isContent(node, { isKnown: (name) => names.has(name) || givenNames.test(name) });
  if (!isPlain) notes.code(source.slice(node.start, node.end), "an expression that is not a literal", node.start);
  for (const inner of nodesBelow(node)) readTexts(notes, inner);
}

export function parseModule(source: string): ScriptNode | null {
  return parsed(() => parse(source, { ecmaVersion: "latest", sourceType: "module" }));
}

/** Imports and declarations: of a page in MDX, or of a component's script. */
export function readModule(notes: Notes, program: ScriptNode, source: string, offset = 0): void {
  const names = namesIn(program);
  for (const statement of nodesAt(program, "body")) {
    const at = offset + statement.start;
    const written = source.slice(statement.start, statement.end);
    const from = (nodeAt(statement, "source")?.value ?? "") as string;
    if (statement.type === "ImportDeclaration") readImport(notes, { from, written }, at);
    else if (statement.type === "ExportNamedDeclaration" && from !== "") notes.code(written, "a re-export", at);
    else {
      const declared = nodeAt(statement, "declaration") ?? statement;
      const values = nodesAt(declared, "declarations").map((one) => nodeAt(one, "init"));
      const isPlain =
        declared.type === "VariableDeclaration" &&
        values.every((value) => value === null || isContent(value, { isKnown: (name) => names.has(name) }));
      if (!isPlain) notes.code(written, "code", at);
    }
    for (const inner of nodesBelow(statement)) if (inner !== nodeAt(statement, "source")) readTexts(notes, inner, at);
  }
}

/** What the page's own statements name. */
export function namesIn(program: ScriptNode): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of nodesBelow(program)) {
    const id = nodeAt(node, "local") ?? (node.type === "VariableDeclarator" ? nodeAt(node, "id") : null);
    if (typeof id?.name === "string") names.add(id.name);
  }
  return names;
}

function readImport(notes: Notes, { from, written }: { from: string; written: string }, at: number): void {
  if (frameworkModules.test(from)) return;
  if (/^(?:\.{1,2}\/|\/|@site\/|@\/|~\/)/.test(from) && !/[!?]/.test(from) && importable.test(from)) {
    return void notes.include(from, at);
  }
  // By its source alone: what else a page takes from a module that other pages import makes no difference.
  notes.code(`import ${from}`, `the import ${written.slice(0, 200)}`, at);
}

function readTexts(notes: Notes, node: ScriptNode, at = node.start): void {
  if (node.type === "JSXAttribute") {
    const [name, value] = [nodeAt(node, "name"), nodeAt(node, "value")];
    const isText = value === null || value.type === "Literal";
    readAttribute(notes, "", { name: String(name?.name ?? ""), value: isText ? String(value?.value ?? "") : " " }, at);
  }
  const text = node.type === "TemplateElement" ? (node.value as { cooked?: string }).cooked : node.value;
  if (typeof text === "string" && node.type !== "JSXText") notes.value(text, at);
}
