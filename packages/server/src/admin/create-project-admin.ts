import { setModelKey } from "../accounts/model-keys.ts";
import type { Sealer } from "../accounts/secrets.ts";
import { setProjectCredential } from "../accounts/set-project-credential.ts";
import type { ProjectAdmin } from "../dashboard/project-admin.ts";
import { asActor } from "../db/acting.ts";
import type { Pool } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { checkCredential, knownForge } from "../forge/registry.ts";
import { addWebhook } from "../notify/add-webhook.ts";
import type { Admin } from "./admin.ts";

/** The dashboard's hand on projects: what the console may do, in the name of whoever is logged in. */
export function createProjectAdmin(deps: {
  admin: Admin;
  pool: Pool;
  sealer: Sealer;
  allowPrivateWebhooks: boolean;
}): ProjectAdmin {
  const { admin, pool, sealer, allowPrivateWebhooks } = deps;
  return {
    add: (input, by) => admin.addProject(input, by),
    diagnose: (projectId) => admin.diagnoseProject(projectId),
    async setCredential({ id, forge: name }, credential, by) {
      const forge = knownForge(name);
      if (forge === "local") {
        throw new AppError("invalid_request", { publicMessage: "A project of the local forge needs no token." });
      }
      await setProjectCredential({ db: asActor(pool, by), sealer }, id, checkCredential(forge, credential));
    },
    async setModelKey(input, by) {
      await setModelKey({ db: asActor(pool, by), sealer }, input);
    },
    addWebhook: (input, by) => addWebhook({ db: asActor(pool, by), sealer, allowPrivate: allowPrivateWebhooks }, input),
    addContext: (input, by) => admin.addContextRepository(input, by),
  };
}
