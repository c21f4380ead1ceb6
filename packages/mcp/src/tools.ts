import { uploadsPerPromptMax } from "@emend/contract";
import type { Jobs } from "@emend/sdk";
import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { orTask, registerTasks } from "./job-tasks.ts";
import { answered, inputOf, type ToolDeps, ToolRefusal } from "./tool-call.ts";
import { registerAutomations, registerClaims, registerGates } from "./truth-tools.ts";

const diffCharactersMax = 100_000;
const waitSecondsMax = 55;
const jobsMax = 50;

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
  const files = z.array(z.string().min(1)).max(uploadsPerPromptMax).optional();
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
        plan: z.boolean().default(false).describe("Make a plan first, the summary. follow_up approves or changes it."),
        preview: z
          .boolean()
          .default(false)
          .describe("Only make a diff, for get_diff. Opens no pull request until publish_preview."),
        unknown: z
          .enum(["ask", "draft", "refuse"])
          .optional()
          .describe(
            "If the site has nothing like the change: ask a person, open a draft, or fail. Default: the project's.",
          ),
        files: files.describe("Ids of pictures and PDFs, upl_…, from POST …/upload or the SDK's upload()."),
        wait_seconds,
      }),
      outputSchema: jobOutput,
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ project, prompt, base, preview, plan, unknown, files, wait_seconds }, context) =>
      started(context, project, async (jobs, signal) => {
        const marks = {
          ...(preview && { preview }),
          ...(plan && { plan }),
          ...(unknown && { unknown }),
          ...(files && { files }),
        };
        const body = { prompt, ...(base !== undefined && { baseRef: base }), ...marks };
        const created = await jobs.create(body, { signal });
        return describe(jobs, created.id, wait_seconds, signal);
      }),
  );
  server.registerTool(
    "get_job",
    {
      title: "Get a docs job",
      description:
        "Returns a job's state, pull request and result or, if it failed, the reason. If `question` is set, the job waits for an answer: send it with follow_up. If `approval` is set, it waits for a person: show them what it is about.",
      inputSchema: inputOf({ ...job, wait_seconds }),
      outputSchema: jobOutput,
      ...readOnly,
    },
    ({ project, id, wait_seconds }, { mcpReq: { signal } }) =>
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
    ({ project, limit, status, cursor }, { mcpReq: { signal } }) =>
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
      description:
        "Sends another instruction to a job. A job that works takes it into account; one that waits for an answer takes it as the answer; a finished one continues on the same branch and pull request.",
      inputSchema: inputOf({ ...job, prompt: prompt.describe("What more must change."), files, wait_seconds }),
      outputSchema: jobOutput,
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ project, id, prompt, files, wait_seconds }, context) =>
      started(context, project, async (jobs, signal) => {
        await jobs.message(id, { prompt, ...(files && { files }) }, { signal });
        return describe(jobs, id, wait_seconds, signal);
      }),
  );
  server.registerTool(
    "publish_preview",
    {
      title: "Publish a previewed docs job",
      description:
        "Opens the pull request of a completed preview, with the very diff that get_diff shows. Asks no model.",
      inputSchema: inputOf({ ...job, wait_seconds }),
      outputSchema: jobOutput,
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    ({ project, id, wait_seconds }, context) =>
      started(context, project, async (jobs, signal) => {
        await jobs.publish(id, { signal });
        return describe(jobs, id, wait_seconds, signal);
      }),
  );
  server.registerTool(
    "answer_approval",
    {
      title: "Approve or decline a docs job's change",
      description:
        "Answers `approval` of a job: whether a change with what Emend does not know on the site is published. Only with the decision of a person who has seen it.",
      inputSchema: inputOf({
        ...job,
        decision: z
          .enum(["publish", "publish_and_allow", "decline"])
          .describe("publish_and_allow: also allow it on the site from now on."),
        wait_seconds,
      }),
      outputSchema: jobOutput,
      annotations: { destructiveHint: true, openWorldHint: true },
    },
    ({ project, id, decision, wait_seconds }, context) =>
      started(context, project, async (jobs, signal) => {
        if (decision === "decline") await jobs.decline(id, { signal });
        else await jobs.approve(id, { remember: decision === "publish_and_allow", signal });
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
    ({ project, id }, { mcpReq: { signal } }) =>
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
    ({ project, id }, { mcpReq: { signal } }) =>
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
    (_input, { mcpReq: { signal } }) => answered(async () => ({ projects: await deps.projects(signal) })),
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
    ({ project, id }, { mcpReq: { signal } }) =>
      answered(async () => {
        const jobs = await jobsOf(project, signal);
        return { findings: (await jobs.run(id, { signal })).findings };
      }),
  );
  registerTasks(server, deps, (projectId, id, signal) => describe(deps.jobs(projectId), id, 0, signal));
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

  /** Starts work: for a client that knows tasks, the result is one. */
  async function started(
    context: ServerContext,
    named: string | undefined,
    work: (jobs: Jobs, signal: AbortSignal) => Promise<object>,
  ): Promise<CallToolResult> {
    const { signal } = context.mcpReq;
    const result = await answered(async () => work(await jobsOf(named, signal), signal));
    return orTask(context, () => projectOf(named, signal), result);
  }

  async function jobsOf(named: string | undefined, signal: AbortSignal): Promise<Jobs> {
    return deps.jobs(await projectOf(named, signal));
  }
}

const jobShape = z.looseObject({
  id: z.string(),
  status: z.enum(["active", "completed", "archived", "failed"]),
  prLink: z.string().nullable(),
  createdAt: z.string(),
});
const jobOutput = z.looseObject({
  job: jobShape,
  phase: z.string().nullable(),
  question: z.looseObject({ question: z.string(), options: z.array(z.string()) }).nullable(),
  approval: z
    .looseObject({ message: z.string(), until: z.string(), constructs: z.array(z.looseObject({ path: z.string() })) })
    .nullable(),
  title: z.string().nullable(),
  summary: z.string().nullable(),
  failure: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  costUsd: z.number(),
});

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
    ({ dir, sources }, { mcpReq: { signal } }) =>
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
  const { phase, title, summary, failure, usage, waiting } = run;
  const question = waiting?.for === "answer" ? { question: waiting.message, options: waiting.options ?? [] } : null;
  const approval =
    waiting?.for === "approval"
      ? { message: waiting.message, until: waiting.until ?? "", constructs: waiting.constructs ?? [] }
      : null;
  return { job, phase, question, approval, title, summary, failure, costUsd: usage.costUsd };
}
