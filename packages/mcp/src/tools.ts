import { type Claims, EmendError, type Jobs } from "@emend/sdk";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

/** What the tools use: Emend over HTTP and, if available, a local docs folder. */
export interface ToolDeps {
  jobs(projectId: string): Jobs;
  claims(projectId: string): Claims;
  /** The default project. */
  project?: string;
  /** Checks a local folder. Absent if the agent is on another machine. */
  checkFolder?(dir: string, signal: AbortSignal): Promise<readonly unknown[]>;
}

const diffCharactersMax = 100_000;
const waitSecondsMax = 55;
const jobsMax = 50;

/** Adds the tools: create, get, list, follow up, diff and check of jobs; list, add, confirm and remove of claims. */
export function registerTools(server: McpServer, deps: ToolDeps): void {
  const project = z
    .string()
    .min(1)
    .describe(deps.project ? `The project's id; ${deps.project} unless given.` : "The project's id, prj_….");
  const given = { project: deps.project === undefined ? project : project.default(deps.project) };
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
      inputSchema: z.strictObject({
        ...given,
        prompt: prompt.describe("What must change in the docs, as an instruction."),
        wait_seconds,
      }),
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ project, prompt, wait_seconds }, { signal }) =>
      answered(async () => {
        const jobs = deps.jobs(project);
        const created = await jobs.create({ prompt }, { signal });
        return describe(jobs, created.id, wait_seconds, signal);
      }),
  );
  server.registerTool(
    "get_job",
    {
      title: "Get a docs job",
      description: "Returns a job's state, pull request and result or, if it failed, the reason.",
      inputSchema: z.strictObject({ ...job, wait_seconds }),
      ...readOnly,
    },
    ({ project, id, wait_seconds }, { signal }) =>
      answered(() => describe(deps.jobs(project), id, wait_seconds, signal)),
  );
  server.registerTool(
    "list_jobs",
    {
      title: "List docs jobs",
      description: "Lists a project's jobs, newest first.",
      inputSchema: z.strictObject({
        ...given,
        status: z.enum(["active", "completed", "archived", "failed"]).optional(),
        limit: z.number().int().min(1).max(jobsMax).default(10),
      }),
      ...readOnly,
    },
    ({ project, limit, status }, { signal }) =>
      answered(async () => {
        const page = await deps.jobs(project).listPage({ limit, signal, ...(status === undefined ? {} : { status }) });
        return { jobs: page.jobs };
      }),
  );
  server.registerTool(
    "follow_up",
    {
      title: "Follow up on a docs job",
      description: "Sends another instruction to a finished job. It continues on the same branch and pull request.",
      inputSchema: z.strictObject({ ...job, prompt: prompt.describe("What more must change."), wait_seconds }),
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ project, id, prompt, wait_seconds }, { signal }) =>
      answered(async () => {
        const jobs = deps.jobs(project);
        await jobs.message(id, { prompt }, { signal });
        return describe(jobs, id, wait_seconds, signal);
      }),
  );
  server.registerTool(
    "get_diff",
    {
      title: "Get a docs job's diff",
      description: "Returns a job's changes: the files with their line counts, and a unified diff.",
      inputSchema: job,
      ...readOnly,
    },
    ({ project, id }, { signal }) =>
      answered(async () => {
        const { diff, files } = await deps.jobs(project).diff(id, { signal });
        return { files, isCut: diff.length > diffCharactersMax, diff: diff.slice(0, diffCharactersMax) };
      }),
  );
  registerCheck(server, deps, job);
  registerClaims(server, deps, given);
}

function registerClaims(server: McpServer, deps: ToolDeps, given: { project: z.ZodType<string> }): void {
  const claim = { ...given, id: z.string().min(1).describe("The claim's id, clm_….") };
  server.registerTool(
    "list_claims",
    {
      title: "List claims of the docs",
      description:
        "Lists what the project's pages rely on: each claim binds lines of a page to lines of code. A claim is changed or gone if the code no longer says the same.",
      inputSchema: z.strictObject({
        ...given,
        page: z.string().min(1).optional().describe("Only claims of this page, by its path."),
        state: z.enum(["new", "same", "changed", "gone"]).optional(),
        limit: z.number().int().min(1).max(200).default(50),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project, page, state, limit }, { signal }) =>
      answered(() =>
        deps.claims(project).listPage({
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
      inputSchema: z.strictObject({
        ...given,
        page: z.string().min(1).describe("path:line or path:line-line of the page."),
        source: z
          .string()
          .min(1)
          .describe("path:line in the project's repository, @name/path:line in a context repository."),
      }),
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    ({ project, page, source }, { signal }) => answered(() => deps.claims(project).add({ page, source }, { signal })),
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
        inputSchema: z.strictObject(claim),
        annotations: { destructiveHint: name === "remove", openWorldHint: false },
      },
      ({ project, id }, { signal }) => answered(() => deps.claims(project)[name](id, { signal })),
    );
  }
}

function registerCheck(server: McpServer, deps: ToolDeps, job: { project: z.ZodType<string>; id: z.ZodType<string> }) {
  const { checkFolder } = deps;
  if (checkFolder) {
    server.registerTool(
      "check",
      {
        title: "Check docs",
        description: "Checks a folder of docs on this machine: broken links, anchors, navigation, redirects.",
        inputSchema: z.strictObject({ dir: z.string().default(".").describe("The folder.") }),
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      ({ dir }, { signal }) =>
        answered(async () => {
          const findings = await checkFolder(dir, signal);
          return { count: findings.length, findings: findings.slice(0, findingsMax) };
        }),
    );
    return;
  }
  server.registerTool(
    "check",
    {
      title: "Check a docs job's change",
      description:
        "Returns what the checks found on the site before and after a job's change, and what the change introduced.",
      inputSchema: job,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project, id }, { signal }) =>
      answered(async () => ({ findings: (await deps.jobs(project).run(id, { signal })).findings })),
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
    return { content: [{ type: "text", text: JSON.stringify(result) }] };
  } catch (error) {
    if (!(error instanceof EmendError)) throw error;
    return { isError: true, content: [{ type: "text", text: `${error.kind}: ${error.message}` }] };
  }
}
