import { parse } from "yaml";
import type { SiteTree } from "../types.ts";
import { plainRoute } from "./source-words.ts";

export type JsonSchema = Record<string, unknown>;

export interface Operation {
  method: string;
  /** The path as in the description, prefixed with the server's path. */
  path: string;
  /** Query parameters with their schemas. */
  query: ReadonlyMap<string, JsonSchema>;
  /** `200`, `4XX`, `default`. */
  statuses: readonly string[];
  /** The schema of a JSON body. */
  body: JsonSchema | null;
}

/** An OpenAPI description in the docs or in a source repository. */
export interface ApiDescription {
  file: string;
  operations: readonly Operation[];
}

const descriptionFile = /(?:^|\/)[\w.-]*(?:openapi|swagger)[\w.-]*\.(?:json|ya?ml)$/i;
const notTheProject = /(?:^|\/)(?:tests?|__tests__|fixtures?|examples?|node_modules|vendor|testdata)\//i;
const bytesMax = 4 * 1024 * 1024;
const methods = ["get", "post", "put", "patch", "delete", "head", "options"];

/** Every description, found by file name. Invalid ones are skipped. */
export async function readApiDescriptions(tree: SiteTree): Promise<ApiDescription[]> {
  const found: ApiDescription[] = [];
  for (const { path, size = 0 } of await tree.list()) {
    if (!descriptionFile.test(path) || notTheProject.test(path) || size > bytesMax) continue;
    const bytes = await tree.read(path);
    const description =
      bytes === null || bytes.length > bytesMax ? null : parseDescription(Buffer.from(bytes).toString());
    if (description !== null && description.length > 0) found.push({ file: path, operations: description });
  }
  return found;
}

function parseDescription(text: string): Operation[] | null {
  let root: unknown;
  try {
    root = /^\s*\{/.test(text) ? JSON.parse(text) : parse(text, { logLevel: "silent", uniqueKeys: false });
  } catch {
    return null;
  }
  if (!isRecord(root) || !isRecord(root.paths) || (root.openapi === undefined && root.swagger === undefined))
    return null;
  const base = basePath(root);
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(root.paths)) {
    if (!isRecord(item)) continue;
    for (const method of methods) {
      const operation = item[method];
      if (isRecord(operation)) operations.push(readOperation(root, `${base}${path}`, method, item, operation));
    }
  }
  return operations;
}

function basePath(root: Record<string, unknown>): string {
  const server = Array.isArray(root.servers) && isRecord(root.servers[0]) ? String(root.servers[0].url ?? "") : "";
  const path = typeof root.basePath === "string" ? root.basePath : server.replace(/^(?:https?:)?\/\/[^/]*/, "");
  return path.startsWith("/") ? path.replace(/\/+$/, "") : "";
}

function readOperation(
  root: Record<string, unknown>,
  path: string,
  method: string,
  item: Record<string, unknown>,
  operation: Record<string, unknown>,
): Operation {
  const query = new Map<string, JsonSchema>();
  for (const listed of [item.parameters, operation.parameters]) {
    for (const given of Array.isArray(listed) ? listed : []) {
      const parameter = resolveRef(root, given);
      if (parameter?.in === "query" && typeof parameter.name === "string") {
        query.set(parameter.name, resolveDeep(root, parameter.schema ?? parameter));
      }
    }
  }
  const content = resolveRef(root, operation.requestBody)?.content;
  const json = isRecord(content) ? content["application/json"] : undefined;
  const statuses = isRecord(operation.responses) ? Object.keys(operation.responses) : [];
  const body = isRecord(json) && json.schema !== undefined ? resolveDeep(root, json.schema) : null;
  return { method: method.toUpperCase(), path, query, statuses, body };
}

/** Resolves a local `$ref`. References to other files are not followed. */
function resolveRef(root: Record<string, unknown>, value: unknown): Record<string, unknown> | null {
  if (!isRecord(value)) return null;
  if (typeof value.$ref !== "string") return value;
  if (!value.$ref.startsWith("#/")) return null;
  let at: unknown = root;
  for (const part of value.$ref.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return isRecord(at) ? at : null;
}

const depthMax = 6;

/** A schema with its references resolved, as deep as samples go. An unresolvable reference allows anything. */
function resolveDeep(root: Record<string, unknown>, value: unknown, depth = 0): JsonSchema {
  const schema = resolveRef(root, value);
  if (schema === null || depth > depthMax) return {};
  const resolved: JsonSchema = { ...schema };
  if (isRecord(schema.properties)) {
    resolved.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, resolveDeep(root, property, depth + 1)]),
    );
  }
  if (isRecord(schema.items)) resolved.items = resolveDeep(root, schema.items, depth + 1);
  return resolved;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a route in a page matches this operation: parameters match any segment. */
export function matchesRoute(operation: Operation, route: string): boolean {
  const wanted = plainRoute(operation.path).split("/");
  const given = plainRoute(route).split("/");
  return wanted.length === given.length && wanted.every((part, i) => part === "{}" || part === given[i]);
}

/** Why a value violates a schema. Null if no violation is certain. */
export function schemaProblem(schema: JsonSchema, value: unknown, at = "the body"): string | null {
  // Combined schemas are not checked.
  if (["allOf", "anyOf", "oneOf", "not"].some((key) => schema[key] !== undefined)) return null;
  const listed = schema.enum;
  if (Array.isArray(listed) && !listed.includes(value)) {
    return `${at} must be one of ${listed.slice(0, 8).map(String).join(", ")}`;
  }
  if (typeof schema.type === "string" && schema.nullable !== true && !hasType(schema.type, value))
    return `${at} must be of type ${schema.type}`;
  if (isRecord(value)) {
    for (const name of Array.isArray(schema.required) ? schema.required : []) {
      if (!Object.hasOwn(value, String(name))) return `${at} lacks the required "${name}"`;
    }
    const properties = isRecord(schema.properties) ? schema.properties : {};
    for (const [name, inner] of Object.entries(value)) {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (property === undefined && schema.additionalProperties === false) return `${at} has no "${name}"`;
      const problem = isRecord(property) ? schemaProblem(property, inner, `"${name}"`) : null;
      if (problem !== null) return problem;
    }
  }
  if (Array.isArray(value) && isRecord(schema.items)) {
    for (const item of value) {
      const problem = schemaProblem(schema.items, item, `an item of ${at}`);
      if (problem !== null) return problem;
    }
  }
  return null;
}

function hasType(type: string, value: unknown): boolean {
  switch (type) {
    case "object":
      return isRecord(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return true;
  }
}
