import { isUtf8 } from "node:buffer";
import type { Forge } from "@emend/forges";
import { listChecks, withoutNotice } from "@emend/publish";
import { type PageReader, reviewChange, type Verdict } from "@emend/review";
import type { ParseCache } from "@emend/site";
import { createOverlay, type Mirror, type Mirrors, type Overlay, type Remote } from "@emend/tree";
import type { Pool } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { type EditedJob, findEditedJob, holdForEdit, recordEdit, releaseEdit } from "../jobs/edit-hold.ts";
import { newId } from "../lib/id.ts";
import { decideUnknown } from "./ask-approval.ts";
import { describeVerdict } from "./recorder.ts";
import { policyOf, type RunProject } from "./run.ts";
import { deniedMessage } from "./run-job.ts";

export interface EditDeps {
  pool: Pool;
  mirrors: Mirrors;
  siteCache: ParseCache;
  pageReader: PageReader;
  findProject(id: string): Promise<RunProject | undefined>;
  openForge(project: RunProject): Promise<Forge>;
  knownSecrets(projectId: string): Promise<readonly string[]>;
}

interface Edit {
  projectId: string;
  number: number;
  branch: string;
  /** The commit that the person read. */
  head: string;
  path: string;
  text: string;
  message: string;
  author: { name: string; email: string };
}

export type EditOutcome = { kind: "committed"; commit: string } | { kind: "refused"; reason: string };

const moved = "The branch changed since you opened this page. Reload it to see the new commits, then try again.";
const busy = "Emend is working on this branch. Try again when the job has ended.";
const pushMsMax = 40_000;

/**
 * Commits a person's edit of one file to a pull request's branch. The same review as for an agent's change comes first.
 * The push replaces only the commit that the person read, and no run of the job starts while it is under way.
 */
export async function commitEdit(deps: EditDeps, edit: Edit, signal: AbortSignal): Promise<EditOutcome> {
  const project = await deps.findProject(edit.projectId);
  if (!project) throw new AppError("not_found", { publicMessage: "Project not found." });
  const job = await findEditedJob(deps.pool, edit);
  if (job?.status === "active") return refused(busy);
  const forge = await deps.openForge(project);
  const remote = await forge.gitRemote(signal);
  const mirror = await deps.mirrors.open(project.id);
  // Pinned as if for a job, so that nothing is collected while it is read.
  const pin = newId("edt");
  try {
    const { commit: head } = await mirror.fetchBase({ remote, jobId: pin, baseRef: edit.branch }, signal);
    if (head !== edit.head) return refused(moved);
    const base = mirror.treeAt(head);
    const before = await base.read(edit.path);
    if (before === null) return refused(`${edit.path} is not a file on this branch.`);
    if (!isUtf8(before)) return refused(`${edit.path} is not UTF-8 text, so it cannot be edited here.`);
    const overlay = await createOverlay(base);
    await overlay.set(edit.path, Buffer.from(edit.text, "utf8"));
    if (overlay.entries().length === 0) return refused("Nothing changed.");
    const { message, author } = edit;
    const commit = { jobId: pin, base: head, entries: overlay.entries(), message, author, date: new Date() };
    const { commitId } = await mirror.commit(commit, signal);
    const whole = await wholeOf({ mirror, remote }, job, { pin, head: commitId }, signal);
    const verdict = await reviewEdit(deps, project, { mirror, overlay, base, whole, title: message }, signal);
    if (verdict.kind === "denied") return refused(deniedMessage(verdict.violations));
    const outcome = await pushHeld(deps, edit, { job, mirror, remote, commitId, whole, verdict }, signal);
    if (outcome.kind === "committed") await showChecks(forge, edit, verdict, signal);
    return outcome;
  } finally {
    await mirror.release(pin);
  }
}

type Whole = Awaited<ReturnType<Mirror["propose"]>>;
type Passed = Exclude<Verdict, { kind: "denied" }>;

/** The whole pull request with the edit. Null if it has no job, or its job recorded too little. */
async function wholeOf(
  { mirror, remote }: { mirror: Mirror; remote: Remote },
  job: EditedJob | null,
  { pin, head }: { pin: string; head: string },
  signal: AbortSignal,
): Promise<Whole | null> {
  if (!job?.fork || job.baseBranch === null) return null;
  return mirror.propose({ remote, jobId: pin, fork: job.fork, head, branch: job.baseBranch }, signal);
}

export async function reviewEdit(
  deps: EditDeps,
  project: RunProject,
  change: {
    mirror: Mirror;
    base: ReturnType<Mirror["treeAt"]>;
    overlay: Overlay;
    whole: Whole | null;
    title: string;
  },
  signal: AbortSignal,
): Promise<Verdict> {
  const { mirror, base, overlay, whole, title } = change;
  const verdict = await reviewChange(
    {
      base,
      overlay,
      ...(whole && {
        whole: { base: mirror.treeAt(whole.base), head: mirror.treeAt(whole.head), entries: whole.entries },
      }),
      policy: policyOf(project),
      ignore: project.settings.checks.ignore,
      knownSecrets: await deps.knownSecrets(project.id),
      title,
      siteCache: deps.siteCache,
      pageReader: deps.pageReader,
    },
    signal,
  );
  // A person wrote it, so there is nobody to ask. A project's other wishes count for people too.
  const count = verdict.kind === "denied" ? 0 : verdict.constructs.length;
  return decideUnknown(verdict, project.settings.policy.unknown, count);
}

async function pushHeld(
  deps: EditDeps,
  edit: Edit,
  work: {
    job: EditedJob | null;
    mirror: Mirror;
    remote: Remote;
    commitId: string;
    whole: Whole | null;
    verdict: Passed;
  },
  signal: AbortSignal,
): Promise<EditOutcome> {
  const { job, mirror, remote, commitId, whole, verdict } = work;
  const hold = job && (await holdForEdit(deps.pool, job.id));
  if (job && !hold) return refused(busy);
  try {
    const pushing = AbortSignal.any([signal, AbortSignal.timeout(pushMsMax)]);
    const push = { remote, branch: edit.branch, commit: commitId, expected: edit.head };
    const pushed = await mirror.push(push, pushing);
    if (pushed.kind === "conflict") return refused(moved);
    if (pushed.kind === "rejected") return refused(`The repository refused the commit: ${pushed.reason}`);
    if (job && hold && whole) {
      await recordEdit(deps.pool, job.id, hold, {
        diff: (await mirror.diff({ from: whole.base, to: whole.head }, signal)).patch,
        diffBase: whole.base,
        findings: verdict,
        figures: describeVerdict(verdict),
        notice: `${edit.author.name} edited ${edit.path} in the browser.`,
      });
    }
    return { kind: "committed", commit: commitId };
  } finally {
    if (job && hold) await releaseEdit(deps.pool, job.id, hold);
  }
}

/** A forge that shows checks shows those of this change. Elsewhere the pull request's text stays as it was published. */
async function showChecks(forge: Forge, { number }: Edit, verdict: Passed, signal: AbortSignal): Promise<void> {
  const pull = forge.showsChecks ? await forge.readPullRequest(number, signal) : null;
  if (!pull) return;
  const body = verdict.kind === "passed" ? withoutNotice(pull.body) : pull.body;
  await forge.updatePullRequest(number, { body, checks: listChecks(verdict) }, signal);
}

function refused(reason: string): EditOutcome {
  return { kind: "refused", reason };
}
