import { type Automations, type Claims, EmendError, type Gates, type Health, type Jobs } from "@emend/sdk";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
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

const diffCharactersMax = 100_000;
const waitSecondsMax = 55;
const jobsMax = 50;

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
function inputOf<T extends z.core.$ZodLooseShape>(shape: T) {
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

/** Adds the tools for projects, jobs, claims, gates, health and automations and, where there is a folder, `check`. */
export function registerTools(server: McpServer, deps: ToolDeps): void {
  const usual = deps.project ?? "the key's only project";
  const given = {
    project: z
      .string()
      .min(1)
      .optional()
      .describe(`The project's id, prj_…. Default: ${usual}. list_projects lists them.`),
  };
  const job = { ...given, id: z.string().min(1).describe("The job's id, job_….") };
  const wait_seconds = z
    .number()
    .int()
    .min(0)
    .max(waitSecondsMax)
    .default(0)
    .describe("Wait this long for the job to finish before answering.");
  const prompt = z.string().min(1);
  const readOnly = { annotations: { readOnlyHint: true, openWorldHint: false } };

  server.registerTool(
    "create_job",
    {
      title: "Create a docs job",
      description:
        "Creates a job that changes a project's documentation. An agent works on it in the background. If files changed, Emend opens one pull request and sets the job's prLink. Call get_job until the status is no longer active.",
      inputSchema: inputOf({
        ...given,
        prompt: prompt.describe("What must change in the docs, as an instruction."),
        base: z.string().min(1).optional().describe("The branch to start from. Default: the project's."),
        preview: z.boolean().default(false).describe("Only make a diff, for get_diff. Opens no pull request."),
        wait_seconds,
      }),
      outputSchema: jobOutput,
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ project, prompt, base, preview, wait_seconds }, { signal }) =>
      answered(async () => {
        const jobs = await jobsOf(project, signal);
        const body = { prompt, ...(base !== undefined && { baseRef: base }), ...(preview && { preview }) };
        const created = await jobs.create(body, { signal });
        return describe(jobs, created.id, wait_seconds, signal);
      }),
  );
  server.registerTool(
    "get_job",
    {
      title: "Get a docs job",
      description: "Returns a job's state, pull request and result or, if it failed, the reason.",
      inputSchema: inputOf({ ...job, wait_seconds }),
      outputSchema: jobOutput,
      ...readOnly,
    },
    ({ project, id, wait_seconds }, { signal }) =>
      answered(async () => describe(await jobsOf(project, signal), id, wait_seconds, signal)),
  );
  server.registerTool(
    "list_jobs",
    {
      title: "List docs jobs",
      description: "Lists a project's jobs, newest first.",
      inputSchema: inputOf({
        ...given,
        status: z.enum(["active", "completed", "archived", "failed"]).optional(),
        limit: z.number().int().min(1).max(jobsMax).default(10),
        cursor: z.string().min(1).optional().describe("The nextCursor of the page before."),
      }),
      outputSchema: z.looseObject({ jobs: z.array(jobShape), nextCursor: z.string().nullable() }),
      ...readOnly,
    },
    ({ project, limit, status, cursor }, { signal }) =>
      answered(async () => {
        const jobs = await jobsOf(project, signal);
        return jobs.listPage({
          limit,
          signal,
          ...(status !== undefined && { status }),
          ...(cursor !== undefined && { cursor }),
        });
      }),
  );
  server.registerTool(
    "follow_up",
    {
      title: "Follow up on a docs job",
      description: "Sends another instruction to a finished job. It continues on the same branch and pull request.",
      inputSchema: inputOf({ ...job, prompt: prompt.describe("What more must change."), wait_seconds }),
      outputSchema: jobOutput,
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ project, id, prompt, wait_seconds }, { signal }) =>
      answered(async () => {
        const jobs = await jobsOf(project, signal);
        await jobs.message(id, { prompt }, { signal });
        return describe(jobs, id, wait_seconds, signal);
      }),
  );
  server.registerTool(
    "get_diff",
    {
      title: "Get a docs job's diff",
      description: "Returns a job's changes: the files with their line counts, and a unified diff.",
      inputSchema: inputOf(job),
      outputSchema: z.looseObject({ files: z.array(z.looseObject({})), isCut: z.boolean(), diff: z.string() }),
      ...readOnly,
    },
    ({ project, id }, { signal }) =>
      answered(async () => {
        const { diff, files } = await (await jobsOf(project, signal)).diff(id, { signal });
        return { files, isCut: diff.length > diffCharactersMax, diff: diff.slice(0, diffCharactersMax) };
      }),
  );
  server.registerTool(
    "cancel_job",
    {
      title: "Cancel a docs job",
      description: "Stops an active job. It ends as failed with the code cancelled, and opens no pull request.",
      inputSchema: inputOf(job),
      outputSchema: jobOutput,
      annotations: { destructiveHint: true, openWorldHint: false },
    },
    ({ project, id }, { signal }) =>
      answered(async () => {
        const jobs = await jobsOf(project, signal);
        await jobs.cancel(id, { signal });
        return describe(jobs, id, 0, signal);
      }),
  );
  server.registerTool(
    "list_projects",
    {
      title: "List projects",
      description: "Lists the projects that the key covers.",
      inputSchema: inputOf({}),
      outputSchema: z.looseObject({ projects: z.array(z.looseObject({ id: z.string(), name: z.string() })) }),
      ...readOnly,
    },
    (_input, { signal }) => answered(async () => ({ projects: await deps.projects(signal) })),
  );
  server.registerTool(
    "get_findings",
    {
      title: "Get a docs job's findings",
      description:
        "Returns what the checks found on the site before and after a job's change, and what the change introduced.",
      inputSchema: inputOf(job),
      outputSchema: z.looseObject({ findings: z.looseObject({}).nullable() }),
      ...readOnly,
    },
    ({ project, id }, { signal }) =>
      answered(async () => {
        const jobs = await jobsOf(project, signal);
        return { findings: (await jobs.run(id, { signal })).findings };
      }),
  );
  if (deps.checkFolder) registerCheck(server, deps.checkFolder);
  registerClaims(server, deps, given, projectOf);
  registerGates(server, deps, given, projectOf);
  registerAutomations(server, deps, given, projectOf);

  async function projectOf(named: string | undefined, signal: AbortSignal): Promise<string> {
    const known = named ?? deps.project;
    if (known !== undefined) return known;
    const projects = await deps.projects(signal);
    if (projects.length === 1 && projects[0]) return projects[0].id;
    const names = projects.map(({ id, name }) => `${id} (${name})`).join(", ");
    throw new ToolRefusal(`\`project\` is required: the key covers ${names || "no project"}.`);
  }

  async function jobsOf(named: string | undefined, signal: AbortSignal): Promise<Jobs> {
    return deps.jobs(await projectOf(named, signal));
  }
}

