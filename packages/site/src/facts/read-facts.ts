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

// The package has no module for bundlers: its files are found where it is installed.
const require = createRequire(import.meta.url);
// Once for each process: of two that start together, the library keeps the parser of one and the grammars of the other.
let started: Promise<Grammars> | undefined;
let parser: Parser | undefined;
const loaded = new Map<string, Promise<Language>>();

/** Reads what a file of code or settings says. Grammars are WebAssembly, and loaded when the first file needs them. */
export async function readFacts(path: string, text: string): Promise<readonly Fact[]> {
  if (text.length > bytesMax) return [];
  const lines = text.split("\n");
  return (await readFile(path, text)).map((fact) => ({ ...fact, text: lines[fact.line - 1]?.trimEnd() ?? "" }));
}

async function startGrammars(): Promise<Grammars> {
  const grammars: Grammars = require("@vscode/tree-sitter-wasm");
  await grammars.Parser.init();
  return grammars;
}

async function readFile(path: string, text: string): Promise<readonly Untexted[]> {
  const ending = /\.(\w+)$/.exec(path)?.[1] ?? "";
  if (isEnvSample(path)) return readVariables(text);
  if (/^(?:ya?ml|json|toml)$/.test(ending)) return readData(ending, text);
  const name = languages[ending];
  const visit = name === undefined ? undefined : visits[name];
  if (name === undefined || visit === undefined) return [];
  started ??= startGrammars();
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

/** A file that shows the variables that a program reads, such as `.env.example`. */
export function isEnvSample(path: string): boolean {
  return /(?:^|[/.])env\.(?:example|sample|template|dist|defaults?)$|(?:^|\/)(?:example|sample|template|default)\.env$/i.test(
    path,
  );
}

/** `NAME=value` and `# NAME=value`; the comment above it may say that it is deprecated. */
function readVariables(text: string): readonly Untexted[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const [, name, given = ""] =
      /^\s*(?:#\s*)?(?:export\s+)?([A-Z][A-Z\d_]+)\s*=\s*("[^"]*"|'[^']*'|[^\s#]*)\s*(?:#.*)?$/.exec(line) ?? [];
    if (name === undefined) return [];
    const value = given.replace(/^(["'])(.*)\1$/, "$2");
    const isDeprecated = /^\s*#.*\bdeprecated\b/i.test(`${lines[index - 1] ?? ""}`);
    const life = isDeprecated ? { deprecated: true } : {};
    return { container: "variables", name, line: index + 1, ...(value !== "" && { default: value }), ...life };
  });
}

/** The settings of a file, and the properties of a schema, by their path. */
function readData(ending: string, text: string): readonly Untexted[] {
  const facts: Untexted[] = [];
  const add = (container: string, name: string, inner: unknown, isRequired: boolean | undefined) => {
    const described = isRecord(inner) ? inner : {};
    const { default: set, enum: listed, type, deprecated } = described;
    const isScalar = ["string", "number", "boolean"].includes(typeof inner);
    const found = plainValue(JSON.stringify(isScalar ? inner : (set ?? null)) ?? "");
    facts.push({
      container,
      name,
      line: 1,
      ...(found !== null && { default: found }),
      ...(Array.isArray(listed) && listed.length > 1 && { choices: listed.map(String) }),
      ...(typeof type === "string" && { type }),
      ...(isRequired !== undefined && { required: isRequired }),
      ...(deprecated === true && { deprecated }),
    });
  };
  const walk = (value: unknown, path: readonly string[], required?: ReadonlySet<unknown>): void => {
    if (facts.length > 5_000 || typeof value !== "object" || value === null) return;
    const container = path.join(".");
    if (Array.isArray(value)) {
      for (const one of value) {
        // A parameter of an OpenAPI description.
        if (isRecord(one) && typeof one.name === "string" && typeof one.in === "string")
          add(container, one.name, { ...one, ...(isRecord(one.schema) && one.schema) }, one.required === true);
        else walk(one, path);
      }
      return;
    }
    const { required: listed } = value as Record<string, unknown>;
    for (const [name, inner] of Object.entries(value)) {
      add(container, name, inner, required?.has(name));
      // The names below `properties` are those that a schema lists as required beside it.
      const isSchema = name === "properties" && Array.isArray(listed);
      walk(inner, [...path, name], isSchema ? new Set(listed) : undefined);
    }
  };
  try {
    if (ending === "toml") walk(parseToml(text), []);
    else
      for (const document of parseAllDocuments(text, { logLevel: "silent", uniqueKeys: false }))
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
