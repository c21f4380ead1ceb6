import { addressUsed } from "@emend/base/network.ts";
import { type DashboardGithubApp, type DashboardNewApp, type DashboardRepositories, forgeNames } from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../errors.ts";
import type { RouteDeps } from "../dashboard.ts";
import { isId } from "../find.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf } from "../require-session.ts";

type Identified = { Params: { id: string } };
const ownersOnly = { config: { role: "owner" } } as const;
const Host = Type.String({ minLength: 1, maxLength: 300 });
const parseNew = bodyParser(
  Type.Object({
    host: Host,
    /** Absent: the person's own account. */
    organization: Type.Optional(Type.String({ pattern: "^[0-9A-Za-z_-]{1,100}$" })),
  }),
);
const parseCreated = bodyParser(
  Type.Object({
    state: Type.String({ pattern: "^[0-9A-Za-z_-]{43}$" }),
    code: Type.String({ pattern: "^[0-9A-Za-z_-]{1,200}$" }),
  }),
);
const Cursor = Type.Optional(Type.String({ pattern: "^[0-9]{1,4}([.][0-9]{1,4})?$" }));
const parseSource = bodyParser(
  Type.Union([
    Type.Object({ from: Type.String({ pattern: "^[0-9A-Za-z_-]{1,64}$" }), cursor: Cursor }),
    Type.Object({
      forge: Type.Enum(forgeNames),
      host: Host,
      credential: Type.String({ minLength: 1, maxLength: 20_000 }),
      cursor: Cursor,
    }),
  ]),
);

/** Creating a GitHub App, and choosing a repository that a credential reaches. */
export function githubAppRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { githubApps } = deps.projectAdmin;

  // A POST, because the body may hold a token.
  app.post("/repositories", async (request): Promise<DashboardRepositories> => {
    const { cursor = null, ...source } = parseSource(request.body);
    return deps.projectAdmin.listRepositories(source, cursor);
  });

  app.get("/github-apps", ownersOnly, async (): Promise<{ apps: readonly DashboardGithubApp[] }> => {
    return { apps: await githubApps.list() };
  });

  app.post("/github-apps", ownersOnly, async (request, reply) => {
    const { host, organization = null } = parseNew(request.body);
    const begun = await githubApps.begin({ host, organization, session: sessionOf(request) }, actorOf(request));
    return reply.code(201).send(begun);
  });

  app.post<Identified>("/github-apps/:id/manifest", ownersOnly, async (request): Promise<DashboardNewApp> => {
    // GitHub sends the browser back to the name that it used: its cookie is valid only there.
    const base = addressUsed(request.headers, deps.publicUrl());
    return githubApps.manifest({ id: idOf(request.params), session: sessionOf(request), base });
  });

  app.post("/github-apps/created", ownersOnly, async (request) =>
    githubApps.created({ ...parseCreated(request.body), session: sessionOf(request) }),
  );

  app.post<Identified>("/github-apps/:id/remove", ownersOnly, async (request) => {
    if (await githubApps.remove(idOf(request.params))) return {};
    throw new AppError("not_found", { publicMessage: "GitHub App not found." });
  });

  function sessionOf(request: FastifyRequest): string {
    const token = deps.sessions.tokenOf(request.headers.cookie);
    if (token !== null) return token;
    throw new AppError("unauthorized", { publicMessage: "Log in first." });
  }
}

/** The database refuses some other texts. */
function idOf({ id }: { id: string }): string {
  return isId(id) ? id : "";
}
