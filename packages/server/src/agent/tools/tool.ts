import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import type { Overlay, Tree } from "../../tree/tree.ts";
import type { ContextTrees, PageCommit } from "../agent.ts";
import type { SiteSession } from "../site-session.ts";

/** What the `finish` calls of a round said together: a later one may leave out what stays. */
export interface Finished {
  title?: string;
  summary?: string;
  reply?: string;
  sources?: readonly string[];
  disputes?: readonly string[];
}

/** What a tool works on. No tool sees anything else: no disk, no network, no environment. */
export interface ToolContext {
  overlay: Overlay;
  /** The repository before any edit. */
  base: Tree;
  /** Further repositories, to read. */
  context: ContextTrees;
  site: SiteSession;
  /** The folder of the documentation; empty: the whole repository. */
  docsDir: string;
  /** The newest commits that touched a file of the base; null: the history is not available. */
  history(path: string, signal: AbortSignal): Promise<readonly PageCommit[] | null>;
  /** How much one answer may hold. Lists end in time and say what is left; anything longer is cut. */
  outputBytesMax: number;
  /** What an earlier `finish` of this round handed over: a later one may leave words out. */
  handedOver: Finished | null;
  /** A further message is being answered. */
  isFollowUp: boolean;
  refusePath(path: string): string | null;
}

export type ToolAnswer = { kind: "answer"; text: string } | { kind: "refused"; reason: string };

/** One tool, with the schema's type erased: the registry holds them side by side. */
export interface Tool {
  name: string;
  description: string;
  /** What the model is shown: its shape, without the bounds that are checked here. */
  inputSchema: Record<string, unknown>;
  /** Whether a call with this input writes: writing calls of one turn run one after the other. */
  writes(input: unknown): boolean;
  /** The input in its present form. */
  read(input: unknown): unknown;
  run(context: ToolContext, input: unknown, signal: AbortSignal): Promise<ToolAnswer>;
}

export function defineTool<Schema extends TSchema>(definition: {
  name: string;
  description: string;
  input: Schema;
  writes?: boolean | ((input: Record<string, unknown>) => boolean);
  /** Input that `emend/rules` and earlier releases use; a model reaches the same in another way. */
  unshown?: readonly string[];
  /** The input as an earlier release took it, which the conversation of a resumed job still shows. */
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

/** Every turn pays for the schemas: a bound that only refuses odd input is told when it refuses. */
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
  return errors.map((error) => `${error.instancePath || "the input"} ${error.message}`).join("; ");
}
