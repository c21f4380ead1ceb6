import { readFileSync, writeFileSync } from "node:fs";

/**
 * Cuts a vendor's published description (OpenAPI 3 or Swagger 2, as JSON) down to the operations in a copy, and the
 * operations given: `npm run cut-description -- <description> <copy> "<source, version, date>" [operation…]`.
 * Names, types, required fields, enums, statuses and one example per response stay. Nested objects keep what Emend reads.
 */
const [source = "", target = "", comment = "", ...named] = process.argv.slice(2);

/** The fields that Emend reads of nested objects, for all vendors. */
const kept = new Set(
  "active admin archived author base body code config content content_type date default_branch email from full_name full_slug hash head href html html_url id inline insecure_ssl label links login maintain message name nickname object path permission permissions private pull push raw ref repo repo_id repository secret sha source destination branch commit state team to triage type units_map url user username uuid values verification verified workspace slug display_name account_id title summary draft created_on reviewers participants approved role kind pattern branch_match_kind users groups deleted pending mainbranch status conclusion output context description target_url summary commitId comments content id vote genre threadContext filePath leftFileStart rightFileStart line displayName descriptor memberOf identityType identifier allow deny isDeleted commentType parentCommentId publishedDate project sourceRefCommit acesDictionary settings publisherInputs consumerInputs result log buildNumber triggerInfo definition records".split(
    " ",
  ),
);

type Json = Record<string, unknown>;
// Some are published with a byte order mark.
const text = readFileSync(source, "utf8").replace(/^\ufeff/, "");
const document = JSON.parse(text) as Json & { paths: Record<string, Record<string, Operation>> };
interface Operation {
  parameters?: Json[];
  requestBody?: Json;
  responses: Record<string, Json>;
}

function follow(node: unknown): Json {
  const value = (node ?? {}) as Json;
  if (typeof value.$ref !== "string") return value;
  const parts = value.$ref.slice(2).split("/");
  return follow(parts.reduce<unknown>((at, part) => (at as Json)?.[part.replaceAll("~1", "/")], document));
}

const copied = ["type", "enum", "minLength", "maxLength", "minimum", "maximum", "pattern", "additionalProperties"];

function cut(node: unknown, depth: number): Json {
  const schema = follow(node);
  const out: Json = {};
  for (const key of copied) {
    if (schema[key] !== undefined && typeof schema[key] !== "object") out[key] = schema[key];
  }
  if (Array.isArray(schema.type)) out.type = schema.type;
  if (Array.isArray(schema.enum)) out.enum = schema.enum;
  for (const key of ["allOf", "anyOf", "oneOf"]) {
    if (Array.isArray(schema[key]) && depth < 3) out[key] = schema[key].map((part: unknown) => cut(part, depth));
  }
  if (schema.items && depth < 3) out.items = cut(schema.items, depth);
  if (schema.properties && depth < 3) {
    const named = Object.entries(schema.properties as Json).filter(([name]) => depth === 0 || kept.has(name));
    out.properties = Object.fromEntries(named.map(([name, part]) => [name, cut(part, depth + 1)]));
    const required = ((schema.required ?? []) as string[]).filter((name) => named.some(([known]) => known === name));
    if (required.length > 0) out.required = required;
  }
  // The original allows the properties that were cut here.
  const left = Object.keys((out.properties ?? {}) as Json).length;
  if (left < Object.keys((schema.properties ?? {}) as Json).length) delete out.additionalProperties;
  // Swagger 2 cannot express null, but servers send it.
  const isSilent = "swagger" in document && depth > 0;
  if (isSilent || schema.nullable === true || schema["x-nullable"] === true) {
    if (typeof out.type === "string") out.type = [out.type, "null"];
    if (Array.isArray(out.enum)) out.enum = [...out.enum, null];
  }
  return out;
}

function cutExample(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map((item) => cutExample(item, depth));
  if (typeof value !== "object" || value === null) return value;
  if (depth >= 3) return {};
  const parts = Object.entries(value).filter(([name]) => depth === 0 || kept.has(name));
  return Object.fromEntries(parts.map(([name, part]) => [name, cutExample(part, depth + 1)]));
}

function contentOf(node: Json): Json {
  const content = (node.content as Record<string, Json> | undefined) ?? {};
  return content["application/json"] ?? Object.values(content)[0] ?? node;
}

function cutOperation(name: string) {
  const [verb = "", path = ""] = name.split(" ");
  const at = document.paths[path];
  const operation = at?.[verb.toLowerCase()];
  if (!operation) throw new Error(`the description has no ${name}`);
  const shared = (at?.parameters as unknown as Json[] | undefined) ?? [];
  const parameters = [...shared, ...(operation.parameters ?? [])].map(follow);
  const query = parameters.filter((one) => one.in === "query").map((one) => [one.name, cut(one.schema ?? one, 0)]);
  const inBody = parameters.find((one) => one.in === "body");
  const request = operation.requestBody ? contentOf(follow(operation.requestBody)).schema : inBody?.schema;
  const answers = Object.entries(operation.responses).map(
    ([status, node]) => [status, contentOf(follow(node))] as const,
  );
  const examples = answers.flatMap(([status, answer]) => {
    const listed = Object.values((answer.examples as Json | undefined) ?? {})[0];
    const example = listed ? (follow(listed).value ?? listed) : answer.example;
    return example === undefined || !status.startsWith("2") ? [] : [[status, cutExample(example, 0)]];
  });
  return {
    ...(query.length > 0 && { query: Object.fromEntries(query) }),
    ...(request !== undefined && { request: cut(request, 0) }),
    responses: Object.fromEntries(answers.map(([status, { schema }]) => [status, schema ? cut(schema, 0) : {}])),
    ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
  };
}

const before = JSON.parse(readFileSync(target, "utf8")) as { operations: Json; events?: Json };
const names = [...new Set([...Object.keys(before.operations), ...named])].sort();
const operations = Object.fromEntries(names.map((name) => [name, cutOperation(name)]));
const lines = Object.entries(operations).map(([name, cut]) => `${JSON.stringify(name)}: ${JSON.stringify(cut)}`);
const events = before.events ? `"events": ${JSON.stringify(before.events)},\n` : "";
writeFileSync(
  target,
  `{"$comment": ${JSON.stringify(comment)},\n${events}"definitions": {},\n"operations": {\n${lines.join(",\n")}\n}}\n`,
);
