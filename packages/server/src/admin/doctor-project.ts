import type { ForgeInspection, RepositoryDescription } from "@emend/forges";
import { type Git, resolveBase } from "@emend/tree";
import { type Project, requireProject } from "../accounts/projects/projects.ts";
import type { Automation } from "../automations/automation.ts";
import { listAutomations } from "../automations/automation-store.ts";
import type { Queryable } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import { hookSecretOf } from "../forge/hooks/plugin.ts";
import { type ForgeDeps, openForge } from "../forge/open-forge.ts";
import type { Told } from "./ask-worker.ts";
import type { ModelTrial } from "./try-model.ts";

/** One check, with its result in words. */
export interface ProjectCheck {
  name: string;
  verdict: "ok" | "problem" | "unknown";
  words: string;
}
type Verdict = Omit<ProjectCheck, "name">;

export interface ProjectDiagnosis {
  projectId: string;
  repositoryUrl: string;
  /** A worker's host. Null: none is running, so this process made the checks. */
  checkedBy: string | null;
  checks: readonly ProjectCheck[];
  /** How to set up the forge's webhook. Null on the local forge, which needs none. */
  webhook: { url: string; secret: string } | null;
}

const dayMs = 86_400_000;
/** A token that expires sooner is reported as a problem. */
const expiresSoonDays = 7;

export interface DoctorDeps {
  db: Queryable;
  forges: ForgeDeps;
  git: Git;
  secret: string;
  publicUrl: string;
  /** Asks each model that the project's jobs may use, with their key. */
  tryModels?(project: Project): Promise<readonly ModelTrial[]>;
  /** Asks each knowledge server of the project. */
  tryKnowledge?(projectId: string): Promise<readonly ProjectCheck[]>;
  /** Builds the site of the base branch, if the project has its changes built. */
  tryBuild?(project: Project, signal: AbortSignal): Promise<readonly ProjectCheck[]>;
}

/** Jobs run in a worker, with its credentials, settings and network: it makes the checks if there is one. */
export async function diagnoseProject(
  deps: DoctorDeps & { askWorker?(projectId: string): Promise<Told<{ checks: readonly ProjectCheck[] }> | null> },
  projectId: string,
  signal: AbortSignal,
): Promise<ProjectDiagnosis> {
  const project = await requireProject(deps.db, projectId);
  const told = (await deps.askWorker?.(projectId)) ?? null;
  return {
    projectId,
    repositoryUrl: project.repositoryUrl,
    checkedBy: told?.host ?? null,
    checks: told?.checks ?? (await checkProject(deps, projectId, signal)),
    webhook: webhookOf(deps, project),
  };
}

/** Checks everything that this project's jobs need from its forge and models. Changes nothing. */
export async function checkProject(
  deps: DoctorDeps,
  projectId: string,
  signal: AbortSignal,
): Promise<readonly ProjectCheck[]> {
  const project = await requireProject(deps.db, projectId);
  const { repositoryUrl } = project;
  const forge = await openForge(project, deps.forges);
  const webhook = webhookOf(deps, project);
  const branch = `${project.settings.branchPrefix}/doctor`;
  const checks: ProjectCheck[] = [];
  const check = async (name: string, work: () => Promise<Verdict>) =>
    void checks.push({ name, ...(await work().catch((error) => verdictOf(error, forge.name === "local"))) });

  const described = forge.describeRepository(signal);
  const inspected = forge.inspect?.(branch, signal) ?? null;
  // Each is asked once and reported by the first check that needs it.
  for (const asked of [described, inspected]) asked?.catch(() => {});
  if (forge.name === "local") {
    await check("repository", async () => described.then(() => ok("is kept by this Emend, and needs no token")));
  } else {
    await check("token", async () => tokenVerdict(repositoryUrl, await described, await inspected));
    await check("permissions", async () => permissionVerdict(await described, await inspected));
  }
  await check("git", async () => {
    const remote = await forge.gitRemote(signal);
    const base = await resolveBase(deps.git, { remote, baseRef: project.baseRef }, signal);
    return ok(`the base is ${base.branch} at ${base.commit.slice(0, 10)}`);
  });
  if (inspected) await check("branch rules", async () => branchVerdict(branch, await inspected));
  await check("pull requests", async () => {
    await forge.findPullRequests({ head: branch, since: new Date() }, signal);
    return ok("can be listed by branch");
  });
  if (inspected && forge.conversation) await check("comments", async () => commentVerdict(await inspected));
  if (inspected && webhook) await check("webhook", async () => webhookVerdict(webhook.url, await inspected));
  const automations = await listAutomations(deps.db, projectId);
  if (automations.length > 0) await check("automations", async () => automationVerdict(automations));
  for (const trial of (await deps.tryModels?.(project)) ?? []) {
    checks.push({ name: `model ${trial.model}`, ...modelVerdict(trial) });
  }
  checks.push(...((await deps.tryKnowledge?.(projectId)) ?? []));
  checks.push(...((await deps.tryBuild?.(project, signal)) ?? []));
  return checks;
}

