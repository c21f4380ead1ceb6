import { rm } from "node:fs/promises";
import { createLogger } from "@emend/base/logger.ts";
import { createFetch } from "@emend/base/network.ts";
import type { DashboardAllowedConstructs, OperationInput, OperationName, OperationOutput } from "@emend/contract";
import { knownForge } from "@emend/forges";
import type { Git } from "@emend/tree";
import {
  createDirectoryToken,
  type DirectoryToken,
  listDirectoryTokens,
  revokeDirectoryToken,
} from "../accounts/directory/directory-tokens.ts";
import { resetFactors } from "../accounts/factors/reset-factors.ts";
import { type MonthlyBudget, setMonthlyBudget } from "../accounts/installation-settings.ts";
import type { AdminKey, KeyScope } from "../accounts/keys/api-keys.ts";
import { createKey, listKeys, type Revocation, revokeKey } from "../accounts/keys/api-keys.ts";
import { setModelKey } from "../accounts/keys/model-keys.ts";
import { createLoginLink, createResetLink, ensureOwnerLink } from "../accounts/people/login-links.ts";
import { type Invitation, inviteMember, listInvitations, listMembers } from "../accounts/people/members.ts";
import type { Role, User } from "../accounts/people/user.ts";
import { listAllowedConstructs, removeAllowedConstruct } from "../accounts/projects/allowed-constructs.ts";
import {
  type ContextRepository,
  listContextRepositories,
  removeContextRepository,
} from "../accounts/projects/context-repositories.ts";
import { assertSettingsKnown } from "../accounts/projects/project-settings.ts";
import {
  listProjects,
  openProjectCredential,
  type Project,
  requireProject,
  resolveProject,
} from "../accounts/projects/projects.ts";
import { type ProjectEdit, updateProject } from "../accounts/projects/save-project.ts";
import { createSealer } from "../accounts/secrets.ts";
import { type Automations, createAutomations } from "../automations/automation-store.ts";
import { setWebhookSecret, webhookSecretOf } from "../automations/webhook.ts";
import { createBackup, rememberBackup, restoreBackup } from "../backup/backup.ts";
import type { Manifest } from "../backup/manifest.ts";
import { linkAccount } from "../chat/chat-store.ts";
import type { Config } from "../config/config.ts";
import { removeProject } from "../dashboard/project-admin.ts";
import type { Pool } from "../db/pool.ts";
import { type Actor, asActor, consoleActor } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import { hookSecretOf } from "../forge/hooks/plugin.ts";
import { isEmptyRepository } from "../forge/local/create-repository.ts";
import { repositoryOf } from "../forge/local/repository.ts";
import type { ForgeDeps } from "../forge/open-forge.ts";
import { type GateStatus, listStatuses } from "../gate/gate-store.ts";
import { startDocsJob } from "../gate/start-docs-job.ts";
import { newJobRules } from "../http/parse-create-body.ts";
import { createForgeReach } from "../installation/forge-reach.ts";
import { forgeDirOf, gitNetwork, localGit } from "../installation/local-git.ts";
import { opensCanary } from "../installation/sealed-values.ts";
import { isTrustedOrigin } from "../installation/trusted-origins.ts";
import { listBudgets } from "../jobs/budget.ts";
import { type JobReport, readReport } from "../jobs/read/run-report.ts";
import { carryOut } from "../operations/carry-out.ts";
import { askDiagnosis, askServiceTrials } from "../tasks/start-tasks.ts";
import { askWorker, type Told } from "./ask-worker.ts";
import { type ContextInput, connectContext } from "./connect-context.ts";
import { type AppStep, connectGithubApp } from "./connect-github-app.ts";
import {
  addLocalProject,
  type ConnectedProject,
  connectProject,
  type MoveInput,
  moveProject,
  type NewRemoteProject,
} from "./connect-project.ts";
import { diagnoseProject, type ProjectCheck, type ProjectDiagnosis } from "./doctor-project.ts";
import { type Erasure, eraseJob, erasePerson, eraseProject, findPerson, type KeepRow } from "./erase.ts";
import { checkKnowledge, createKnowledgeAdmin, type KnowledgeAdmin } from "./knowledge.ts";
import { type RotationInput, rotateKeptSecret } from "./rotate-kept-secret.ts";
import { tryProjectModels } from "./try-project-models.ts";
import type { ServiceTrials } from "./try-services.ts";