/** A call that cannot be carried out as it was made. */
class ToolRefusal extends Error {}

const claimShape = z.looseObject({
  id: z.string(),
  page: z.looseObject({ path: z.string() }),
  source: z.looseObject({ repository: z.string().nullable(), path: z.string() }),
  state: z.enum(["new", "same", "changed", "gone"]),
});
const jobShape = z.looseObject({
  id: z.string(),
  status: z.enum(["active", "completed", "archived", "failed"]),
  prLink: z.string().nullable(),
  createdAt: z.string(),
});
const jobOutput = z.looseObject({
  job: jobShape,
  phase: z.string().nullable(),
  title: z.string().nullable(),
  summary: z.string().nullable(),
  failure: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  costUsd: z.number(),
});

function registerClaims(
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
      }),
      outputSchema: z.looseObject({ claims: z.array(claimShape), nextCursor: z.string().nullable() }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project, page, state, limit }, { signal }) =>
      answered(async () =>
        deps.claims(await projectOf(project, signal)).listPage({
          limit,
          signal,
          ...(page === undefined ? {} : { page }),
          ...(state === undefined ? {} : { state }),
        }),
      ),
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
    ({ project, page, source }, { signal }) =>
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
      ({ project, id }, { signal }) =>
        answered(async () => deps.claims(await projectOf(project, signal))[name](id, { signal })),
    );
  }
}

