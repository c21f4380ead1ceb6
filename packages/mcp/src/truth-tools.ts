// Tools for what keeps docs true: claims, gates and automations.
import { presetNames } from "@emend/contract";
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answered, inputOf, type ToolDeps } from "./tool-call.ts";

const claimShape = z.looseObject({
  id: z.string(),
  page: z.looseObject({ path: z.string() }),
  source: z.looseObject({ repository: z.string().nullable(), path: z.string() }),
  state: z.enum(["new", "same", "changed", "gone"]),
});

const severity = z.enum(["error", "warning", "info"]);
const finding = { check: z.string(), severity, path: z.string(), line: z.number(), message: z.string() };
const gateFields = {
  id: z.string(),
  repository: z.string().nullable(),
  number: z.number(),
  url: z.string(),
  state: z.enum(["pending", "passed", "neutral", "failed"]),
  words: z.string(),
};
const gateShape = z.looseObject({ ...gateFields, findings: z.array(z.looseObject(finding)) });
const healthShape = z.looseObject({
  checkedAt: z.string().nullable(),
  problem: z.string().nullable(),
  counts: z.array(z.looseObject({ check: z.string(), severity, count: z.number() })),
  sources: z.array(z.looseObject({ repository: z.string().nullable(), problem: z.string().nullable() })),
  findings: z.array(z.looseObject(finding)),
});
const automationShape = z.looseObject({
  id: z.string(),
  name: z.string(),
  trigger: z.looseObject({ kind: z.enum(["manual", "cron", "push", "pull_request", "webhook"]) }),
  prompt: z.string(),
  paused: z.boolean(),
  problem: z.string().nullable(),
  jobId: z.string().nullable(),
});
const automationRunShape = z.looseObject({
  id: z.string(),
  state: z.enum(["waiting", "started", "continued", "merged", "skipped"]),
  words: z.string(),
  jobId: z.string().nullable(),
});

export function registerClaims(
  server: McpServer,
  deps: ToolDeps,
  given: { project: z.ZodType<string | undefined> },
  projectOf: (named: string | undefined, signal: AbortSignal) => Promise<string>,
): void {
  const claim = { ...given, id: z.string().min(1).describe("The claim's id, clm_….") };
  server.registerTool(
    "list_claims",
    {
      title: "List claims of the docs",
      description:
        "Lists what the project's pages rely on: each claim binds lines of a page to lines of code. A claim is changed or gone if the code no longer says the same.",
      inputSchema: inputOf({
        ...given,
        page: z.string().min(1).optional().describe("Only claims of this page, by its path."),
        state: z.enum(["new", "same", "changed", "gone"]).optional(),
        limit: z.number().int().min(1).max(200).default(50),
        cursor: z.string().min(1).optional().describe("The nextCursor of the page before."),
      }),
      outputSchema: z.looseObject({ claims: z.array(claimShape), nextCursor: z.string().nullable() }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project, ...given }, { mcpReq: { signal } }) =>
      answered(async () => deps.claims(await projectOf(project, signal)).listPage({ ...present(given), signal })),
  );
  server.registerTool(
    "add_claim",
    {
      title: "Add a claim",
      description: "Binds lines of a page to the lines of code that they rely on. Emend tells when the code changes.",
      inputSchema: inputOf({
        ...given,
        page: z.string().min(1).describe("path:line or path:line-line of the page."),
        source: z
          .string()
          .min(1)
          .describe("path:line in the project's repository, @name/path:line in a context repository."),
      }),
      outputSchema: claimShape,
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    ({ project, page, source }, { mcpReq: { signal } }) =>
      answered(async () => deps.claims(await projectOf(project, signal)).add({ page, source }, { signal })),
  );
  for (const [name, title, description] of [
    ["confirm", "Confirm a claim", "Says that the page is right about the changed lines of a claim."],
    ["remove", "Remove a claim", "Removes a claim. The page does not change."],
  ] as const) {
    server.registerTool(
      `${name}_claim`,
      {
        title,
        description,
        inputSchema: inputOf(claim),
        outputSchema: claimShape,
        annotations: { destructiveHint: name === "remove", openWorldHint: false },
      },
      ({ project, id }, { mcpReq: { signal } }) =>
        answered(async () => deps.claims(await projectOf(project, signal))[name](id, { signal })),
    );
  }
}

export function registerGates(
  server: McpServer,
  deps: ToolDeps,
  given: { project: z.ZodType<string | undefined> },
  projectOf: (named: string | undefined, signal: AbortSignal) => Promise<string>,
): void {
  const readOnly = { annotations: { readOnlyHint: true, openWorldHint: false } };
  const gate = { ...given, id: z.string().min(1).describe("The status's id, gat_….") };
  server.registerTool(
    "list_gates",
    {
      title: "List gates",
      description:
        "Lists the statuses that Emend set on pull requests of the docs and of the code: whether each breaks the docs.",
      inputSchema: inputOf(given),
      outputSchema: z.looseObject({ gates: z.array(z.looseObject(gateFields)) }),
      ...readOnly,
    },
    ({ project }, { mcpReq: { signal } }) =>
      answered(async () => ({ gates: await deps.gates(await projectOf(project, signal)).list({ signal }) })),
  );
  server.registerTool(
    "get_gate",
    {
      title: "Get a gate",
      description: "Returns a status with each page and line that it is about.",
      inputSchema: inputOf(gate),
      outputSchema: gateShape,
      ...readOnly,
    },
    ({ project, id }, { mcpReq: { signal } }) =>
      answered(async () => deps.gates(await projectOf(project, signal)).get(id, { signal })),
  );
  server.registerTool(
    "check_gate_again",
    {
      title: "Check a gate again",
      description:
        "Has the pull requests of the project's repositories checked again now. Call get_gate for the result.",
      inputSchema: inputOf(gate),
      outputSchema: gateShape,
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ project, id }, { mcpReq: { signal } }) =>
      answered(async () => deps.gates(await projectOf(project, signal)).look(id, { signal })),
  );
  server.registerTool(
    "get_health",
    {
      title: "Get the site's health",
      description:
        "Returns what the newest check of the docs found: broken links and, compared with the code, stale references, changed claims, API mismatches and broken samples, each with the commit that caused it if known.",
      inputSchema: inputOf(given),
      outputSchema: healthShape,
      ...readOnly,
    },
    ({ project }, { mcpReq: { signal } }) =>
      answered(async () => deps.health(await projectOf(project, signal), { signal })),
  );
}

