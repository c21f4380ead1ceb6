import { isSourcePath } from "../references/read-source-file.ts";
import { changedFiles, type SourceIndex } from "../references/source-index.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { ChangedFacts } from "./compare-facts.ts";
import { isEnvSample, readFacts } from "./read-facts.ts";

/** A change of more files is a release or a move, and says little about one fact. */
const filesMax = 200;

/** The facts of the files that two states of the sources have in different versions. */
export async function changedFacts(
  before: SourceIndex,
  after: SourceIndex,
  options: { signal?: AbortSignal } = {},
): Promise<ChangedFacts[]> {
  const breathe = createTimeSlice(options.signal);
  const isSkipped = (path: string) => !isSourcePath(path) || before.skipped.has(path) || after.skipped.has(path);
  const paths = changedFiles(before, after).filter(
    (path) => after.files.has(path) && (isEnvSample(path) || !isSkipped(path)),
  );
  const found: ChangedFacts[] = [];
  for (const path of paths.length > filesMax ? [] : paths) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    const [old, now] = [await before.tree.read(path), await after.tree.read(path)];
    if (old === null || now === null) continue;
    const texts = { was: Buffer.from(old).toString(), now: Buffer.from(now).toString() };
    found.push({ path, before: await readFacts(path, texts.was), after: await readFacts(path, texts.now), texts });
  }
  return found;
}