function registerGates(
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
      ...readOnly,
    },
    ({ project }, { signal }) =>
      answered(async () => ({ gates: await deps.gates(await projectOf(project, signal)).list({ signal }) })),
  );
  server.registerTool(
    "get_gate",
    {
      title: "Get a gate",
      description: "Returns a status with each page and line that it is about.",
      inputSchema: inputOf(gate),
      ...readOnly,
    },
    ({ project, id }, { signal }) =>
      answered(async () => deps.gates(await projectOf(project, signal)).get(id, { signal })),
  );
  server.registerTool(
    "check_gate_again",
    {
      title: "Check a gate again",
      description:
        "Has the pull requests of the project's repositories checked again now. Call get_gate for the result.",
      inputSchema: inputOf(gate),
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ project, id }, { signal }) =>
      answered(async () => deps.gates(await projectOf(project, signal)).look(id, { signal })),
  );
  server.registerTool(
    "get_health",
    {
      title: "Get the site's health",
      description:
        "Returns what the newest check of the docs found: broken links and, compared with the code, stale references, changed claims, API mismatches and broken samples, each with the commit that caused it if known.",
      inputSchema: inputOf(given),
      ...readOnly,
    },
    ({ project }, { signal }) => answered(async () => deps.health(await projectOf(project, signal), { signal })),
  );
}

function registerAutomations(
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
      ])
      .optional(),
  };
  server.registerTool(
    "list_automations",
    {
      title: "List automations",
      description: "Lists what starts the project's jobs on a schedule, after a push or on a pull request.",
      inputSchema: inputOf(given),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project }, { signal }) =>
      answered(async () => ({
        automations: await deps.automations(await projectOf(project, signal)).list({ signal }),
      })),
  );
  server.registerTool(
    "create_automation",
    {
      title: "Create an automation",
      description:
        "Creates an automation: a preset (stale-references, merged-code, links, changelog, translations), or a name, a prompt and a trigger.",
      inputSchema: inputOf({
        ...given,
        ...fields,
        preset: z.string().min(1).optional(),
        repository: repository.optional(),
      }),
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    ({ project, ...input }, { signal }) =>
      answered(async () => deps.automations(await projectOf(project, signal)).create(present(input), { signal })),
  );
  server.registerTool(
    "edit_automation",
    {
      title: "Edit an automation",
      description: "Changes what is given of an automation. paused stops and resumes it.",
      inputSchema: inputOf({ ...one, ...fields, paused: z.boolean().optional() }),
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    ({ project, id, ...input }, { signal }) =>
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
        annotations: { destructiveHint: name === "remove", openWorldHint: name === "run" },
      },
      ({ project, id }, { signal }) =>
        answered(async () => deps.automations(await projectOf(project, signal))[name](id, { signal })),
    );
  }
}

/** Without fields that are undefined. */
function present<T extends object>(input: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as never;
}

function registerCheck(server: McpServer, checkFolder: NonNullable<ToolDeps["checkFolder"]>): void {
  server.registerTool(
    "check",
    {
      title: "Check docs",
      description:
        "Checks a folder of docs on this machine: broken links, anchors, navigation, redirects. With sources, also what pages name and the code no longer has, API mismatches and broken samples.",
      inputSchema: inputOf({
        dir: z.string().default(".").describe("The folder."),
        sources: z
          .array(z.string().min(1))
          .max(10)
          .default([])
          .describe("Folders of code to compare with: DIR, DIR@rev or DIR@old..new."),
      }),
      outputSchema: z.looseObject({ count: z.number(), findings: z.array(z.looseObject({})) }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ dir, sources }, { signal }) =>
      answered(async () => {
        const findings = await checkFolder(dir, sources, signal).catch((error: Error) => {
          // A folder or revision that does not exist: the agent can name another.
          if (error.name === "CliError") throw new ToolRefusal(error.message);
          throw error;
        });
        return { count: findings.length, findings: findings.slice(0, findingsMax) };
      }),
  );
}

const findingsMax = 100;

async function describe(jobs: Jobs, id: string, waitSeconds: number, signal: AbortSignal): Promise<object> {
  if (waitSeconds > 0) {
    const patience = AbortSignal.timeout(waitSeconds * 1000);
    await jobs.wait(id, { signal: AbortSignal.any([signal, patience]) }).catch((error) => {
      if (!patience.aborted) throw error;
    });
  }
  const [job, run] = await Promise.all([jobs.get(id, { signal }), jobs.run(id, { signal })]);
  const { phase, title, summary, failure, usage } = run;
  return { job, phase, title, summary, failure, costUsd: usage.costUsd };
}

/** A refusal becomes a result that the agent can act on. */
async function answered(work: () => Promise<object>): Promise<CallToolResult> {
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
