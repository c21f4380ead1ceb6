import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { listModelKeys } from "../../accounts/list-model-keys.ts";
import { modelVendors } from "../../lib/model-names.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find-project.ts";
import { bodyParser } from "../parse-body.ts";
import type { Diagnosis } from "../project-admin.ts";
import { actorOf } from "../require-session.ts";

type Identified = { Params: { id: string } };
const Secret = Type.String({ minLength: 1, maxLength: 20_000 });
const parseCredential = bodyParser(Type.Object({ credential: Secret }));
/** `follow`: whatever the forge says that it is by now. */
const parseRepository = bodyParser(
  Type.Object({
    repo: Type.String({ minLength: 1, maxLength: 1000 }),
    /** In place of the one there is; needed where the address is on another server. */
    credential: Type.Optional(Secret),
  }),
);
const parseModelKey = bodyParser(
  Type.Object({
    vendor: Type.Enum(modelVendors),
    /** Null takes it away. */
    key: Type.Union([Type.String({ minLength: 1, maxLength: 4096, pattern: "^[\\x21-\\x7e]+$" }), Type.Null()]),
  }),
);

/** How a project reaches its forge and its models. No secret that was stored is ever shown. */
export function projectConnectionRoutes(app: FastifyInstance, deps: RouteDeps): void {
  // A write by its role, though it changes nothing: the answer holds the secret of the forge's webhook.
  app.post<Identified>("/projects/:id/diagnosis", async (request): Promise<Diagnosis> => {
    const { id } = await findProject(deps.pool, request.params.id);
    const { checks, webhook } = await deps.projectAdmin.diagnose(id);
    return { checks, webhook };
  });

  app.post<Identified>("/projects/:id/credential", async (request) => {
    const project = await findProject(deps.pool, request.params.id);
    await deps.projectAdmin.setCredential(project, parseCredential(request.body).credential, actorOf(request));
    return {};
  });

  app.post<Identified>("/projects/:id/repository", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    const { repositoryUrl } = await deps.projectAdmin.move(id, parseRepository(request.body), actorOf(request));
    return { repositoryUrl };
  });

  app.get<Identified>("/projects/:id/model-keys", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    const known = await listModelKeys(deps.pool, id);
    return { keys: modelVendors.map((vendor) => ({ vendor, isSet: known.includes(vendor) })) };
  });

  app.post<Identified>("/projects/:id/model-keys", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    await deps.projectAdmin.setModelKey({ ...parseModelKey(request.body), projectId: id }, actorOf(request));
    return {};
  });
}
