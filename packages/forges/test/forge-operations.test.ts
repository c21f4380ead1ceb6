import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Vendor } from "@emend/testkit/forges/far-end.ts";
import { everyVendor } from "@emend/testkit/forges/vendors.ts";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const source = fileURLToPath(new URL("../src/", import.meta.url));
const server = fileURLToPath(new URL("../../server/src/", import.meta.url));

/** An operation as the source requests it. Each part that is known only at run time is `{}`. */
interface Asked {
  method: string;
  path: string;
  at: string;
}

/** Parameters that may contain slashes. */
const wide: Readonly<Record<string, string>> = { repositoryPath: "{}/{}", branches: "{}/{}" };
/** A forge that moved a repository answers with the next URL. */
const toldByForge = ["repository-address.ts: target.href.slice(apiUrl.length)"];
const actions = ["GET /repos/{}/{}/actions/jobs/{}", "GET /repos/{}/{}/actions/jobs/{}/logs"];
const replies = "POST /repos/{}/{}/pulls/{}/comments/{}/replies";
/** Used only if the server has it. */
const optional: Readonly<Record<string, readonly string[]>> = {
  "an older gitea": ["GET /repos/{}/{}/pulls/{}/{}", replies, ...actions],
  forgejo: [replies, ...actions],
};

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
}

