import { describeMistake } from "@emend/base/describe-mistake.ts";
import type { Finding } from "@emend/site";
import type { Overlay, Tree } from "@emend/tree";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import type { AgentDeps, Attachment, ContextTrees, OpenPull, PageCommit, PageView } from "../agent.ts";
import type { SiteSession } from "./site-session.ts";

/** The merged input of a round's `finish` calls: a later one may leave out what stays. */
export interface Finished {
  title?: string;
  summary?: string;
  reply?: string;
  sources?: readonly string[];
  disputes?: readonly string[];
}

/** What a tool can access. No disk, no network, no environment. */
export interface ToolContext {
  overlay: Overlay;
  /** The repository before any edit. */
  base: Tree;
  /** Additional repositories, read-only. */
  context: ContextTrees;
  site: SiteSession;
  /** The docs folder. Empty: the whole repository. */
  docsDir: string;
  /** The newest commits that touched a file of the base. Null if the history is unavailable. */
  history(path: string, signal: AbortSignal): Promise<readonly PageCommit[] | null>;
  /** A commit with its patch. Null if it is not in the history. */
  commit(id: string, path: string, signal: AbortSignal): Promise<string | null>;
  /** Of a follow-up: the pull request before this round. Null: there is none. */
  pull(signal: AbortSignal): Promise<OpenPull | null>;
  /** The output limit of one call. Lists end early and say what is left out; anything longer is cut. */
  outputBytesMax: number;
  /** The input of an earlier `finish` in this round. */
  handedOver: Finished | null;
  /** The current prompt is a follow-up. */
  isFollowUp: boolean;
  /** How many questions the agent may still ask. Absent: none. */
  questionsLeft?: number;
  /** Builds the site with the edits so far. Absent: the project's site is not built. */
  build?: ((signal: AbortSignal) => Promise<readonly Finding[]>) | undefined;
  buildsLeft?: number;
  /** Pictures of a built page with the edits so far, without an id. Absent: they cannot be taken, or the model cannot see. */
  look?: AgentDeps["look"];
  looksLeft?: number;
  /** Takes the declared screenshots again, with the edits so far. `string`: why not. Absent: the site is not built. */
  takeScreenshots?: AgentDeps["takeScreenshots"];
  screenshotsLeft?: number;
  /** What `look` took in this turn. */
  pictures: PageView[];
  /** What people attached to their words. */
  attachments: readonly Attachment[];
  refusePath(path: string): string | null;
}

export type ToolAnswer = { kind: "answer"; text: string } | { kind: "refused"; reason: string };

/** A tool, without the type of its schema. */
export interface Tool {
  name: string;
  description: string;
  /** The schema for the model, without the bounds that are checked here. */
  inputSchema: Record<string, unknown>;
  /** Whether a call with this input writes. Writing calls of one turn run in order. */
  writes(input: unknown): boolean;
  /** The input in its current form. */
  read(input: unknown): unknown;
  run(context: ToolContext, input: unknown, signal: AbortSignal): Promise<ToolAnswer>;
}

export function defineTool<Schema extends TSchema>(definition: {
  name: string;
  description: string;
  input: Schema;
  writes?: boolean | ((input: Record<string, unknown>) => boolean);
  /** Input for `emend/rules` and earlier releases; not shown to models. */
  unshown?: readonly string[];
  /** Converts an earlier release's input, which a resumed job's conversation may contain. */
  older?(input: Record<string, unknown>): Record<string, unknown>;
  run(context: ToolContext, input: Static<Schema>, signal: AbortSignal): Promise<ToolAnswer>;
}): Tool {
  const { older, writes = false } = definition;
  const read = (input: unknown) => (older && isRecord(input) ? older(input) : input);
  return {
    name: definition.name,
    description: definition.description,
    inputSchema: shownOf(definition.input, definition.unshown ?? []),
    writes: (input) => (typeof writes === "boolean" ? writes : writes(isRecord(input) ? input : {})),
    read,
    async run(context, given, signal) {
      const input = read(given);
      if (!Value.Check(definition.input, input)) {
        return { kind: "refused", reason: `invalid input: ${describeErrors(definition.input, input)}` };
      }
      return definition.run(context, input as Static<Schema>, signal);
    },
  };
}

const bounds = new Set([
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "additionalProperties",
]);

function shownOf(schema: TSchema, unshown: readonly string[]): Record<string, unknown> {
  const shown = withoutBounds(schema) as { properties: Record<string, unknown> };
  const properties = Object.entries(shown.properties).filter(([name]) => !unshown.includes(name));
  return { ...shown, properties: Object.fromEntries(properties) };
}

/** Schemas cost tokens in every turn, so bounds are not sent; a refusal explains them. */
function withoutBounds(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutBounds);
  if (!isRecord(schema)) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => !bounds.has(key) || typeof value === "object");
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutBounds(value)]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function describeErrors(schema: TSchema, input: unknown): string {
  const errors = Value.Errors(schema, input).slice(0, 5);
  const known = Object.keys((schema as { properties?: object }).properties ?? {});
  return errors.map((error) => describeMistake(error, known)).join("; ");
}

/** Room for the last line, which counts what is left out. */
const tailBytesMax = 200;

/** As many items as fit, and a last line that counts the rest. `more` receives the number of shown items. */
export function fitItems(
  items: readonly string[],
  bytesMax: number,
  more: (shown: number) => string,
): { text: string; shown: number } {
  const room = Math.max(0, bytesMax - tailBytesMax);
  let bytes = 0;
  let shown = 0;
  for (const item of items) {
    bytes += Buffer.byteLength(item) + 1;
    if (bytes > (shown === items.length - 1 ? bytesMax : room)) break;
    shown += 1;
  }
  const kept = items.slice(0, shown);
  // An item that is larger than the whole limit is truncated.
  if (shown === 0 && items[0] !== undefined) {
    kept.push(cutText(items[0], room));
    shown = 1;
  }
  const tail = more(shown);
  return { text: [...kept, ...(tail === "" ? [] : [tail])].join("\n"), shown };
}

/** The last resort for any tool: cuts at a line end and says how many lines are missing. */
export function boundOutput(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= bytesMax) return text;
  const note = "; ask for less at a time";
  const room = Math.max(0, bytesMax - note.length - 40);
  const lineEnd = bytes.lastIndexOf(0x0a, room);
  const cutAt = lineEnd > 0 ? lineEnd : characterStart(bytes, room);
  const missing = countLines(bytes.subarray(lineEnd > 0 ? cutAt + 1 : cutAt));
  return `${bytes.subarray(0, cutAt).toString()}\n… ${missing} more ${missing === 1 ? "line" : "lines"}${note}`;
}

function cutText(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= bytesMax) return text;
  return `${bytes.subarray(0, characterStart(bytes, bytesMax - 3)).toString()}…`;
}

/** The last position at or before `at` that begins a UTF-8 character. */
function characterStart(bytes: Buffer, at: number): number {
  let start = Math.max(0, at);
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}

function countLines(bytes: Buffer): number {
  let lines = 1;
  for (let at = bytes.indexOf(0x0a); at !== -1 && at < bytes.byteLength - 1; at = bytes.indexOf(0x0a, at + 1))
    lines += 1;
  return lines;
}
