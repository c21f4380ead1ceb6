import { createRequire } from "node:module";
import type { Language, Parser } from "@vscode/tree-sitter-wasm";
import { parse as parseToml } from "smol-toml";
import { parseAllDocuments } from "yaml";
import { type Fact, plainValue } from "./fact.ts";
import { readSyntax, visits } from "./read-syntax.ts";

type Untexted = Omit<Fact, "text">;
type Grammars = typeof import("@vscode/tree-sitter-wasm");

const languages: Readonly<Record<string, string>> = {
  ...{ py: "python", go: "go", rs: "rust", ts: "typescript", mts: "typescript", cts: "typescript", tsx: "tsx" },
  ...{ js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "javascript" },
};
/** What a program that carries its grammars must carry. */
export const grammarNames: readonly string[] = [...new Set(Object.values(languages))];
const bytesMax = 400_000;

/** Reads what files of code and settings say. Grammars are WebAssembly, and loaded when the first file needs them. */
export function createFactReader(): (path: string, text: string) => Promise<readonly Fact[]> {
  // The package has no module for bundlers: its files are found where it is installed.
  const require = createRequire(import.meta.url);
  let started: Promise<Grammars> | undefined;
  const loaded = new Map<string, Promise<Language>>();
  let parser: Parser | undefined;
  async function start(): Promise<Grammars> {
    const grammars: Grammars = require("@vscode/tree-sitter-wasm");
    await grammars.Parser.init();
    return grammars;
  }
  return async (path, text) => {
    if (text.length > bytesMax) return [];
    const lines = text.split("\n");
    return (await readFile(path, text)).map((fact) => ({ ...fact, text: lines[fact.line - 1]?.trimEnd() ?? "" }));
  };

  async function readFile(path: string, text: string): Promise<readonly Untexted[]> {
    const ending = /\.(\w+)$/.exec(path)?.[1] ?? "";
    if (/^(?:ya?ml|json|toml)$/.test(ending)) return readData(ending, text);
    const name = languages[ending];
    const visit = name === undefined ? undefined : visits[name];
    if (name === undefined || visit === undefined) return [];
    started ??= start();
    const grammars = await started;
    const language =
      loaded.get(name) ??
      grammars.Language.load(require.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${name}.wasm`));
    loaded.set(name, language);
    parser ??= new grammars.Parser();
    parser.setLanguage(await language);
    const tree = parser.parse(text);
    if (tree === null) return [];
    try {
      return readSyntax(tree.rootNode, visit);
    } finally {
      tree.delete();
    }
  }
}

/** The settings of a file, and the properties of a schema, by their path. */
function readData(ending: string, text: string): readonly Untexted[] {
  const facts: Untexted[] = [];
  const walk = (value: unknown, path: readonly string[]): void => {
    if (facts.length > 5_000 || typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const one of value) walk(one, path);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      const container = path.join(".");
      const { default: set, enum: listed, type } = isRecord(inner) ? inner : ({} as Record<string, unknown>);
      const isScalar = ["string", "number", "boolean"].includes(typeof inner);
      const found = plainValue(JSON.stringify(isScalar ? inner : (set ?? null)) ?? "");
      const choices = Array.isArray(listed) && listed.length > 1 ? { choices: listed.map(String) } : {};
      facts.push({
        container,
        name,
        line: 1,
        ...(found !== null && { default: found }),
        ...choices,
        ...(typeof type === "string" && { type }),
      });
      walk(inner, [...path, name]);
    }
  };
  try {
    if (ending === "toml") walk(parseToml(text), []);
    else
      for (const document of parseAllDocuments(text, { logLevel: "silent" }))
        walk(document.toJS({ maxAliasCount: 100 }), []);
  } catch {
    // Templates and broken files say nothing.
    return [];
  }
  const lines = text.split("\n");
  return facts.map((fact) => ({ ...fact, line: lines.findIndex((line) => line.includes(fact.name)) + 1 }));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
