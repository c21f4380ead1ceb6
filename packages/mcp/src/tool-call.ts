import { didYouMean } from "@emend/contract";
import { type Automations, type Claims, EmendError, type Gates, type Health, type Jobs } from "@emend/sdk";
import type { CallToolResult } from "@modelcontextprotocol/server";
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

/** Arguments of a tool. A mistake is told by the argument's name: "`prompt` must be a string", as in the API's errors. */
export function inputOf<T extends z.core.$ZodLooseShape>(shape: T) {
  const schema = z.strictObject(shape);
  const { run } = schema._zod;
  // The MCP SDK offers no other place for it, and appends a path in its own way if an issue has one.
  schema._zod.run = (payload, ctx) => {
    const result = run(payload, ctx) as typeof payload;
    const words = result.issues.map((issue) => describeIssue(issue, Object.keys(shape)));
    result.issues = words.map((message) => ({ code: "custom", path: [], message, input: result.value }));
    return result;
  };
  return schema;
}

const types: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
};

const oneOf = (values: readonly unknown[]) => values.map((value) => `\`${String(value)}\``).join(" or ");

function describeIssue(issue: z.core.$ZodRawIssue, known: readonly string[]): string {
  const path = (issue.path ?? []).join(".");
  const name = path === "" ? "The input" : `\`${path}\``;
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys
        .map((key) => `Unknown argument \`${path && `${path}.`}${key}\`${didYouMean(key, path === "" ? known : [])}`)
        .join("; ");
    case "invalid_type":
      if (issue.input === undefined) return `${name} is required`;
      return `${name} must be ${types[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `${name} must be ${oneOf(issue.values)}`;
    case "invalid_union":
      return Array.isArray(issue.options) ? `${name} must be ${oneOf(issue.options)}` : `${name} is not valid`;
    case "too_small":
      if (issue.origin !== "number") return `${name} must not be empty`;
      return `${name} must be at least ${issue.minimum}`;
    case "too_big":
      return `${name} must ${issue.origin === "number" ? "be" : "have"} at most ${issue.maximum}${
        { string: " characters", array: " items" }[issue.origin as string] ?? ""
      }`;
    default:
      return `${name} is not valid`;
  }
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
