import type { RequestProtocol } from "./vendors.ts";

type Judged = { kind: "passed"; body: unknown } | { kind: "refused"; words: string };

interface Asked {
  protocol: RequestProtocol;
  /** The only model of this run. Null: any that stays with the vendor. */
  model: string | null;
}

/** Models that search, by the naming of vendors or routers. */
const searchingModel = /search|online|research|browse|sonar/i;
/** Fields with addresses: `url`, `image_url`, `fileUri`, `href`. */
const addressField = /(?:ur[il]s?|href)$/i;
/** Values that are not addresses: an inline image, or a word such as `auto`. */
const noAddress = /^(?:data:|\w*$)/;
/** Resources that the key's owner stores at the vendor, and the vendor's ways to reach others. */
const kept =
  /^(?:file_ids?|vector_store_ids?|container(?:_id)?|connector_id|server_label|mcp_servers|plugins|web_search_options)$/i;
/** The schema of the expected output, which may have a field for addresses. */
const answerShape = /^(?:json_)?schema$/;
const partLists = /^(?:content|system|output)$/;
const schemas = /^(?:parameters|input_schema|output_schema|input_examples|function|format)$/;

/**
 * Whether a request only asks the model. A sandbox that reaches only its model must not make the vendor's servers read
 * pages, images, files or tools that a docs page names. Unknown parts are refused by name, so that an operator can
 * report what a program needs.
 */
export function judgeRequest({ protocol, model }: Asked, body: unknown): Judged {
  if (!isRecord(body) || Array.isArray(body)) return refused("a body that is no object");
  // Empty values request nothing.
  const asked = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !(kept.test(name) && isEmpty(value))),
  );
  for (const name of Object.keys(asked)) {
    if (!protocol.fields.has(name)) return refused(`the setting ${quoted(name)}, which Emend does not know`);
  }
  const words = wrongModel(model, asked.model) ?? wrongItem(asked.input) ?? wrongWithin(protocol, asked);
  if (words !== null) return refused(words);
  const says = protocol.store === "always" || (protocol.store === "where said" && "store" in asked);
  return { kind: "passed", body: says ? { ...asked, store: false } : asked };
}

function wrongModel(own: string | null, asked: unknown): string | null {
  if (own !== null) return asked === own ? null : `the model ${quoted(asked)}: this run has ${quoted(own)}`;
  if (asked === undefined || (typeof asked === "string" && !searchingModel.test(asked))) return null;
  return `the model ${quoted(asked)}`;
}

/** An item that is only an id refers to something stored at the vendor. */
function wrongItem(input: unknown): string | null {
  if (!Array.isArray(input)) return null;
  for (const item of input) {
    if (!isRecord(item) || (typeof item.type !== "string" && typeof item.role !== "string"))
      return "an item of no type";
    if (item.type === "item_reference") return "an item that the vendor keeps";
  }
  return null;
}

interface Inner {
  value: unknown;
  /** Somewhere inside a field for addresses. */
  isAddress: boolean;
}

/** Iterative with a stack, because deep nesting must not exhaust ours. */
function wrongWithin(protocol: RequestProtocol, body: Record<string, unknown>): string | null {
  const left: Inner[] = [{ value: body, isAddress: false }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, isAddress } = next;
    if (typeof value === "string" && isAddress && !noAddress.test(value)) return "content at another address";
    if (Array.isArray(value)) for (const inner of value) left.push({ value: inner, isAddress });
    if (!isRecord(value) || Array.isArray(value)) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (name === "input" && protocol.callType !== null && value.type === protocol.callType) continue;
      if (answerShape.test(name)) continue;
      const words = wrongField(protocol, name, inner);
      if (words !== null) return words;
      if (/^tools$/i.test(name) && Array.isArray(inner)) left.push(...toolWords(inner));
      else left.push({ value: inner, isAddress: isAddress || addressField.test(name) });
    }
  }
  return null;
}

function wrongField(protocol: RequestProtocol, name: string, value: unknown): string | null {
  if (kept.test(name) && !isEmpty(value)) return quoted(name);
  if (name === "model") return wrongModel(null, value);
  if (/^tools$/i.test(name)) return wrongTool(protocol, value);
  if (!partLists.test(name) || !Array.isArray(value)) return null;
  return value.some((part) => isRecord(part) && typeof part.type !== "string") ? "a part of no type" : null;
}

function wrongTool(protocol: RequestProtocol, tools: unknown): string | null {
  if (isEmpty(tools)) return null;
  if (!Array.isArray(tools)) return "tools that are no list";
  for (const tool of tools) {
    const type = isRecord(tool) ? (tool.type ?? protocol.usualTool) : null;
    if (typeof type !== "string" || !protocol.tools.test(type)) return `the tool ${quoted(type)}`;
  }
  return null;
}

/** A tool's texts without the schema of its input, which may have a field for addresses, and examples. */
function toolWords(tools: readonly unknown[]): readonly Inner[] {
  return tools.filter(isRecord).map((tool) => ({
    value: Object.fromEntries(Object.entries(tool).filter(([name]) => !schemas.test(name))),
    isAddress: false,
  }));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function quoted(value: unknown): string {
  return JSON.stringify(typeof value === "string" ? value.slice(0, 100) : typeof value);
}

function refused(what: string): Judged {
  return { kind: "refused", words: `This sandbox reaches its model and nothing else: not ${what}.` };
}

interface JsonSize {
  /** The parsed size: lists, objects and their elements. */
  nodes: number;
  depth: number;
}

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = Buffer.from('"\\,[]{}');

/** Estimates the size of JSON once parsed: a few bytes can become a hundred. Parses nothing. */
export function measureJson(bytes: Uint8Array): JsonSize {
  let nodes = 0;
  let depth = 0;
  let deepest = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === comma) nodes += 1;
    else if (byte === openList || byte === openObject) {
      nodes += 1;
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (byte === closeList || byte === closeObject) depth -= 1;
  }
  return { nodes, depth: deepest };
}
