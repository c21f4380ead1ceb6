import { setModelKey } from "../accounts/keys/model-keys.ts";
import { setProjectCredential } from "../accounts/projects/project-credential.ts";
import { parseProjectSettings } from "../accounts/projects/project-settings.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { ProjectAdmin } from "../dashboard/project-admin.ts";
import type { Pool } from "../db/pool.ts";
import { asActor } from "../db/transaction.ts";
import { AppError, isAppError } from "../errors.ts";
import { checkCredential, knownForge, normalizeRepository } from "../forge/registry.ts";
import type { ForgeReach } from "../installation/forge-reach.ts";
import { addWebhook, rotateWebhookSecret } from "../notify/webhooks.ts";
import type { Admin } from "./admin.ts";

/** The console's project commands for the dashboard, in the name of the logged-in person. */
export function createProjectAdmin(deps: {
  admin: Admin;
  pool: Pool;
  sealer: Sealer;
  reach: Pick<ForgeReach, "addressesOf">;
  allowPrivateWebhooks: boolean;
}): ProjectAdmin {
  const { admin, pool, sealer, allowPrivateWebhooks } = deps;

  async function judge(url: string): Promise<void> {
    await deps.reach.addressesOf(url).catch((error) => {
      // A name without an address is reported later, when the repository is checked.
      if (isAppError(error) && error.retryable) return;
      throw isAppError(error) ? asked(error) : error;
    });
  }

  return {
    async add(input, by) {
      const forge = knownForge(input.forge);
      if (forge === "local" || !input.repo) return admin.addProject(input, by);
      const { forge: settings } = parseProjectSettings(input.settings);
      const { url, apiUrl } = normalizeRepository(forge, input.repo, settings);
      for (const one of [url, apiUrl]) await judge(one);
      const given = (input.settings?.forge ?? {}) as Record<string, unknown>;
      return admin.addProject({ ...input, settings: { ...input.settings, forge: { ...given, isJudged: true } } }, by);
    },
    async assertReachable(url) {
      if (URL.canParse(url)) await judge(url);
    },
    diagnose: (projectId) => admin.diagnoseProject(projectId),
    async setCredential({ id, forge: name }, credential, by) {
      const forge = knownForge(name);
      if (forge === "local") {
        throw new AppError("invalid_request", { publicMessage: "A project of the local forge needs no token." });
      }
      await setProjectCredential({ db: asActor(pool, by), sealer }, id, checkCredential(forge, credential));
    },
    async move(projectId, to, by) {
      if (URL.canParse(to.repo)) await judge(to.repo);
      return admin.moveProject({ projectId, ...to }, by);
    },
    async setModelKey(input, by) {
      await setModelKey({ db: asActor(pool, by), sealer }, input);
    },
    addWebhook: (input, by) => addWebhook({ db: asActor(pool, by), sealer, allowPrivate: allowPrivateWebhooks }, input),
    rotateWebhookSecret: (id, by) => rotateWebhookSecret({ db: asActor(pool, by), sealer }, id),
    addContext: (input, by) => admin.addContextRepository(input, by),
  };
}

/** The error is about the URL in the request. */
function asked(error: AppError): AppError {
  return new AppError("invalid_request", { publicMessage: error.publicMessage, cause: error });
}
