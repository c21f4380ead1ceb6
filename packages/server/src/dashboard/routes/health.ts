import { rulesModelName } from "@emend/base/model-names.ts";
import type { DashboardHealth, DashboardStatus } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { listContextRepositories } from "../../accounts/projects/context-repositories.ts";
import { allowedModels } from "../../accounts/projects/project-settings.ts";
import { listClaimsNow } from "../../claims/claim-store.ts";
import { askedAbout, backfillLimit, backfillOf } from "../../claims/drift/reader.ts";
import { AppError } from "../../errors.ts";
import { readSiteHealth } from "../../health/site-checks.ts";
import { listTruth, withFixes } from "../../health/suggest-fixes.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find.ts";
import { bodyParser } from "../parse-request.ts";

const parseTask = bodyParser(
  Type.Object({
    kind: Type.String({ maxLength: 100 }),
    subject: Type.String({ maxLength: 1_000, pattern: "^[^\\x00]*$" }),
  }),
);

/** The installation's status, and what was given up. */
export function statusRoute(app: FastifyInstance, deps: RouteDeps): void {
  app.get("/status", { config: { role: "owner" } }, async (): Promise<DashboardStatus> => deps.status());
  app.post("/tasks/retry", { config: { role: "owner" } }, async (request) => {
    if (await deps.retryTask(parseTask(request.body))) return {};
    throw new AppError("not_found", { publicMessage: "Task not found. It may be running again." });
  });
}

type OfProject = { Params: { projectId: string } };

export function healthRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get<OfProject>("/projects/:projectId/health", async (request): Promise<DashboardHealth> => {
    const { id, settings } = await findProject(deps.pool, request.params.projectId);
    const { checks, findings, problem } = await readSiteHealth(deps.pool, id);
    const isRules = allowedModels(settings, deps.defaultModel)[0] === rulesModelName;
    return {
      checks: checks.map((check) => ({ ...check, checkedAt: check.checkedAt.toISOString() })),
      findings: withFixes(findings, isRules),
      isChecking: await deps.isSiteCheckAsked(id),
      problem: problem && { at: problem.at.toISOString(), words: problem.words },
      fixes: await deps.suggestions(id),
      truth: await listTruth({ db: deps.pool, defaultModel: deps.defaultModel }, id, {
        checked: findings,
        claims: await listClaimsNow(deps.pool, id, { checkedAt: checks.at(-1)?.checkedAt, findings }),
      }),
      backfills: await listBackfills(id),
    };
  });

  async function listBackfills(projectId: string): Promise<DashboardHealth["backfills"]> {
    const own = { id: projectId, name: null };
    const found: DashboardHealth["backfills"][number][] = [];
    for (const { id, name } of [own, ...(await listContextRepositories(deps.pool, projectId))]) {
      const asked = await askedAbout(deps.pool, { projectId, subject: backfillOf(id) }, backfillLimit);
      if (asked) found.push({ repository: name, ...asked });
    }
    return found;
  }

  /** Responds before the check has started: a worker starts it within moments. */
  app.post<OfProject>("/projects/:projectId/health/check", async (request, reply) => {
    const { id } = await findProject(deps.pool, request.params.projectId);
    await deps.askSiteCheck(id);
    return reply.code(202).send({});
  });
}
