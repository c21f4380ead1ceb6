import { acquireForResponse, createKeyedSemaphore } from "@emend/base/locks.ts";
import { rulesModelName } from "@emend/base/model-names.ts";
import {
  AddClaimBody,
  type Claim,
  type DashboardEditCheck,
  type DashboardPage,
  findingsShownMax,
} from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { listContextRepositories } from "../../accounts/projects/context-repositories.ts";
import { allowedModels } from "../../accounts/projects/project-settings.ts";
import { addClaim, confirmClaim, listClaims, removeClaim } from "../../claims/claim-store.ts";
import { AppError } from "../../errors.ts";
import { readSiteHealth } from "../../health/site-checks.ts";
import { withFixes } from "../../health/suggest-fixes.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject, isPageOf } from "../find.ts";
import { bodyParser } from "../parse-request.ts";
import { subjectOf } from "../require-session.ts";
import { auditPull } from "./pulls.ts";

type OfProject = { Params: { projectId: string } };
type Identified = { Params: { projectId: string; id: string } };

const parseNew = bodyParser(AddClaimBody);
const edited = {
  commit: Type.String({ pattern: "^[0-9a-f]{40,64}$" }),
  path: Type.String({ minLength: 1, maxLength: 1_000 }),
  text: Type.String({ maxLength: 1024 * 1024 }),
};
const parseEdit = bodyParser(Type.Object(edited));
const parseProposal = bodyParser(
  Type.Object({ ...edited, title: Type.String({ minLength: 1, maxLength: 200, pattern: "^[^\\x00-\\x1f]*$" }) }),
);
/** Each compares the whole site with its base. */
const checkBounds = { perHolderMax: 1, allMax: 4 };
const claimsMax = 500;

/** A page of the docs with its claims. */
export function claimRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { pool } = deps;

  app.get<OfProject>("/projects/:projectId/page", async (request): Promise<DashboardPage> => {
    const project = await findProject(pool, request.params.projectId);
    const { path } = request.query as Record<string, unknown>;
    if (typeof path !== "string" || !isPageOf(project, path)) {
      throw new AppError("not_found", { publicMessage: "Page not found." });
    }
    const { checks, findings } = await readSiteHealth(pool, project.id);
    const commit = checks.at(-1)?.commit ?? null;
    const isRules = allowedModels(project.settings, deps.defaultModel)[0] === rulesModelName;
    const query = { page: path, state: null, limit: claimsMax, after: null };
    return {
      path,
      commit,
      text: commit && (await deps.readPage(project.id, commit, path)),
      claims: (await listClaims(pool, project.id, query)).claims,
      findings: withFixes(
        findings.filter((finding) => finding.path === path),
        isRules,
      ),
      repositories: (await listContextRepositories(pool, project.id)).map(({ name }) => name),
    };
  });

  const seats = createKeyedSemaphore(checkBounds);
  app.post<OfProject>("/projects/:projectId/page/check", async (request, reply): Promise<DashboardEditCheck> => {
    const project = await findProject(pool, request.params.projectId);
    const edit = parseEdit(request.body);
    if (!isPageOf(project, edit.path)) throw new AppError("not_found", { publicMessage: "Page not found." });
    if (!acquireForResponse(seats, subjectOf(request), reply.raw)()) {
      throw new AppError("rate_limited", { publicMessage: "A check is running.", retryAfterMs: 1_000 });
    }
    const outcome = await deps.checkEdit({ ...edit, projectId: project.id });
    if (outcome.kind === "refused") return { refusal: outcome.reason, introduced: [], fixed: [] };
    const { introduced, fixed } = outcome.verdict;
    const show = (list: typeof fixed) =>
      list
        .slice(0, findingsShownMax)
        .map(({ check, severity, path, line, message }) => ({ check, severity, path, line, message }));
    return { refusal: null, introduced: show(introduced), fixed: show(fixed) };
  });

  app.post<OfProject>(
    "/projects/:projectId/page/propose",
    async (request, reply): Promise<{ number: number; url: string }> => {
      const project = await findProject(pool, request.params.projectId);
      const edit = parseProposal(request.body);
      if (!isPageOf(project, edit.path)) throw new AppError("not_found", { publicMessage: "Page not found." });
      const outcome = await deps.proposeEdit({ ...edit, projectId: project.id, by: subjectOf(request) });
      if (outcome.kind === "refused") throw new AppError("conflict", { publicMessage: outcome.reason });
      await auditPull(deps, request, "proposed", { number: outcome.number, path: edit.path });
      reply.code(201);
      return { number: outcome.number, url: outcome.url };
    },
  );

  app.post<OfProject>("/projects/:projectId/claims", async (request, reply) => {
    const { id: projectId } = await findProject(pool, request.params.projectId);
    const createdBy = `user/${subjectOf(request)}`;
    const claim = await addClaim(pool, { ...parseNew(request.body), projectId, createdBy });
    await deps.askClaimPoll(projectId);
    return reply.code(201).send(claim);
  });

  for (const [end, change] of [
    ["confirm", confirmClaim],
    ["remove", removeClaim],
  ] as const) {
    app.post<Identified>(`/projects/:projectId/claims/:id/${end}`, async (request): Promise<Claim> => {
      const { id } = await findProject(pool, request.params.projectId);
      const claim = await change(pool, id, request.params.id);
      if (claim) return claim;
      throw new AppError("not_found", { publicMessage: "Claim not found." });
    });
  }
}