/** What a person with access to the machine can do without a key. */
export interface Admin {
  /** The URL of this installation's server, or its last one. */
  url(): Promise<string>;
  /** `by`: the actor for the audit log, if it is not the console. */
  addProject(input: NewProject, by?: Actor): Promise<ConnectedProject>;
  listProjects(): Promise<readonly Project[]>;
  /** The id of a project that is given by id or name. Without either, the only project's. */
  projectId(given: string | undefined): Promise<string>;
  showProject(id: string): Promise<ShownProject>;
  /** Changes only what is given, with the dashboard's validation. */
  editProject(id: string, edit: ProjectEdit): Promise<ShownProject>;
  /** Deletes it with all its data. Its repository stays. */
  removeProject(id: string): Promise<void>;
  /** Deletes it with its hosted repository and every row that names it. `keep` gets what will be deleted. */
  eraseProject(id: string, keep?: KeepRow): Promise<Erasure>;
  eraseJob(id: string, keep?: KeepRow): Promise<Erasure>;
  erasePerson(email: string): Promise<Erasure>;
  /** Whether nothing was pushed to a local project yet. */
  isEmptyLocal(projectId: string): Promise<boolean>;
  /** Adds a GitHub project with its own App. `told` receives the steps that a person must do. */
  addGithubAppProject(input: NewProject & { repo: string }, told: (step: AppStep) => void): Promise<ConnectedProject>;
  /** Changes the repository's URL, the token, or both, after checking them. */
  moveProject(input: MoveInput, by?: Actor): Promise<ConnectedProject>;
  /** Checks whether the project's forge allows what Emend needs, and whether its models answer with its keys. */
  diagnoseProject(id: string): Promise<ProjectDiagnosis>;
  /** What a running worker found out about its models and mail server. Null: none runs, or none answers in time. */
  tryServices(): Promise<Told<ServiceTrials> | null>;
  /** A repository that the project's jobs may read but not write. */
  addContextRepository(input: ContextInput, by?: Actor): Promise<ContextRepository>;
  listContextRepositories(projectId: string): Promise<readonly ContextRepository[]>;
  /** False if the project has none of this name. */
  removeContextRepository(input: { projectId: string; name: string }): Promise<boolean>;
  listAllowedConstructs(projectId: string): Promise<DashboardAllowedConstructs["allowed"]>;
  /** False if it was not allowed. */
  removeAllowedConstruct(input: { projectId: string; key: string }): Promise<boolean>;
  /** Servers of the Model Context Protocol that the project's jobs may ask. */
  readonly knowledge: KnowledgeAdmin;
  /** `cell`: the installation that knows the key, if it is one of several. */
  createKey(input: NewAdminKey): Promise<{ id: string; key: string; cell?: string }>;
  listKeys(): Promise<readonly AdminKey[]>;
  revokeKey(id: string): Promise<Revocation["kind"]>;
  /** Logs one browser in, once, as the console. */
  createLoginLink(landsOn: string): Promise<string>;
  /** Creates the first owner. The same link on every node until `isNew` replaces it. Null if there is an owner. */
  ownerLink(options: { isNew: boolean }): Promise<string | null>;
  listMembers(): Promise<readonly User[]>;
  /** Pending invitations. */
  listInvitations(): Promise<readonly Invitation[]>;
  inviteMember(input: { email: string; role: Role }): Promise<{ link: string }>;
  /** Resets a person's password, once. */
  createResetLink(email: string): Promise<string>;
  /** Removes a person's second factors and ends their sessions. */
  resetFactors(email: string): Promise<{ email: string; removed: number }>;
  /** A token for an identity provider that keeps people here (SCIM). */
  createDirectoryToken(input: { name: string }): Promise<{ id: string; token: string; url: string }>;
  listDirectoryTokens(): Promise<readonly DirectoryToken[]>;
  revokeDirectoryToken(id: string): Promise<void>;
  /** Lets an account of a chat, such as `slack/U0123`, act as a member; or takes that back. */
  linkChatAccount(input: { email: string; account: string; isLinked: boolean }): Promise<void>;
  jobReport(jobId: string): Promise<JobReport>;
  /** Any operation of the API, as the console. */
  carryOut<Name extends OperationName>(name: Name, input: OperationInput<Name>): Promise<OperationOutput<Name>>;
  /** Monthly budgets and their usage, the installation's first. */
  listBudgets(): ReturnType<typeof listBudgets>;
  /** The installation's: changes only the given limits. */
  setMonthlyBudget(edit: Partial<MonthlyBudget>): Promise<MonthlyBudget>;
  /** What Emend says on the pull requests of a project's repositories, newest first. */
  listGateStatuses(projectId: string): Promise<readonly GateStatus[]>;
  /** Starts the job that updates the docs for such a pull request. */
  startDocsJob(statusId: string): Promise<{ jobId: string }>;
  readonly automations: Automations;
  /** For services that choose the secret of the webhooks that start an automation; null: Emend's own. */
  setWebhookSecret(automationId: string, secret: string | null): Promise<void>;
  /** Writes an archive of the installation into a new folder. The server may be running. */
  backup(folder: string, signal: AbortSignal): Promise<Manifest>;
  /** Restores an archive into this installation, which must be empty. */
  restore(folder: string, signal: AbortSignal): Promise<Manifest>;
  /** A project's own key for a model vendor. Null removes it; false if there was none. */
  setModelKey(input: { projectId: string; vendor: string; key: string | null }): Promise<boolean>;
  /** Encrypts every stored credential with a new EMEND_SECRET. `keptIn`: the file that holds the new one. */
  rotateSecret(input: RotationInput): Promise<{ resealed: number; keptIn: string | null }>;
  /** Whether the secret is the one that encrypted this installation's credentials. */
  isSecretRight(): Promise<boolean>;
  close(): Promise<void>;
}

