import type { DashboardGate, DashboardGates } from "@emend/contract";
import { blobUrl } from "@emend/forges";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Type } from "typebox";
import { listContextRepositories } from "../../accounts/projects/context-repositories.ts";
import { allowedModels } from "../../accounts/projects/project-settings.ts";
import type { Project } from "../../accounts/projects/projects.ts";
import { updateProject } from "../../accounts/projects/save-project.ts";
import { askedAbout } from "../../claims/drift/reader.ts";
import { AppError } from "../../errors.ts";
import { type GateStatus, getStatus, listPolls, listStatuses } from "../../gate/gate-store.ts";
import { findNamed, isFixable, planDocsPull, startDocsJob } from "../../gate/start-docs-job.ts";
import { newJobRules } from "../../http/parse-create-body.ts";
import { messageJobHandler } from "../../http/routes/job-handlers.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findJob, findProject } from "../find.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf, subjectOf } from "../require-session.ts";
import { sessionDoor } from "./jobs.ts";

type Named = { Params: { id: string } };

const named = Type.Object({
  check: Type.String({ maxLength: 100 }),
  path: Type.String({ maxLength: 1000 }),
  line: Type.Integer(),
  message: Type.String({ maxLength: 5000 }),
});
const parseWrong = bodyParser(Type.Interface([named], { reason: Type.String({ minLength: 1, maxLength: 500 }) }));
const parseFix = bodyParser(Type.Object({ only: Type.Optional(named) }));

/** What Emend says on pull requests: each status with its pages and lines, and the job that mends them. */
export function gateRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { pool } = deps;

  app.get<{ Params: { projectId: string } }>("/projects/:projectId/gates", async (request): Promise<DashboardGates> => {
    const { id } = await findProject(pool, request.params.projectId);
    const names = await namesOf(id);
    return {
      statuses: (await listStatuses(pool, id)).map((status) => showRow(status, names)),
      looks: (await listPolls(pool, id)).map(({ contextId, lookedAt, problem }) => ({
        repository: names.get(contextId ?? "") ?? "",
        lookedAt: lookedAt.toISOString(),
        problem,
      })),
    };
  });

  app.get<Named>("/gates/:id", async (request): Promise<DashboardGate> => {
    const status = await find(request.params.id);
    const project = await findProject(pool, status.projectId);
    const model = allowedModels(project.settings, deps.defaultModel)[0];
    const plan = planDocsPull(status, model);
    const fix = plan.kind === "possible" ? { prompt: plan.prompt } : { cannot: plan.words };
    return {
      ...showRow(status, await namesOf(project.id)),
      projectId: project.id,
      findings: (await linked(project, status)).map((finding) => ({
        ...finding,
        canFix: planDocsPull({ ...status, findings: [finding] }, model).kind === "possible",
      })),
      asked: await askedAbout(pool, { projectId: project.id, subject: `${status.repository} #${status.number}` }),
      refusal: status.refusal,
      jobId: status.jobId,
      fix: status.findings.some(isFixable) ? fix : null,
    };
  });

  app.post<Named>("/gates/:id/job", async (request, reply) => {
    const { id } = await find(request.params.id);
    const { only } = parseFix(request.body);
    const createdBy = `user/${subjectOf(request)}`;
    const made = await startDocsJob({ ...deps, newJobRules }, { id, createdBy, ...(only && { only }) });
    const { jobId } = made;
    if (made.kind === "created") return reply.code(201).send({ jobId });
    if (!made.message) return { jobId };
    const { prompt, model } = made.message;
    const job = await findJob(pool, jobId);
    const door = { ...sessionDoor(deps), jobOf: async () => job, sendJob: (to: FastifyReply) => to.send({ jobId }) };
    request.body = { prompt };
    return messageJobHandler(deps, door, { modelOf: async () => model })(request, reply);
  });

  app.post<Named>("/gates/:id/wrong", async (request) => {
    const status = await find(request.params.id);
    const { reason, ...given } = parseWrong(request.body);
    const { check, path, message } = findNamed(status, given);
    const wrong = { check, path, message: sameNextTime(message), reason };
    await updateProject(pool, status.projectId, { wrong }, actorOf(request));
    return {};
  });

  app.post<Named>("/gates/:id/look", async (request, reply) => {
    const { projectId } = await find(request.params.id);
    await deps.askGate(projectId);
    return reply.code(202).send({});
  });

  async function find(id: string): Promise<GateStatus> {
    const status = /^gat_[0-9a-z]{1,40}$/.test(id) ? await getStatus(pool, id) : null;
    if (status) return status;
    throw new AppError("not_found", { publicMessage: "Status not found." });
  }

  /** Findings with the address of their line of code on the forge. */
  async function linked(project: Project, { contextId, findings }: GateStatus) {
    const context = contextId === null ? [] : await listContextRepositories(pool, project.id);
    const at = contextId === null ? project : context.find(({ id }) => id === contextId);
    return findings.map((finding) => {
      const { source, commit } = finding.claim ?? finding.seen ?? {};
      const [, path, line] = /^(.+):(\d+)$/.exec(source ?? "") ?? [];
      const url = at && commit && path ? blobUrl({ ...at, commit, path, line: Number(line) }) : null;
      return { ...finding, ...(url !== null && { sourceUrl: url }) };
    });
  }

  /** Of a project's repositories; the docs' own is "". */
  async function namesOf(projectId: string): Promise<ReadonlyMap<string, string>> {
    const context = await listContextRepositories(pool, projectId);
    return new Map([["", ""], ...context.map(({ id, name }) => [id, name] as const)]);
  }
}

const silencedMax = 1000;

/** Without the place in the code and the doubt, which differ in the next pull request. */
function sameNextTime(message: string): string {
  return (message.split(/ \(`|\. /)[0] ?? message).slice(0, silencedMax);
}

function showRow(status: GateStatus, names: ReadonlyMap<string, string>): DashboardGates["statuses"][number] {
  const { id, head, name, number, pull, state, words, judgedAt, updatedAt } = status;
  return {
    id,
    repository: names.get(status.contextId ?? "") ?? "",
    head,
    name,
    number,
    title: pull.title,
    url: pull.url,
    state,
    words,
    judgedAt: judgedAt?.toISOString() ?? null,
    updatedAt: updatedAt.toISOString(),
  };
}