function modelVerdict(trial: ModelTrial): Verdict {
  if (trial.kind === "unavailable") return problem(trial.words);
  if (trial.model === "emend/rules") return ok("deterministic, needs no key");
  return ok(`answers, in ${trial.ms} ms${trial.window === undefined ? "" : `; ${trial.window}`}`);
}

function webhookOf(deps: { secret: string; publicUrl: string }, { forge, id }: Project) {
  if (forge === "local") return null;
  return { url: `${deps.publicUrl}/hooks/${forge}/${id}`, secret: hookSecretOf(deps.secret, id) };
}

const ok = (words: string): Verdict => ({ verdict: "ok", words });
const problem = (words: string): Verdict => ({ verdict: "problem", words });
const unknown = (words: string): Verdict => ({ verdict: "unknown", words });

function tokenVerdict(repositoryUrl: string, found: RepositoryDescription, inspected: ForgeInspection | null): Verdict {
  if (found.archived) return problem(`${found.path} is archived: nothing can be pushed to it`);
  const isSame = repositoryUrl.toLowerCase().endsWith(`/${found.path.toLowerCase()}`);
  if (!isSame)
    return problem(
      `the repository is called ${found.path} now: run "emend project set ID --follow", or set its new address`,
    );
  const { account, expiresAt, server } = inspected ?? {};
  const who = [account ? ` as ${account}` : "", server ? ` on ${server}` : ""].join("");
  if (!expiresAt) return ok(`reads ${found.path}${who}`);
  const day = expiresAt.toISOString().slice(0, 10);
  const isSoon = expiresAt.getTime() - Date.now() < expiresSoonDays * dayMs;
  return isSoon
    ? problem(`it ends on ${day}: give the project a new one before that`)
    : ok(`reads ${found.path}${who}, until ${day}`);
}

function permissionVerdict(found: RepositoryDescription, inspected: ForgeInspection | null): Verdict {
  const lacks = inspected?.lacks ?? [];
  if (found.mayPush === false) return problem("the token's owner may not push");
  if (found.mayOpenPullRequests === false) return problem("pull requests cannot be opened here");
  if (lacks.length > 0) return problem(`missing: ${lacks.join("; ")}`);
  if (found.mayPush === null) return unknown("the forge does not say whether the token may push");
  return ok("the token's owner may push");
}

function branchVerdict(branch: string, { branchRules: rules }: ForgeInspection): Verdict {
  if (rules === null) return unknown("the token may not read the branch rules; a push tells");
  return rules.length > 0
    ? problem(`a push to ${branch} would be refused: ${rules.join("; ")}`)
    : ok(`none is in the way of ${branch}`);
}

function commentVerdict({ unknownAuthors }: ForgeInspection): Verdict {
  return unknownAuthors ? problem(unknownAuthors) : ok("people who may write can send requests on pull requests");
}

function webhookVerdict(url: string, { webhooks }: ForgeInspection): Verdict {
  if (webhooks === null) return unknown("the token may not read the webhooks; without one, Emend polls");
  const own = webhooks.find((hook) => hook.url === url);
  if (!own) return ok("none is set up; Emend polls every two minutes");
  if (!own.isActive) return problem(`it is there, but not active${own.failure ? `: ${own.failure}` : ""}`);
  return own.failure ? problem(`its last delivery failed: ${own.failure}`) : ok("is set up and active");
}

function automationVerdict(automations: readonly Automation[]): Verdict {
  const hindered = automations.filter((one) => one.problem !== null);
  return hindered.length > 0
    ? problem(hindered.map((one) => `${one.name}: ${one.problem}`).join(" "))
    : ok(`nothing hinders any of the ${automations.length}`);
}

/** A host may be back later. A folder of this machine is not. */
function verdictOf(error: unknown, isLocal: boolean): Verdict {
  if (!isAppError(error)) throw error;
  return { verdict: error.retryable && !isLocal ? "unknown" : "problem", words: error.publicMessage };
}
