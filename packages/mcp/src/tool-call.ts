import { type Automations, type Claims, EmendError, type Gates, type Health, type Jobs } from "@emend/sdk";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

/** What the tools use: Emend over HTTP and, if available, a local docs folder. */
export interface ToolDeps {
  jobs(projectId: string): Jobs;
  claims(projectId: string): Claims;
  automations(projectId: string): Automations;
  gates(projectId: string): Gates;
  health(projectId: string, options: { signal: AbortSignal }): Promise<Health>;
  /** The projects that the key covers. */
  projects(signal: AbortSignal): Promise<readonly { id: string; name: string }[]>;
  /** The default project. Without one it is the key's only project. */
  project?: string;
  /** Checks a local folder, and compares it with code in `sources`. Absent if the agent is on another machine. */
  checkFolder?(dir: string, sources: readonly string[], signal: AbortSignal): Promise<readonly unknown[]>;
}

/** What models often write for an argument of ours. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  prompt: ["instruction", "instructions", "message", "task", "text", "query"],
  id: ["job", "jobid", "claim", "claimid"],
  project: ["projectid"],
  wait_seconds: ["wait", "timeout", "waitseconds"],
  base: ["baseref", "branch", "ref"],
  page: ["path", "file"],
  dir: ["path", "folder", "directory"],
  limit: ["count", "max"],
};

/** Arguments of a tool. An unknown one is refused by its name, with the one that was probably meant. */
export function inputOf<T extends z.core.$ZodLooseShape>(shape: T) {
  const known = Object.keys(shape);
  const plain = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, "");
  function wordsFor(name: string): string {
    const near = known.find((one) => plain(one) === plain(name) || otherNames[one]?.includes(plain(name)));
    if (near !== undefined) return `Unknown argument \`${name}\`; did you mean \`${near}\`?`;
    return `Unknown argument \`${name}\`; there is ${known.map((one) => `\`${one}\``).join(", ") || "none"}`;
  }
  return z.strictObject(shape, {
    error: (issue) => (issue.code === "unrecognized_keys" ? issue.keys.map(wordsFor).join("; ") : undefined),
  });
}

/** A call that cannot be carried out as it was made. */
export class ToolRefusal extends Error {}

/** A refusal becomes a result that the agent can act on. */
export async function answered(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    const result = await work();
    const text = JSON.stringify(result);
    // As text too, for clients that do not read structured results.
    return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) };
  } catch (error) {
    if (error instanceof ToolRefusal) {
      return { isError: true, content: [{ type: "text", text: `invalid_request: ${error.message}` }] };
    }
    if (!(error instanceof EmendError)) throw error;
    return { isError: true, content: [{ type: "text", text: `${error.kind}: ${error.message}` }] };
  }
}
