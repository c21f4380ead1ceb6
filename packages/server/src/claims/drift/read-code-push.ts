import { secretsIn } from "@emend/base/secrets/secrets-in.ts";
import {
  changedFacts,
  compareFacts,
  type PageBlock,
  type Site,
  type SourceIndex,
  type StaleReference,
  siteBlocks,
} from "@emend/site";
import type { Queryable } from "../../db/pool.ts";
import { askAboutChange, askAboutParts } from "./ask-about-change.ts";
import { type CodeHunk, codeHunks } from "./code-change.ts";
import { confirmAll, passageAt } from "./confirm.ts";
import type { Asker } from "./reader.ts";

/** A line of a page that relies on lines of code, as they were before a push. */
interface Bound {
  page: { path: string; line: number; text: string };
  source: { path: string; line: number; text: string };
}

export interface Push {
  site: Site;
  before: SourceIndex;
  after: SourceIndex;
  stale: readonly StaleReference[];
  isOutside(path: string): boolean;
  /** Null: the project has no language model for this. */
  asker: Asker | null;
  patch(): Promise<string>;
  /** The first comparison of a source: it is long, and read in parts. */
  isBackfill: boolean;
}

/**
 * What a push to a source makes wrong on pages: the stale references that no model calls still right, and lines of pages
 * whose facts changed, or that a model takes for outdated. Those are claims from then on.
 */
export async function readPush(
  push: Push,
  signal: AbortSignal,
): Promise<{ stale: readonly StaleReference[]; bound: readonly Bound[] }> {
  const { site, before, after, asker } = push;
  const changed = await changedFacts(before, after, { signal });
  const blocks = changed.length === 0 && asker === null ? [] : await siteBlocks(site, { signal });
  const facts = compareFacts(changed, blocks).filter(({ code }) => code.was !== "");
  const bound = facts.map(
    ({ path, line, code, block, pageLine }): Bound => ({
      page: pageLineOf(block, pageLine),
      source: { path, line, text: code.was },
    }),
  );
  if (asker === null) return { stale: push.stale, bound };
  const hunks = await codeHunks(await push.patch(), push.isOutside);
  const stale = await confirmed(push.stale, { asker, blocks, after, hunks }, signal);
  const ask = push.isBackfill ? askAboutParts : askAboutChange;
  for (const { kind, block, line, hunk } of await ask(asker, blocks, hunks, signal)) {
    // What is missing has no lines of before.
    const [first] = hunk.removed;
    if (kind === "missing" || first === undefined) continue;
    bound.push({ page: pageLineOf(block, line), source: { path: hunk.path, line: hunk.line, text: first } });
  }
  return { stale, bound };
}

async function confirmed(
  stale: readonly StaleReference[],
  {
    asker,
    blocks,
    after,
    hunks,
  }: { asker: Asker; blocks: readonly PageBlock[]; after: SourceIndex; hunks: readonly CodeHunk[] },
  signal: AbortSignal,
): Promise<readonly StaleReference[]> {
  const byPage = Map.groupBy(blocks, ({ path }) => path);
  const groups = [...Map.groupBy(stale, ({ reference, gone }) => `${reference.page} ${gone}`).values()];
  const candidates = groups.flatMap(([first]) => {
    if (first === undefined) return [];
    const { reference, gone, paths } = first;
    const { page, line } = reference;
    const passage = passageAt(byPage.get(page) ?? [], line);
    const message = `\`${gone}\` is no longer in the code`;
    return [{ page, line, message, name: gone, passage, causes: paths, elsewhere: after.filesWith(gone, 8) }];
  });
  const verdicts = await confirmAll(asker, candidates, hunks, signal);
  return groups.flatMap((group, index) => {
    const verdict = verdicts[index];
    if (verdict === undefined) return group;
    if (verdict.verdict === "still right") return [];
    return group.map((one) => ({ ...one, isCertain: verdict.verdict === "wrong docs" }));
  });
}

function pageLineOf({ path, line, text }: PageBlock, at: number): Bound["page"] {
  return { path, line: at, text: (text.split("\n")[at - line] ?? "").trimEnd() };
}

/** Keeps them as claims at the commit before the push, and lets the next look at claims find what they are now. */
export async function keepBound(
  db: Queryable,
  {
    projectId,
    repositoryId,
    sourceId,
    commit,
    bound,
  }: { projectId: string; repositoryId: string | null; sourceId: string; commit: string; bound: readonly Bound[] },
): Promise<void> {
  for (const { page, source } of bound) {
    if (page.text.trim() === "" || (await secretsIn(source.text)).length > 0) continue;
    await db.query(
      `insert into claims (project_id, page, page_line, page_line_end, page_text, repository_id, path, line, line_end, text,
         hash, commit_id, state, created_by)
       select $1, $2, $3, $3, $4, $5, $6, $7, $7, $8, sha256(convert_to($8, 'UTF8')), $9, 'same', 'emend/drift'
       where not exists (
         select from claims where project_id = $1 and page = $2 and page_text = $4 and repository_id is not distinct from $5
           and path = $6 and text = $8)`,
      [projectId, page.path, page.line, page.text, repositoryId, source.path, source.line, source.text, commit],
    );
  }
  if (bound.length === 0) return;
  await db.query(
    "update claim_looks set commits = commits - $2::text, due_at = clock_timestamp() where project_id = $1",
    [projectId, sourceId],
  );
}
