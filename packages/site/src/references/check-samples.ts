import { parse as parseToml } from "smol-toml";
import { parseAllDocuments } from "yaml";
import { quoted } from "../checks/report.ts";
import { decodePiece } from "../text/bytes.ts";
import type { Finding } from "../types.ts";
import type { ReadPage } from "./check-api.ts";
import type { CodeReference } from "./find-references.ts";
import { packageOf } from "./manifests.ts";
import type { Sample } from "./page-code.ts";
import type { SourceIndex } from "./source-index.ts";

export const sampleSyntaxCheck = "sample-syntax";
export const sampleImportCheck = "sample-import";

/** Reports data in fenced blocks that does not parse. Abbreviated samples and templates are skipped. */
export function* checkSampleSyntax({ path, samples, place }: ReadPage): Generator<Finding> {
  for (const sample of samples) {
    if (isShortened(sample)) continue;
    const problem = problemOf(sample);
    if (problem === null) continue;
    const { line, column } = place(sample.at(problem.offset));
    const message = `This ${sample.language.toUpperCase()} does not parse: ${problem.message}`;
    yield { check: sampleSyntaxCheck, severity: "warning", path, line, column, message };
  }
}

const shortened =
  /\.\.\.|\xe2\x80\xa6|\{\{|\{%|\$\{|<[A-Za-z][\w -]*>|^\s*(?:--8<--|<<<|@include|\[!code)|^[+-] ?["{}]/m;

function isShortened({ text, info }: Sample): boolean {
  return text.trim() === "" || shortened.test(text) || /\bdiff\b/.test(info);
}

function problemOf({ language, text }: Sample): { message: string; offset: number } | null {
  if (language === "json") return jsonProblem(text);
  if (language === "yaml" || language === "yml") return yamlProblem(text);
  if (language !== "toml") return null;
  try {
    parseToml(decodePiece(text));
    return null;
  } catch (error) {
    const { message, line = 1 } = error as Error & { line?: number };
    return { message: firstLine(message), offset: startOfLine(text, line) };
  }
}

const trailingComma = /,(?=\s*[}\]])/;

/** Samples often have comments, only the inside of an object, or one value per line. */
function jsonProblem(text: string): { message: string; offset: number } | null {
  const strings = /("(?:\\.|[^"\\\n])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  const plain = text.replace(strings, (found, string) => (string === undefined ? " ".repeat(found.length) : found));
  const strict = plain
    .replace(/,(\s*[}\]])/g, " $1")
    .trimEnd()
    .replace(/,$/, "");
  // In a piece of an object a comma may be followed by more.
  if (isJson(strict) && !isJson(plain) && plain === text) {
    const offset = plain.search(trailingComma);
    if (offset !== -1) return { message: "a comma before the closing bracket.", offset };
  }
  const forms = [
    strict,
    `{${strict}}`,
    `[${strict.split("\n").join(",")}]`,
    `[${strict.replace(/\}\s*\n\s*\{/g, "},{")}]`,
  ];
  let first: Error | null = null;
  for (const form of forms) {
    try {
      JSON.parse(form);
      return null;
    } catch (error) {
      first ??= error as Error;
    }
  }
  const at = Number(/position (\d+)/.exec(first?.message ?? "")?.[1] ?? 0);
  return { message: firstLine(first?.message ?? ""), offset: Math.min(at, Math.max(0, text.length - 1)) };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function yamlProblem(text: string): { message: string; offset: number } | null {
  for (const document of parseAllDocuments(text, { uniqueKeys: false, logLevel: "silent" })) {
    const [error] = document.errors;
    if (error !== undefined)
      return { message: firstLine(error.message), offset: Math.min(error.pos[0], Math.max(0, text.length - 1)) };
  }
  return null;
}

function firstLine(text: string): string {
  return `${(text.split("\n")[0] ?? "").replace(/ at line \d.*$/, "").replace(/[.:]$/, "")}.`;
}

function startOfLine(text: string, line: number): number {
  let at = 0;
  for (let i = 1; i < line; i++) at = text.indexOf("\n", at) + 1;
  return Math.max(0, at);
}

/** Reports imports from the project's own packages that its sources do not have. */
export function* checkImports(
  references: readonly CodeReference[],
  sources: readonly SourceIndex[],
): Generator<Finding> {
  for (const { kind, text, from, page, line, column, inSample } of references) {
    if (!inSample) continue;
    const at = { check: sampleImportCheck, severity: "error" as const, path: page, line, column };
    if (kind === "package") {
      const owner = sources.find((source) => source.hasPackage(packageOf(text)));
      if (owner !== undefined && owner.exportsPart(text) === false) {
        yield {
          ...at,
          message: `The package ${quoted(packageOf(text))} exports no ${quoted(text)}; correct the import.`,
        };
      }
    } else if (from !== undefined && sources.some((source) => source.hasPackage(packageOf(from)))) {
      if (sources.some((source) => source.has(text))) continue;
      yield {
        ...at,
        message: `${quoted(from)} has no ${quoted(text)}: the name is nowhere in its sources. Correct the import.`,
      };
    }
  }
}