export function registerAutomations(
  server: McpServer,
  deps: ToolDeps,
  given: { project: z.ZodType<string | undefined> },
  projectOf: (named: string | undefined, signal: AbortSignal) => Promise<string>,
): void {
  const one = { ...given, id: z.string().min(1).describe("The automation's id, aut_….") };
  const globs = z.array(z.string().min(1)).max(50).default([]);
  const repository = z.string().min(1).describe("A context repository's name; `.` is the docs' own repository.");
  const fields = {
    name: z.string().min(1).max(100).optional(),
    prompt: z.string().min(1).optional().describe("What its jobs must do, with {{variables}}."),
    model: z.string().min(1).nullable().optional(),
    trigger: z
      .discriminatedUnion("kind", [
        z.strictObject({ kind: z.literal("manual") }),
        z.strictObject({ kind: z.literal("cron"), expression: z.string(), timezone: z.string().default("UTC") }),
        z.strictObject({
          ...{ kind: z.literal("push"), repository, branches: globs, tags: globs, include: globs, exclude: globs },
        }),
        z.strictObject({
          ...{ kind: z.literal("pull_request"), repository, branches: globs, include: globs, exclude: globs },
          on: z.array(z.enum(["opened", "updated", "merged"])).min(1),
        }),
        z.strictObject({ kind: z.literal("webhook") }),
      ])
      .optional(),
  };
  server.registerTool(
    "list_automations",
    {
      title: "List automations",
      description:
        "Lists what starts the project's jobs on a schedule, after a push, on a pull request or on a webhook.",
      inputSchema: inputOf(given),
      outputSchema: z.looseObject({ automations: z.array(automationShape) }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project }, { mcpReq: { signal } }) =>
      answered(async () => ({
        automations: await deps.automations(await projectOf(project, signal)).list({ signal }),
      })),
  );
  server.registerTool(
    "create_automation",
    {
      title: "Create an automation",
      description: `Creates an automation: a preset (${presetNames.join(", ")}), or a name, a prompt and a trigger.`,
      inputSchema: inputOf({
        ...given,
        ...fields,
        preset: z.string().min(1).optional(),
        repository: repository.optional(),
      }),
      outputSchema: automationShape,
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    ({ project, ...input }, { mcpReq: { signal } }) =>
      answered(async () => deps.automations(await projectOf(project, signal)).create(present(input), { signal })),
  );
  server.registerTool(
    "edit_automation",
    {
      title: "Edit an automation",
      description: "Changes what is given of an automation. paused stops and resumes it.",
      inputSchema: inputOf({ ...one, ...fields, paused: z.boolean().optional() }),
      outputSchema: automationShape,
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    ({ project, id, ...input }, { mcpReq: { signal } }) =>
      answered(async () => deps.automations(await projectOf(project, signal)).edit(id, present(input), { signal })),
  );
  for (const [name, title, description] of [
    ["run", "Run an automation", "Runs an automation now. Returns the result."],
    ["remove", "Remove an automation", "Removes an automation. Its jobs stay."],
  ] as const) {
    server.registerTool(
      `${name}_automation`,
      {
        title,
        description,
        inputSchema: inputOf(one),
        outputSchema: name === "run" ? automationRunShape : automationShape,
        annotations: { destructiveHint: name === "remove", openWorldHint: name === "run" },
      },
      ({ project, id }, { mcpReq: { signal } }) =>
        answered(async () => deps.automations(await projectOf(project, signal))[name](id, { signal })),
    );
  }
}

/** Without fields that are undefined. */
function present<T extends object>(input: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as never;
}
