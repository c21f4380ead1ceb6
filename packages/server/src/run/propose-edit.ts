import { isUtf8 } from "node:buffer";
import { listChecks } from "@emend/publish";
import type { Verdict } from "@emend/review";
import { createOverlay } from "@emend/tree";
import { AppError } from "../errors.ts";
import { newId } from "../lib/id.ts";
import { type EditDeps, reviewEdit } from "./commit-edit.ts";
import { deniedMessage } from "./run-job.ts";

export interface PageEdit {
  projectId: string;
  /** The commit that the person read. */
  commit: string;
  path: string;
  text: string;
}

type Refused = { kind: "refused"; reason: string };
export type EditCheck = { kind: "checked"; verdict: Exclude<Verdict, { kind: "denied" }> } | Refused;
export type EditProposal = { kind: "opened"; number: number; url: string } | Refused;

const moved = "The page changed since you opened it. Copy your text, reload the page, and edit it again.";
const pushMsMax = 40_000;

/** What the checks would say of a person's edit of one page of the base branch. Nothing is stored. */
export function checkEdit(deps: EditDeps, edit: PageEdit, signal: AbortSignal): Promise<EditCheck> {
  return withEdit(deps, edit, signal, async ({ verdict }) => ({ kind: "checked", verdict }));
}

/** Opens a pull request with a person's edit of one page. The same review as for an agent's change comes first. */
export function proposeEdit(
  deps: EditDeps,
  edit: PageEdit & { title: string; author: { name: string; email: string } },
  signal: AbortSignal,
): Promise<EditProposal> {
  return withEdit(deps, edit, signal, async ({ verdict, forge, remote, mirror, base, entries, pin }) => {
    const { title, author } = edit;
    const commit = { jobId: pin, base: base.commit, entries, message: title, author, date: new Date() };
    const { commitId } = await mirror.commit(commit, signal);
    const branch = `emend/${pin}`;
    const pushing = AbortSignal.any([signal, AbortSignal.timeout(pushMsMax)]);
    const pushed = await mirror.push({ remote, branch, commit: commitId, expected: null }, pushing);
    if (pushed.kind === "rejected") return refused(`The repository refused the commit: ${pushed.reason}`);
    if (pushed.kind === "conflict") return refused(`The branch ${branch} exists already. Try again.`);
    const checks = listChecks(verdict);
    const body = `${author.name} edited \`${edit.path.replaceAll("`", "")}\` in Emend's dashboard.`;
    const opened = await forge.createPullRequest(
      { head: branch, base: base.ref, title, body, draft: false, checks },
      signal,
    );
    if (opened.kind !== "created") return refused(`Its commit is on the branch ${branch}, without a pull request.`);
    const { number, url } = opened.pullRequest;
    return { kind: "opened", number, url };
  });
}

type Opened = Awaited<ReturnType<EditDeps["mirrors"]["open"]>>;
interface Reviewed {
  verdict: Exclude<Verdict, { kind: "denied" }>;
  forge: Awaited<ReturnType<EditDeps["openForge"]>>;
  remote: Parameters<Opened["push"]>[0]["remote"];
  mirror: Opened;
  base: { commit: string; ref: string };
  entries: Parameters<Opened["commit"]>[0]["entries"];
  pin: string;
}

async function withEdit<Outcome>(
  deps: EditDeps,
  edit: PageEdit & { title?: string },
  signal: AbortSignal,
  use: (reviewed: Reviewed) => Promise<Outcome>,
): Promise<Outcome | Refused> {
  const project = await deps.findProject(edit.projectId);
  if (!project) throw new AppError("not_found", { publicMessage: "Project not found." });
  const forge = await deps.openForge(project);
  const remote = await forge.gitRemote(signal);
  const mirror = await deps.mirrors.open(project.id);
  // Pinned as if for a job, so that nothing is collected while it is read.
  const pin = newId("edt");
  try {
    const base = await mirror.fetchBase({ remote, jobId: pin, baseRef: project.baseRef }, signal);
    const tree = mirror.treeAt(base.commit);
    const now = await tree.read(edit.path);
    const read =
      base.commit === edit.commit
        ? now
        : await mirror
            .treeAt(edit.commit)
            .read(edit.path)
            .catch(() => null);
    if (now === null) return refused(`${edit.path} is not a page on ${base.ref}.`);
    if (!isUtf8(now)) return refused(`${edit.path} is not UTF-8 text, so it cannot be edited here.`);
    if (!read?.equals(now)) return refused(moved);
    const overlay = await createOverlay(tree);
    await overlay.set(edit.path, Buffer.from(edit.text, "utf8"));
    const entries = overlay.entries();
    if (entries.length === 0) return refused("Nothing changed.");
    const change = { mirror, overlay, base: tree, whole: null, title: edit.title ?? "Edit" };
    const verdict = await reviewEdit(deps, project, change, signal);
    if (verdict.kind === "denied") return refused(deniedMessage(verdict.violations));
    return await use({ verdict, forge, remote, mirror, base, entries, pin });
  } finally {
    await mirror.release(pin);
  }
}

function refused(reason: string): Refused {
  return { kind: "refused", reason };
}
