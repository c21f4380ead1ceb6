type Json = Record<string, unknown>;

const methods = ["get", "post", "patch", "put", "delete"] as const;
/** Deeper fields are in openapi.json. */
const depthMax = 4;

/** The API's reference as one page: plain HTML without a script, from the OpenAPI document. */
export function referencePage(document: Json): string {
  const info = recordOf(document.info);
  const operations = Object.entries(recordOf(document.paths)).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = recordOf(item)[method];
      return operation === undefined ? [] : [{ method, path, operation: operation as Json }];
    }),
  );
  const idOf = (at: number) => `operation-${at + 1}`;
  const links = operations.map(
    ({ operation, method, path }, at) =>
      `<li><a href="#${idOf(at)}">${text(operation.summary ?? `${method} ${path}`)}</a></li>`,
  );
  const sections = operations.map(
    ({ operation, method, path }, at) => `<section aria-labelledby="${idOf(at)}">
<h2 id="${idOf(at)}">${text(operation.summary ?? path)}</h2>
<p><code><b>${method.toUpperCase()}</b> ${text(path)}</code></p>
${paragraphs(operation.description)}
${fields("Parameters", parametersOf(operation))}
${fields("Body", bodyOf(document, operation))}
${responsesOf(document, operation)}
</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Emend API reference</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${text(info.title ?? "Emend API")}</h1>
${paragraphs(info.description)}
<p>Send <code>Authorization: Bearer YOUR_KEY</code> with each request. The same as data: <a href="../openapi.json">openapi.json</a>.</p>
</header>
<nav aria-label="Operations"><ul>${links.join("\n")}</ul></nav>
<main>
${sections.join("\n")}
</main>
</body>
</html>
`;
}

interface Field {
  name: string;
  type: string;
  isRequired: boolean;
  description: unknown;
}

function parametersOf(operation: Json): Field[] {
  return listOf(operation.parameters).map((parameter) => ({
    name: `${parameter.name} (${parameter.in})`,
    type: typeOf({}, recordOf(parameter.schema)),
    isRequired: parameter.required === true,
    description: parameter.description,
  }));
}

function bodyOf(document: Json, operation: Json): Field[] {
  return fieldsOf(document, schemaOf(recordOf(operation.requestBody)));
}

function responsesOf(document: Json, operation: Json): string {
  return Object.entries(recordOf(operation.responses))
    .map(([status, given]) => {
      const response = recordOf(given);
      const title = `<h3>${text(status)}</h3>\n${paragraphs(response.description)}`;
      // The same for all of them.
      const isError = Number(status) >= 400;
      return `${title}${isError ? "" : fields("", fieldsOf(document, schemaOf(response)))}`;
    })
    .join("\n");
}

function schemaOf(message: Json): Json {
  return recordOf(recordOf(Object.values(recordOf(message.content))[0]).schema);
}

function resolved(document: Json, schema: Json): Json {
  if (typeof schema.$ref !== "string") return schema;
  const steps = schema.$ref.replace(/^#\//, "").split("/");
  return steps.reduce((at, step) => recordOf(at[step]), document);
}

/** A schema's fields by their paths: `source.ref`, `steps[].text`. */
function fieldsOf(document: Json, given: Json, before = "", depth = 0): Field[] {
  const schema = resolved(document, given);
  if (depth > depthMax) return [];
  const variants = listOf(schema.anyOf ?? schema.oneOf ?? schema.allOf).filter(({ type }) => type !== "null");
  if (variants.length === 1) return fieldsOf(document, variants[0] ?? {}, before, depth);
  if (schema.type === "array") return fieldsOf(document, recordOf(schema.items), `${before}[]`, depth + 1);
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(recordOf(schema.properties)).flatMap(([name, property]) => {
    const path = before === "" ? name : `${before}.${name}`;
    const own = resolved(document, recordOf(property));
    const field = { name: path, type: typeOf(document, own), isRequired: required.includes(name) };
    return [{ ...field, description: own.description }, ...fieldsOf(document, own, path, depth + 1)];
  });
}

function typeOf(document: Json, given: Json): string {
  const schema = resolved(document, given);
  if (Array.isArray(schema.enum)) return schema.enum.map(String).join(", ");
  const variants = listOf(schema.anyOf ?? schema.oneOf);
  if (variants.length > 0) return [...new Set(variants.map((each) => typeOf(document, each)))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(document, recordOf(schema.items))}`;
  return Array.isArray(schema.type) ? schema.type.join(" or ") : String(schema.format ?? schema.type ?? "any");
}

function fields(title: string, list: readonly Field[]): string {
  if (list.length === 0) return "";
  const rows = list.map(
    ({ name, type, isRequired, description }) =>
      `<tr><th scope="row"><code>${text(name)}</code></th><td>${text(type)}${isRequired ? ", required" : ""}</td><td>${inline(description)}</td></tr>`,
  );
  const heading = title === "" ? "" : `<h3>${title}</h3>\n`;
  // The keyboard can scroll a wide table.
  return `${heading}<div class="wide" tabindex="0" role="group" aria-label="${title || "Response fields"}"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows.join("\n")}</tbody></table></div>`;
}

function paragraphs(given: unknown): string {
  if (typeof given !== "string" || given === "") return "";
  return given
    .split(/\n{2,}/)
    .map((words) => `<p>${inline(words)}</p>`)
    .join("\n");
}

/** Text with `code`. */
function inline(given: unknown): string {
  return text(given ?? "").replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function text(given: unknown): string {
  const marks: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return String(given).replaceAll(/[&<>"]/g, (mark) => marks[mark] ?? "");
}

function recordOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

const style = `
:root { color-scheme: light dark; --back: #fff; --ink: #16191d; --line: #d0d3d9; --quiet: #5a6069; --link: #1f5fbf; }
@media (prefers-color-scheme: dark) { :root { --back: #14171b; --ink: #e6e8eb; --line: #3a3f47; --quiet: #a5acb6; --link: #8db8ff; } }
html { background: var(--back); color: var(--ink); }
body { max-width: 960px; margin: 0 auto; padding: 24px 16px 64px; font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 26px; } h2 { font-size: 20px; margin-top: 48px; border-top: 1px solid var(--line); padding-top: 24px; } h3 { font-size: 16px; }
a { color: var(--link); } code { font: 14px/1.5 ui-monospace, monospace; }
nav ul { columns: 3 240px; padding-left: 20px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; min-width: 560px; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); } tbody th { font-weight: normal; }
td:nth-child(2) { color: var(--quiet); min-width: 140px; }
`;
