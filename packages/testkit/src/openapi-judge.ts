import { Ajv2020, type AnySchema, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

interface Documented {
  headers?: Record<string, { required?: boolean; schema: AnySchema }>;
  content?: Record<string, { schema: AnySchema }>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, Documented> }>>;
  components: { responses: { MethodNotAllowed: Documented } };
}

export interface SeenAnswer {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Headers of HTTP itself, which an OpenAPI document does not list. */
const ofHttp = new Set(["content-type", "content-length", "date", "connection", "keep-alive", "transfer-encoding"]);

/** The differences between a response and the document: status, headers, body. Empty: the response is as documented. */
export function createOpenApiJudge(document: OpenApiDocument): (answer: SeenAnswer) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: "openapi" });

  const validators = new Map<string, ValidateFunction>();

  function mistakesOf(schema: AnySchema, value: unknown, what: string): string[] {
    // References are relative to the document, so the schema is compiled as a part of it.
    const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/');
    const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
    validators.set(text, validate);
    return validate(value) ? [] : [`${what}: ${ajv.errorsText(validate.errors)}`];
  }

  function documented(answer: SeenAnswer): Documented | string {
    const path = answer.path.split("?", 1)[0]?.replace(/\/$/, "") ?? "";
    const template = Object.keys(document.paths).find((known) =>
      new RegExp(`^${known.replaceAll(/\{\w+\}/g, "[^/]*")}$`).test(path),
    );
    if (template === undefined) return `no path in the document matches ${path}`;
    const operation = document.paths[template]?.[answer.method.toLowerCase()];
    if (operation === undefined)
      return answer.status === 405 ? document.components.responses.MethodNotAllowed : unauthenticated(answer);
    return operation.responses[answer.status] ?? `${operation.operationId} documents no ${answer.status}`;
  }

  /** The server checks the key and the project before the method. */
  function unauthenticated(answer: SeenAnswer): Documented | string {
    const known = Object.values(document.paths).flatMap((operations) => Object.values(operations))[0];
    const isBefore = [401, 404, 500, 503].includes(answer.status);
    return (isBefore && known?.responses[answer.status]) || `${answer.status} for a method that is not documented`;
  }

  return (answer) => {
    const found = documented(answer);
    if (typeof found === "string") return [found];
    const expected = Object.entries(found.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header] as const);
    const names = new Set(expected.map(([name]) => name));
    const mistakes = Object.keys(answer.headers)
      .filter((name) => !ofHttp.has(name) && !names.has(name))
      .map((name) => `header ${name} is not documented for ${answer.status}`);
    for (const [name, header] of expected) {
      const value = answer.headers[name];
      if (value !== undefined) mistakes.push(...mistakesOf(header.schema, value, `header ${name}`));
      else if (header.required) mistakes.push(`header ${name} is missing from ${answer.status}`);
    }
    if (answer.method === "HEAD" || found.content === undefined) {
      return answer.body === "" ? mistakes : [...mistakes, "a body where none is documented"];
    }
    const type = String(answer.headers["content-type"]).split(";", 1)[0] ?? "";
    const schema = found.content[type]?.schema;
    if (schema === undefined) return [...mistakes, `content-type ${type}`];
    const body = type === "application/json" ? JSON.parse(answer.body) : answer.body;
    return [...mistakes, ...mistakesOf(schema, body, "body")];
  };
}
