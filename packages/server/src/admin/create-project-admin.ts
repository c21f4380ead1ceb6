import type { ForgeName } from "@emend/contract";
import { checkCredential, type JudgedReach, knownForge, listRepositories, normalizeRepository } from "@emend/forges";
import { openModelKey, setModelKey } from "../accounts/keys/model-keys.ts";
import { removeAppSetup } from "../accounts/projects/github-app.ts";
import { parseProjectSettings } from "../accounts/projects/project-settings.ts";
import { getProject, openProjectCredential, setProjectCredential } from "../accounts/projects/projects.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { Config } from "../config/config.ts";
import type { ProjectAdmin } from "../dashboard/project-admin.ts";
import type { Pool } from "../db/pool.ts";
import { asActor } from "../db/transaction.ts";
import { AppError, isAppError } from "../errors.ts";
import { fillRepository } from "../forge/local/fill-repository.ts";
import { type RepositoryDeps, repositoryOf } from "../forge/local/repository.ts";
import { templateFiles, templateNames } from "../forge/local/site-templates.ts";
import type { Admin } from "./admin.ts";
import { asRequest, createGithubApps, findSetupApp, setAppHook } from "./connect-github-app.ts";
import { describeModels } from "./project-models.ts";

const listMsMax = 30_000;
const fillMsMax = 5 * 60_000;

/** The console's project commands for the dashboard, in the name of the logged-in person. */
export function createProjectAdmin(deps: {
  admin: Admin;
  pool: Pool;
  sealer: Sealer;
  /** EMEND_SECRET. */
  secret: string;
  publicUrl(): string;
  reach: JudgedReach;
  config: Config;
  /** Where repositories are hosted. */
  local: RepositoryDeps;
}): ProjectAdmin {
  const { admin, pool, sealer } = deps;

  /** The credential that a new project takes over from another, or from a new GitHub App. */
  async function takeOver(from: string, forge: RemoteForge, url: string) {
    const source = await sourceOf(from);
    // A credential is only sent to the server that it was made for.
    if (source.forge !== forge || source.origin !== new URL(url).origin) {
      throw refused(`That access is for ${source.origin}. Choose a repository there.`);
    }
    return source;
  }

  /** Where a stored credential may be sent, and the credential. */
  async function sourceOf(from: string) {
    const setup = await findSetupApp(deps, from);
    if (setup) return { ...setup, forge: "github" as const, isSetup: true };
    const project = await getProject(pool, from);
    const forge = project ? knownForge(project.forge) : "local";
    const credential = project && (await openProjectCredential({ db: pool, sealer }, project.id));
    if (!project || forge === "local" || !credential) {
      throw new AppError("not_found", { publicMessage: "GitHub App or project not found, or it has no token." });
    }
    const { forge: settings } = project.settings;
    const { url, apiUrl } = normalizeRepository(forge, project.repositoryUrl, settings);
    return { forge, origin: new URL(url).origin, apiUrl, credential, app: null, isSetup: false };
  }

  async function givenSource(given: { forge: string; host: string; credential: string }) {
    const forge = knownForge(given.forge);
    if (forge === "local") throw refused("Emend hosts these repositories itself.");
    const origin = URL.parse(/^[a-z]+:\/\//i.test(given.host) ? given.host : `https://${given.host}`)?.origin;
    if (!origin?.startsWith("http")) throw refused(`Give the address of the server, such as https://git.example.com.`);
    const { apiUrl } = normalizeRepository(forge, `${origin}/owner/name`, parseProjectSettings({}).forge);
    return { forge, apiUrl, credential: checkCredential(forge, given.credential), app: null };
  }

  return {
    async add({ from, ...input }, by) {
      const forge = knownForge(input.forge);
      if (forge === "local" || !input.repo) return admin.addProject(input, by);
      const { forge: settings } = parseProjectSettings(input.settings);
      const { url, apiUrl } = normalizeRepository(forge, input.repo, settings);
      if (from === undefined) return admin.addProject(input, by);
      const { credential, isSetup } = await takeOver(from, forge, url);
      if (!isSetup) return admin.addProject({ ...input, credential }, by);
      const { origin } = new URL(url);
      await setAppHook(deps, { projectId: from, origin, apiUrl, credential });
      const project = await admin.addProject({ ...input, id: from, credential }, by);
      await removeAppSetup(pool, from);
      return project;
    },
    async listRepositories(source, cursor) {
      const { forge, app, ...input } = "from" in source ? await sourceOf(source.from) : await givenSource(source);
      const signal = AbortSignal.timeout(listMsMax);
      const page = await listRepositories(forge, { ...input, fetch: deps.reach.fetch, cursor }, signal).catch(
        asRequest,
      );
      const { repositories, next, isInstalled } = page;
      return { repositories, next, install: !isInstalled && app ? { name: app.name, url: app.installUrl } : null };
    },
    githubApps: createGithubApps(deps),
    diagnose: (projectId) => admin.diagnoseProject(projectId),
    async setCredential({ id, forge: name }, credential, by) {
      const forge = knownForge(name);
      if (forge === "local") {
        throw new AppError("invalid_request", { publicMessage: "A project of the local forge needs no token." });
      }
      await setProjectCredential({ db: asActor(pool, by), sealer }, id, checkCredential(forge, credential));
    },
    async move(projectId, to, by) {
      return admin.moveProject({ projectId, ...to }, by);
    },
    async setModelKey(input, by) {
      await setModelKey({ db: asActor(pool, by), sealer }, input);
    },
    isEmpty: (projectId) => admin.isEmptyLocal(projectId),
    templates: templateNames,
    async fill(projectId, from) {
      const signal = AbortSignal.timeout(fillMsMax);
      const repository = repositoryOf(deps.local, projectId);
      if ("files" in from) return void (await fillRepository(repository, { kind: "files", files: from.files }, signal));
      if ("template" in from) {
        const files = templateFiles(from.template);
        if (!files) throw refused(`There is no template ${from.template}.`);
        return void (await fillRepository(repository, { kind: "files", files }, signal));
      }
      const url = URL.parse(from.url.trim());
      if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
        throw refused("Give the https address of a public repository, without a user name or password.");
      }
      const addresses = await deps.reach.addressesOf(url.href).catch((error) => {
        throw isAppError(error) ? asked(error) : error;
      });
      const remote = { url: url.href, authorization: null, ...(addresses !== null && { addresses }) };
      await fillRepository(repository, { kind: "git", remote }, signal);
    },
    describeModels: (project) => describeModels({ db: pool, config: deps.config }, project),
    async tryModel(projectId, { model, key }) {
      // Imported here, as in `tryProjectModels`.
      const { tryModel } = await import("./try-model.ts");
      const keyOf = async (id: string, vendor: string) => key ?? (await openModelKey({ db: pool, sealer }, id, vendor));
      const trial = await tryModel(deps.config, model, { id: projectId, keyOf });
      return trial.kind === "answers" ? { isAnswer: true, ms: trial.ms } : { isAnswer: false, words: trial.words };
    },
    addContext: (input, by) => admin.addContextRepository(input, by),
  };
}

type RemoteForge = Exclude<ForgeName, "local">;

function refused(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

/** The error is about the URL in the request. */
function asked(error: AppError): AppError {
  return new AppError("invalid_request", { publicMessage: error.publicMessage, cause: error });
}