/** What the package offers of one vendor. */
function namesOf(vendor: Vendor): readonly string[] {
  const index = readFileSync(join(source, "index.ts"), "utf8");
  const exported = [...index.matchAll(/export (?:type )?\{([^}]*)\} from "\.\/(\w+)\//g)];
  return exported.flatMap(([, list = "", folder]) =>
    folder === vendor.name ? (list.match(/\w+(?=\s*(?:,|$))/g) ?? []) : [],
  );
}

/** The vendor's own files, shared files, and files of the server that call this vendor. */
function filesOf(vendor: Vendor): readonly string[] {
  const own = readdirSync(join(source, vendor.name)).map((name) => join(source, vendor.name, name));
  const offered = namesOf(vendor);
  const elsewhere = readdirSync(server, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(server, name))
    .filter((file) => {
      const text = readFileSync(file, "utf8");
      return text.includes('"@emend/forges"') && offered.some((name) => text.includes(name));
    });
  const found = new Set([...own, ...elsewhere].filter((file) => !file.endsWith(".test.ts")));
  for (const file of found) {
    for (const { fileName } of ts.preProcessFile(readFileSync(file, "utf8")).importedFiles) {
      const target = fileName.startsWith(".") ? join(dirname(file), fileName) : "";
      if (`${dirname(target)}/` === source && basename(target) !== "registry.ts") found.add(target);
    }
  }
  return [...found];
}

/** Every call of an API client in a file, with the request read from the source. */
function operationsIn(file: string, base: string): { asked: Asked[]; unread: string[] } {
  const asked: Asked[] = [];
  const unread: string[] = [];
  const name = relative(source, file);

  /** The nearest enclosing declaration of a name. Parameters have no static value. */
  function settingOf(identifier: ts.Identifier): ts.Expression | null {
    for (let scope: ts.Node = identifier; scope; scope = scope.parent) {
      if (!ts.isBlock(scope) && !ts.isSourceFile(scope)) {
        if (ts.isFunctionLike(scope) && scope.parameters.some((one) => names(one.name).includes(identifier.text))) {
          return null;
        }
        continue;
      }
      for (const statement of scope.statements) {
        if (!ts.isVariableStatement(statement)) continue;
        for (const { name: declared, initializer } of statement.declarationList.declarations) {
          if (!names(declared).includes(identifier.text)) continue;
          return ts.isIdentifier(declared) ? (initializer ?? null) : null;
        }
      }
    }
    return null;
  }

  function names(binding: ts.BindingName): string[] {
    return ts.isIdentifier(binding)
      ? [binding.text]
      : binding.elements.flatMap((one) => (ts.isOmittedExpression(one) ? [] : names(one.name)));
  }

  /** The possible texts of an expression. Null: known only at run time. */
  function texts(node: ts.Expression): string[] | null {
    if (ts.isAsExpression(node) || ts.isParenthesizedExpression(node)) return texts(node.expression);
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (ts.isConditionalExpression(node)) {
      const [yes, no] = [texts(node.whenTrue), texts(node.whenFalse)];
      return yes && no && [...yes, ...no];
    }
    if (ts.isTemplateExpression(node)) {
      const parts = node.templateSpans.map(({ expression, literal }) => `${holeOf(expression)}${literal.text}`);
      return [`${node.head.text}${parts.join("")}`];
    }
    if (ts.isPropertyAccessExpression(node)) return node.name.text === "path" ? [base] : null;
    if (!ts.isIdentifier(node)) return null;
    const value = settingOf(node);
    if (value) return texts(value);
    return node.text === "path" ? [base] : null;
  }

  function holeOf(node: ts.Expression): string {
    const last = ts.isPropertyAccessExpression(node) ? node.name.text : node.getText();
    if (wide[last]) return wide[last];
    return texts(node)?.[0] ?? "{}";
  }

  /** A field of a request object, also through spreads and variables. */
  function field(node: ts.Expression, wanted: string): ts.Expression | null {
    if (ts.isAsExpression(node) || ts.isParenthesizedExpression(node)) return field(node.expression, wanted);
    if (ts.isIdentifier(node)) {
      const value = settingOf(node);
      return value && field(value, wanted);
    }
    if (!ts.isObjectLiteralExpression(node)) return null;
    for (const property of node.properties.toReversed()) {
      if (ts.isSpreadAssignment(property)) {
        const found = field(property.expression, wanted);
        if (found) return found;
      } else if (property.name?.getText() === wanted) {
        if (ts.isShorthandPropertyAssignment(property)) return property.name;
        if (ts.isPropertyAssignment(property)) return property.initializer;
      }
    }
    return null;
  }

  function visit(node: ts.Node): void {
    if (ts.isCallExpression(node)) {
      const request = requestOf(node);
      if (request) read(request.node, request.method);
      const [path] = node.arguments;
      // The end of a log, by its path alone.
      if (path && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === "readTail")
        for (const one of texts(path) ?? []) asked.push({ method: "GET", path: one, at: name });
    }
    ts.forEachChild(node, visit);
  }

  function read(request: ts.Expression, known: string | null): void {
    const path = field(request, "path");
    const method = field(request, "method");
    const methods = known === null ? method && texts(method) : [known];
    const paths = path && texts(path);
    if (!paths || !methods) {
      unread.push(`${name}: ${(path ?? request).getText()}`);
      return;
    }
    for (const one of methods) for (const where of paths) asked.push({ method: one, path: where, at: name });
  }

  const parsed = parse(file);
  // These files only hold helpers: their requests are read at the call sites.
  if (!["api-client.ts", "bitbucket-api.ts", "azure-devops-api.ts"].includes(basename(file))) visit(parsed);
  return { asked, unread };
}

/** The request of a forge call, and its method if the callee sets it. */
function requestOf({
  expression,
  arguments: given,
}: ts.CallExpression): { node: ts.Expression; method: string | null } | null {
  if (
    ts.isIdentifier(expression) &&
    ["listPages", "listNotes", "listValues", "mayLook"].includes(expression.text) &&
    given[1]
  ) {
    return { node: given[1], method: "GET" };
  }
  if (!ts.isPropertyAccessExpression(expression) || !["call", "ask"].includes(expression.name.text)) return null;
  return given[0] ? { node: given[0], method: null } : null;
}

function isDescribed(operations: readonly string[], { method, path }: Asked): boolean {
  const parts = path.split("/");
  return operations.some((operation) => {
    const [verb, pattern = ""] = operation.split(" ");
    const wanted = pattern.split("/");
    if (verb !== method || wanted.length !== parts.length) return false;
    return wanted.every((part, index) => (part.startsWith("{") ? parts[index] !== "" : part === parts[index]));
  });
}

describe.each(everyVendor)("$label", (vendor) => {
  const base = (vendor.repositoryOperation.split(" ")[1] ?? "").replaceAll(/\{\w+\}/g, "{}");
  const found = filesOf(vendor).map((file) => operationsIn(file, base));
  const asked = found.flatMap((file) => file.asked);

  it("describes every operation that the code can ask for, tried in a test or not", () => {
    const operations = Object.keys(vendor.description.operations);
    // The description is of REST. GraphQL has its own.
    const missing = asked.filter((one) => one.path !== "/graphql" && !isDescribed(operations, one));
    const words = missing.map(({ method, path, at }) => `${method} ${path} in ${at}`);
    const mayMiss = optional[vendor.label] ?? [];
    expect(words.filter((one) => !mayMiss.some((known) => one.startsWith(`${known} `)))).toEqual([]);
    // The copy must not contain operations that the source no longer uses.
    const used = operations.filter((operation) => asked.some((one) => isDescribed([operation], one)));
    expect(operations.filter((operation) => !used.includes(operation))).toEqual([]);
  });

  it("leaves no request whose operation cannot be read from the source", () => {
    expect(asked.length).toBeGreaterThan(10);
    expect(found.flatMap(({ unread }) => unread)).toEqual(toldByForge);
  });
});
