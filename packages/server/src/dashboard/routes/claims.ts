import { AddClaimBody, type Claim, type DashboardPage } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { listContextRepositories } from "../../accounts/projects/context-repositories.ts";
import type { Project } from "../../accounts/projects/projects.ts";
import { addClaim, confirmClaim, listClaims, removeClaim } from "../../claims/claim-store.ts";
import { AppError } from "../../errors.ts";
import { readSiteHealth } from "../../health/site-checks.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find.ts";
import { bodyParser } from "../parse-request.ts";
import { subjectOf } from "../require-session.ts";

type OfProject = { Params: { projectId: string } };
type Identified = { Params: { projectId: string; id: string } };

const parseNew = bodyParser(AddClaimBody);
const claimsMax = 500;
const pathMax = 1_000;
/** Only text of the docs is shown: the repository may also have code that members have not been given. */
const pageForm = /\.(?:mdx?|markdown|mdown|rst|adoc|txt|html?)$/i;

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
    const query = { page: path, state: null, limit: claimsMax, after: null };
    return {
      path,
      commit,
      text: commit && (await deps.readPage(project.id, commit, path)),
      claims: (await listClaims(pool, project.id, query)).claims,
      findings: findings.filter((finding) => finding.path === path),
      repositories: (await listContextRepositories(pool, project.id)).map(({ name }) => name),
    };
  });

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

function isPageOf({ docsDir }: Project, path: string): boolean {
  const folder = docsDir.replace(/^(?:\.?\/)+|\/+$/g, "");
  const isInside = folder === "" || folder === "." || path.startsWith(`${folder}/`);
  const isPlain = path.length <= pathMax && path.isWellFormed() && !/\p{Cc}|(?:^|\/)\.{0,2}(?:\/|$)/u.test(path);
  return isInside && isPlain && pageForm.test(path);
}
