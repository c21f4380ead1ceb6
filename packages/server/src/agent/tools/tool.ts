import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import type { Overlay, Tree } from "../../tree/tree.ts";
import type { ContextTrees } from "../agent.ts";
import type { SiteSession } from "../site-session.ts";

/** What a tool works on. No tool sees anything else: no disk, no network, no environment. */
export interface ToolContext {
  overlay: Overlay;
  /** The repository before any edit. */
  base: Tree;
  /** Further repositories, to read. */
  context: ContextTrees;
  site: SiteSession;
  refusePath(path: string): string | null;
}

export type ToolAnswer =
  /** `more`: how to ask for the rest, where the registry has to cut the text. */
  { kind: "answer"; text: string; more?: string } | { kind: "refused"; reason: string };

/** One tool, with the schema's type erased: the registry holds them side by side. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** Writing calls of one turn run one after the other. */
  writes: boolean;
  run(context: ToolContext, input: unknown, signal: AbortSignal): Promise<ToolAnswer>;
}

export function defineTool<Schema extends TSchema>(definition: {
  name: string;
  description: string;
  input: Schema;
  writes?: boolean;
  run(context: ToolContext, input: Static<Schema>, signal: AbortSignal): Promise<ToolAnswer>;
}): Tool {
  return {
    name: definition.name,
    description: definition.description,
    inputSchema: { ...(definition.input as object) },
    writes: definition.writes ?? false,
    async run(context, input, signal) {
      if (!Value.Check(definition.input, input)) {
        return { kind: "refused", reason: `invalid input: ${describeErrors(definition.input, input)}` };
      }
      return definition.run(context, input as Static<Schema>, signal);
    },
  };
}

function describeErrors(schema: TSchema, input: unknown): string {
  const errors = Value.Errors(schema, input).slice(0, 5);
  return errors.map((error) => `${error.instancePath || "the input"} ${error.message}`).join("; ");
}
