import { changeKindOf, kindFilesMax, ownersOf, readCodeOwners } from "@emend/publish";
import type { Verdict } from "@emend/review";
import { diffFiles } from "../jobs/read/diff.ts";
import type { LeasedJob } from "../jobs/run/leased-job.ts";
import type { RecordedChange } from "../jobs/run/record-change.ts";
import type { OpenTree } from "./run.ts";

/** For whoever reviews and merges it. A change of several rounds, or with new findings, has no kind. */
export async function classifyChange(
  job: Pick<LeasedJob, "continuesBranch">,
  { base, overlay }: OpenTree,
  { verdict, diff }: { verdict: Verdict; diff: Buffer },
): Promise<Pick<RecordedChange, "codeOwners" | "changeKind">> {
  const owners = await readCodeOwners(base);
  const paths = owners === null ? [] : diffFiles(diff.toString("utf8")).map(({ path }) => path);
  const codeOwners = owners === null ? null : ownersOf(owners, paths);
  const entries = overlay.entries();
  const isSound = verdict.kind === "passed" && verdict.introduced.length === 0;
  if (!isSound || job.continuesBranch || entries.length > kindFilesMax) return { codeOwners, changeKind: null };
  const modes = new Map((await base.list()).map(({ path, mode }) => [path, mode]));
  const files = [];
  for (const { path, mode, content } of entries) {
    // A file whose mode changed counts as new.
    const before = modes.get(path) === mode ? await base.read(path) : null;
    files.push({ path, before: before?.toString("utf8") ?? null, after: content?.toString("utf8") ?? null });
  }
  return { codeOwners, changeKind: changeKindOf(files) };
}