/** A project without its credential. */
type ShownProject = Omit<Project, "createdAt"> & { createdAt: string };

function shownProject({ createdAt, ...project }: Project): ShownProject {
  return { ...project, createdAt: createdAt.toISOString() };
}

interface NewProject extends NewRemoteProject {
  forge: string;
  settings?: Readonly<Record<string, unknown>>;
}

interface NewAdminKey {
  projectIds: readonly string[];
  name: string;
  scope: KeyScope;
  expiresAt?: Date;
  allowList?: readonly string[];
}

interface AdminDeps {
  config: Config;
  pool: Pool;
  secret: string;
  publicUrl(): Promise<string>;
  close(): Promise<void>;
}

export function createAdmin(deps: AdminDeps): Admin {
  const { config, pool } = deps;
  const sealer = createSealer(deps.secret);
  const forge = { git: localGit(), forgeDir: forgeDirOf(config) };
  const db = asActor(pool, consoleActor);

  async function withForges<T>(work: (far: { forges: ForgeDeps; git: Git; publicUrl: string }) => Promise<T>) {
    const reach = createForgeReach(config, { isTrusted: (origin) => isTrustedOrigin(pool, origin) });
    const publicUrl = await deps.publicUrl();
    const git = localGit(await gitNetwork(config));
    const forges = {
      local: { git, forgeDir: forgeDirOf(config), pool, publicUrl: () => publicUrl },
      reach,
      githubTokens: new Map(),
      credentialOf: (projectId: string) => openProjectCredential({ db: pool, sealer }, projectId),
    };
    return work({ forges, git, publicUrl }).finally(reach.close);
  }

  return {
    url: deps.publicUrl,
    async addProject(input, by) {
      const forgeName = knownForge(input.forge);
      const acting = { db: asActor(pool, by ?? consoleActor), sealer, isConsole: by === undefined };
      if (forgeName !== "local") return connectProject({ config, ...acting }, forgeName, input);
      return addLocalProject({ config, ...acting, ...forge, publicUrl: deps.publicUrl }, input);
    },
    addGithubAppProject: (input, told) =>
      withForges(({ publicUrl }) => {
        const { secret } = deps;
        const network = createFetch(config.network);
        const far = { config, db, sealer, secret, publicUrl, fetch: network.fetch, told, isConsole: true };
        return connectGithubApp(far, input, AbortSignal.timeout(appSetUpMsMax));
      }),
    moveProject: (input, by) =>
      withForges(({ forges }) => {
        const acting = { config, db: asActor(pool, by ?? consoleActor), sealer, forges, isConsole: by === undefined };
        return moveProject(acting, input, AbortSignal.timeout(diagnosisMsMax));
      }),
    listProjects: () => listProjects(pool),
    projectId: (given) => resolveProject(pool, given),
    showProject: async (id) => shownProject(await requireProject(pool, id)),
    editProject: async (id, edit) => {
      assertSettingsKnown(edit.settings ?? {});
      return shownProject(await updateProject(pool, id, edit, consoleActor));
    },
    removeProject: async (id) => removeProject(pool, await requireProject(pool, id), consoleActor),
    async eraseProject(id, keep) {
      const project = await requireProject(pool, id);
      const erased = await eraseProject(pool, project, consoleActor, keep);
      if (project.forge === "local") await rm(repositoryOf(forge, id).gitDir, { recursive: true, force: true });
      return erased;
    },
    eraseJob: (id, keep) => eraseJob(pool, id, consoleActor, keep),
    async erasePerson(email) {
      const person = await findPerson(pool, email);
      if (!person) throw new AppError("not_found", { publicMessage: `No member has the address ${email}.` });
      return erasePerson(pool, person, consoleActor);
    },
    isEmptyLocal: (projectId) => isEmptyRepository(repositoryOf(forge, projectId), AbortSignal.timeout(diagnosisMsMax)),
    diagnoseProject: (id) =>
      withForges(async ({ forges, git, publicUrl }) => {
        const tryModels = (project: Project) => tryProjectModels({ config, db: pool, sealer }, project);
        const tryKnowledge = (projectId: string) => checkKnowledge({ config, pool, sealer }, projectId);
        const ask = (projectId: string) =>
          askWorker<{ checks: readonly ProjectCheck[] }>(pool, (id) => askDiagnosis(pool, { projectId, id }), {
            waitMsMax: diagnosisMsMax,
          });
        const look = { db: pool, forges, git, secret: deps.secret, publicUrl, tryModels, tryKnowledge, askWorker: ask };
        return diagnoseProject(look, id, AbortSignal.timeout(diagnosisMsMax));
      }),
    async tryServices() {
      const ask = (id: string) => askServiceTrials(pool, id);
      return askWorker<ServiceTrials>(pool, ask, { waitMsMax: diagnosisMsMax });
    },
    addContextRepository: (input, by = consoleActor) =>
      withForges(({ forges, git }) => connectContext({ pool, sealer, git, forges }, input, by)),
    async listContextRepositories(projectId) {
      await requireProject(pool, projectId);
      return listContextRepositories(pool, projectId);
    },
    async removeContextRepository(input) {
      await requireProject(pool, input.projectId);
      return removeContextRepository(db, input);
    },
    async listAllowedConstructs(projectId) {
      await requireProject(pool, projectId);
      return (await listAllowedConstructs(pool, projectId)).allowed;
    },
    async removeAllowedConstruct({ projectId, key }) {
      await requireProject(pool, projectId);
      return removeAllowedConstruct(db, projectId, key);
    },
    knowledge: createKnowledgeAdmin({ config, pool, sealer, publicUrl: deps.publicUrl }),
    async createKey(input) {
      const { allowList, expiresAt, ...rest } = input;
      const outcome = await createKey(db, {
        ...rest,
        expiresInMs: expiresAt ? expiresAt.getTime() - Date.now() : null,
        allowList: allowList ?? null,
        createdBy: "console",
      });
      const { cell } = config;
      if (outcome.kind === "created") return { id: outcome.id, key: outcome.key, ...(cell !== null && { cell }) };
      throw new AppError("not_found", { publicMessage: `project not found: ${outcome.projectId}` });
    },
    listKeys: () => listKeys(pool),
    revokeKey: async (id) => (await revokeKey(db, id)).kind,
    createLoginLink: async (landsOn) => createLoginLink({ db, publicUrl: await deps.publicUrl() }, { landsOn }),
    ownerLink: async (options) =>
      ensureOwnerLink({ pool, secret: deps.secret, publicUrl: await deps.publicUrl() }, options),
    listMembers: () => listMembers(pool),
    listInvitations: () => listInvitations(pool),
    inviteMember: async (input) => inviteMember({ pool, publicUrl: await deps.publicUrl() }, input, consoleActor),
    createResetLink: async (email) => createResetLink({ pool, publicUrl: await deps.publicUrl() }, email),
    resetFactors: (email) => resetFactors(pool, email),
    createDirectoryToken: async (input) => ({
      ...(await createDirectoryToken(pool, input, consoleActor)),
      url: `${await deps.publicUrl()}/scim/v2`,
    }),
    listDirectoryTokens: () => listDirectoryTokens(pool),
    async revokeDirectoryToken(id) {
      if (await revokeDirectoryToken(pool, id, consoleActor)) return;
      throw new AppError("not_found", { publicMessage: `token not found: ${id}` });
    },
    linkChatAccount: (input) => linkAccount(pool, input),
    async jobReport(jobId) {
      const report = await readReport(pool, jobId);
      if (report) return report;
      throw new AppError("not_found", { publicMessage: `job not found: ${jobId}` });
    },
    // The console may lack the server's settings. The server checks a webhook's URL at every delivery.
    async carryOut(name, input) {
      const caller = { actor: consoleActor, projectIds: null };
      return JSON.parse(await carryOut({ pool, sealer, allowPrivateWebhooks: true }, caller, name, input));
    },
    listBudgets: () => listBudgets(pool),
    setMonthlyBudget: (edit) => setMonthlyBudget(pool, edit, consoleActor),
    listGateStatuses: (projectId) => listStatuses(pool, projectId),
    startDocsJob: (id) =>
      startDocsJob(
        { pool, defaultModel: config.model, announceDue: () => {}, newJobRules },
        { id, createdBy: "console" },
      ),
    // Workers poll for due jobs, and a pull request's state is the one stored last.
    automations: createAutomations({
      pool,
      log: createLogger({ level: "silent" }),
      defaultModel: config.model,
      announceDue: () => {},
      newJobRules,
      pullRequestState: async () => null,
      async hookOf(projectId, forge) {
        const url = `${await deps.publicUrl()}/hooks/${forge}/${projectId}`;
        return { url, secret: hookSecretOf(deps.secret, projectId) };
      },
      async webhookOf(id) {
        const url = `${await deps.publicUrl()}/hooks/automations/${id}`;
        return { url, secret: await webhookSecretOf({ pool, sealer, secret: deps.secret }, id) };
      },
    }),
    setWebhookSecret: (id, secret) => setWebhookSecret({ pool, sealer }, id, secret),
    async backup(folder, signal) {
      const manifest = await createBackup({ pool, secret: deps.secret, forge }, folder, signal);
      await rememberBackup(pool, manifest.createdAt);
      return manifest;
    },
    restore: (folder, signal) => restoreBackup({ pool, secret: deps.secret, forge }, folder, signal),
    async setModelKey(input) {
      const vendors = Object.keys(config.modelEndpoints);
      if (!vendors.includes(input.vendor)) {
        const publicMessage = `unknown vendor: ${input.vendor}; there is ${vendors.join(", ")}`;
        throw new AppError("invalid_request", { publicMessage });
      }
      await requireProject(pool, input.projectId);
      return setModelKey({ db, sealer }, input);
    },
    rotateSecret: (input) => rotateKeptSecret({ pool, config, secret: deps.secret }, input),
    isSecretRight: () => opensCanary(pool, sealer),
    close: deps.close,
  };
}

/** Meanwhile a person opens two pages. */
const appSetUpMsMax = 20 * 60_000;
const diagnosisMsMax = 60_000;
