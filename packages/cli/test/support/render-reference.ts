interface Schema {
  $ref?: string;
  type?: string;
  description?: string | undefined;
  enum?: readonly string[];
  const?: unknown;
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  default?: unknown;
  examples?: readonly unknown[];
}

interface Operation {
  summary: string;
  description: string;
  parameters?: readonly { name: string; in: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; headers?: Record<string, unknown>; content?: object }>;
}

interface Document {
  info: { description: string };
  paths: Record<string, Record<string, unknown>>;
  components: { schemas?: unknown };
}

/** Renders the API reference page from the OpenAPI document of a running server. */
export function renderReference(document: Document): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== "head")
      .map(([method, operation]) => renderOperation(method, path, operation as Operation)),
  );
  const schemas = Object.entries((document.components.schemas ?? {}) as Record<string, Schema>);
  const lines = [
    "---",
    "title: API reference",
    "description: Every route, from the OpenAPI document that a running server serves at /openapi.json.",
    "---",
    "",
    "# API reference",
    "",
    "Generated from the OpenAPI document, which a running server serves at `/openapi.json` and shows at `/reference`.",
    "",
    document.info.description,
    "",
    "Every request carries `Authorization: Bearer <key>`. `HEAD` mirrors `GET`.",
    "",
    ...operations.flat(),
    ...schemas.flatMap(([name, schema]) => renderSchema(name, schema)),
  ];
  return `${lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trimEnd()}\n`;
}

function renderOperation(method: string, path: string, operation: Operation): string[] {
  const parameters = (operation.parameters ?? []).map(({ name, in: place, required, schema, description = "" }) =>
    row(`\`${name}\``, place, required ? "yes" : "no", typeOf(schema) + boundsOf(schema), description),
  );
  const body = operation.requestBody?.content["application/json"]?.schema;
  const answers = Object.entries(operation.responses).map(([status, { description, headers = {} }]) =>
    row(status, description, Object.keys(headers).map(code).join(", ")),
  );
  return [
    `## ${operation.summary}`,
    "",
    "```http",
    `${method.toUpperCase()} ${path}`,
    "```",
    "",
    operation.description,
    "",
    ...(parameters.length > 0
      ? [row("parameter", "in", "required", "type", "meaning"), ruler(5), ...parameters, ""]
      : []),
    ...(body ? [`The body is JSON: ${typeOf(body)}.`, ""] : []),
    row("status", "meaning", "headers"),
    ruler(3),
    ...answers,
    "",
  ];
}

function renderSchema(name: string, schema: Schema): string[] {
  const fields = (schema.anyOf ? fieldsOfAny(schema.anyOf) : fieldsOf(schema, "")).map(([path, field, isRequired]) =>
    row(
      code(path),
      typeOf(field) + boundsOf(field),
      typeof isRequired === "string" ? isRequired : isRequired ? "yes" : "no",
      field.description ?? "",
    ),
  );
  const [example] = schema.examples ?? [];
  return [
    `## ${name}`,
    "",
    schema.description ?? "",
    "",
    ...(fields.length === 0
      ? [`One of ${typeOf(schema)}.`]
      : [row("field", "type", "always there", "meaning"), ruler(4), ...fields]),
    "",
    ...(example === undefined ? [] : ["```json", JSON.stringify(example, null, 2), "```", ""]),
  ];
}

/** Of a union, each field once, with the names of those that have it. */
function fieldsOfAny(variants: readonly Schema[]): [string, Schema, boolean | string][] {
  const found = new Map<string, { fields: Schema[]; names: string[]; isRequired: boolean }>();
  for (const variant of variants) {
    const tag = Object.values(variant.properties ?? {}).find((field) => field.enum?.length === 1);
    for (const [path, field, isRequired] of fieldsOf(variant, "")) {
      const known = found.get(path) ?? { fields: [], names: [], isRequired: true };
      known.isRequired &&= isRequired;
      known.names.push(tag ? typeOf(tag) : "");
      found.set(path, { ...known, fields: [...known.fields, field] });
    }
  }
  return [...found].map(([path, { fields, names, isRequired }]) => {
    const types = [...new Set(fields.flatMap((field) => typeOf(field).split(" or ")))].map((type) => ({ type }));
    const [first = {}] = fields;
    const isOne = fields.every(({ description }) => description === first.description);
    const field = fields.length === 1 ? first : { description: isOne ? first.description : undefined, anyOf: types };
    return [path, field, names.length === variants.length ? isRequired : names.join(", ")];
  });
}

function fieldsOf(schema: Schema, prefix: string): [string, Schema, boolean][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]): [string, Schema, boolean][] => {
    const path = prefix + name;
    const inner = field.properties ? field : field.anyOf?.find(({ properties }) => properties);
    const itself: [string, Schema, boolean] = [path, field, schema.required?.includes(name) ?? false];
    const items = field.items?.properties ? fieldsOf(field.items, `${path}[].`) : [];
    return [itself, ...(inner ? fieldsOf(inner, `${path}.`) : items)];
  });
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return `[${schema.$ref.split("/").at(-1)}](#${schema.$ref.split("/").at(-1)?.toLowerCase()})`;
  if (schema.enum) return schema.enum.map(code).join(", ");
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  return schema.type ?? "any";
}

/** The allowed values, besides the type. */
function boundsOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength } = schema;
  const isText = schema.type === "string";
  const least = isText ? minLength : minimum;
  const most = isText ? maxLength : maximum;
  const bounds = [
    least !== undefined && most !== undefined ? `${least} to ${most}` : "",
    least !== undefined && most === undefined ? `at least ${least}` : "",
    least === undefined && most !== undefined ? `at most ${most}` : "",
  ].join("");
  const stated = bounds === "" ? "" : `, ${bounds}${isText ? " characters" : ""}`;
  return schema.default === undefined ? stated : `${stated}; ${JSON.stringify(schema.default)} unless given`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s+/g, " ")).join(" | ")} |`;
}

function ruler(columns: number): string {
  return `|${"---|".repeat(columns)}`;
}
