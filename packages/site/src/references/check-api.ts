import { quoted } from "../checks/report.ts";
import type { Finding } from "../types.ts";
import { type ApiDescription, matchesRoute, type Operation, schemaProblem } from "./api-description.ts";
import type { PageCode } from "./page-code.ts";
import { readRequests, type ShownRequest } from "./requests.ts";

export const apiMismatchCheck = "api-mismatch";
export const apiUndocumentedCheck = "api-undocumented";

/** A page's code, with a function from offsets to positions. */
export interface ReadPage extends PageCode {
  path: string;
  text: string;
  place(offset: number): { line: number; column: number };
}

const written = /^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(?:https?:\/\/[^/\s]+)?(\/[^\s?#]*)/;
const frontMatterOperation =
  /^openapi:\s*["']?(?:\S+\s+)?(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(\/\S*?)["']?\s*$/im;

/**
 * Compares pages with OpenAPI descriptions in both directions. `isGenerated`: a tool generates pages for every
 * operation.
 */
export function* checkApi(
  pages: readonly ReadPage[],
  descriptions: readonly ApiDescription[],
  isGenerated: boolean,
): Generator<Finding> {
  const operations = descriptions.flatMap((description) => description.operations);
  if (operations.length === 0) return;
  const documented = new Set<Operation>();
  for (const page of pages) {
    const named = frontMatterOperation.exec(page.text.slice(0, 4000));
    if (named !== null) {
      for (const one of find(operations, named[1] as string, named[2] as string)) documented.add(one);
    }
    yield* checkSpans(page, operations, documented);
    for (const sample of page.samples) {
      for (const request of readRequests(sample)) {
        yield* checkRequest(page, request, sample.at(request.offset), operations, documented);
      }
    }
  }
  if (isGenerated) return;
  for (const { file, operations: own } of descriptions) {
    for (const operation of own) {
      if (documented.has(operation)) continue;
      const message = `No page documents ${quoted(`${operation.method} ${operation.path}`)} of ${file}.`;
      yield { check: apiUndocumentedCheck, severity: "warning", path: file, line: 1, column: 1, message };
    }
  }
}

/** Operations in inline code, and the status codes after one under the same heading. */
function* checkSpans(page: ReadPage, operations: readonly Operation[], documented: Set<Operation>): Generator<Finding> {
  let current: readonly Operation[] = [];
  let since = 0;
  for (const span of page.spans) {
    if (/\n#{1,6}\s/.test(page.text.slice(since, span.start))) current = [];
    since = span.start;
    const route = written.exec(span.text);
    if (route !== null) {
      const [, method = "", path = ""] = route;
      current = find(operations, method, path);
      for (const one of current) documented.add(one);
      const problem = current.length > 0 ? null : routeProblem(operations, method, path);
      if (problem !== null) yield mismatch(page, span.start, problem);
    } else if (
      /^[1-5]\d\d$/.test(span.text) &&
      current.length > 0 &&
      current.every((one) => !answers(one, span.text))
    ) {
      const [operation] = current as [Operation];
      const listed = operation.statuses.join(", ");
      const message = `The description of ${quoted(`${operation.method} ${operation.path}`)} has no status ${span.text}; it has ${listed}.`;
      yield mismatch(page, span.start, message);
    }
  }
}

function* checkRequest(
  page: ReadPage,
  request: ShownRequest,
  at: number,
  operations: readonly Operation[],
  documented: Set<Operation>,
): Generator<Finding> {
  const found = find(operations, request.method, request.path);
  for (const one of found) documented.add(one);
  const [operation] = found;
  if (operation === undefined) {
    const problem = routeProblem(operations, request.method, request.path);
    if (problem !== null) yield mismatch(page, at, problem);
    return;
  }
  const name = quoted(`${operation.method} ${operation.path}`);
  for (const { name: parameter, value } of request.query) {
    const schema = operation.query.get(parameter);
    if (schema === undefined) {
      yield mismatch(page, at, `${name} has no query parameter ${quoted(parameter)}.`);
      continue;
    }
    const listed = schema.enum;
    if (Array.isArray(listed) && !listed.map(String).includes(value) && !/[<{$]/.test(value)) {
      yield mismatch(page, at, `${quoted(parameter)} of ${name} must be one of ${listed.map(String).join(", ")}.`);
    }
  }
  if (request.body === null || operation.body === null) return;
  let body: unknown;
  try {
    body = JSON.parse(request.body);
  } catch {
    // Abbreviated, or with shell variables.
    return;
  }
  const problem = schemaProblem(operation.body, body);
  if (problem !== null) yield mismatch(page, at, `The body of this request does not fit ${name}: ${problem}.`);
}

function find(operations: readonly Operation[], method: string, path: string): Operation[] {
  return operations.filter((operation) => operation.method === method && matchesRoute(operation, path));
}

/** Why there is no such operation. Null if the descriptions may not cover the route. */
function routeProblem(operations: readonly Operation[], method: string, path: string): string | null {
  const others = operations.filter((operation) => matchesRoute(operation, path));
  if (others.length > 0) {
    return `The API has no ${quoted(`${method} ${path}`)}; it has ${others.map((one) => one.method).join(", ")} there.`;
  }
  const top = (route: string): string => route.split("/").slice(0, 3).join("/");
  const isCovered = path.split("/").length > 2 && operations.some((operation) => top(operation.path) === top(path));
  return isCovered ? `The API has no ${quoted(`${method} ${path}`)}; correct the route or the description.` : null;
}

function answers({ statuses }: Operation, status: string): boolean {
  return (
    statuses.some((one) => one === status || one === "default" || one.toUpperCase() === `${status[0]}XX`) ||
    statuses.length === 0
  );
}

function mismatch({ path, place }: ReadPage, offset: number, message: string): Finding {
  return { check: apiMismatchCheck, severity: "error", path, ...place(offset), message };
}
