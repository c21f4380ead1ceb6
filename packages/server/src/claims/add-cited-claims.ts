import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { plainText } from "@emend/base/page-lines.ts";
import { createPatchReader } from "@emend/contract";
import { type CitedLines, type CommitTree, citedLinesMax, findAgain } from "@emend/tree";
import type { Project } from "../accounts/projects/projects.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import type { StoredSource } from "../jobs/run/leased-job.ts";

interface MergedJob {
  id: string;
  sources: readonly StoredSource[];
  diff: Buffer | null;
}

const jobsMax = 50;

/**
 * Turns citations of merged jobs into claims. Each cited place is bound to the sentence that it supports, as that is now on
 * the base branch; without one, to the paragraph of the job's change that shares most words with it. False: there was
 * nothing to keep.
 */
export async function addCitedClaims(
  pool: Pool,
  project: Project,
  docs: CommitTree,
  signal: AbortSignal,
): Promise<boolean> {
  const { rows } = await pool.query<MergedJob>(
    `select id, sources, diff from jobs
     where project_id = $1 and not claims_kept and sources <> '[]' and pull_request ->> 'state' = 'merged'
     order by id limit $2`,
    [project.id, jobsMax],
  );
  if (rows.length === 0) return false;
  const { rows: repositories } = await pool.query<{ id: string; name: string; url: string }>(
    "select id, name, repository_url as url from context_repositories where project_id = $1",
    [project.id],
  );
  for (const job of rows) {
    const paragraphs = job.diff === null ? [] : paragraphsOf((await promisify(inflate)(job.diff)).toString("utf8"));
    const claims: NewClaim[] = [];
    for (const source of job.sources) {
      const { cited, repository } = source;
      // Another repository may have this name by now.
      const known = repositories.find(({ name, url }) => name === repository && url === source.repositoryUrl);
      if (!cited || (repository !== null && !known)) continue;
      const page = await pageOf(docs, paragraphs, source, cited.text, signal);
      if (page) claims.push({ page, source, cited, repositoryId: known?.id ?? null });
    }
    await inTransaction(pool, async (client) => {
      const { rowCount } = await client.query("update jobs set claims_kept = true where id = $1 and not claims_kept", [
        job.id,
      ]);
      if (rowCount === 1) for (const claim of claims) await insertClaim(client, { project, job, claim });
    });
  }
  return true;
}

interface NewClaim {
  page: CitedLines;
  source: StoredSource;
  cited: NonNullable<StoredSource["cited"]>;
  repositoryId: string | null;
}

async function insertClaim(
  db: Queryable,
  { project, job, claim }: { project: Project; job: MergedJob; claim: NewClaim },
): Promise<void> {
  const { page, source, cited, repositoryId } = claim;
  await db.query(
    `insert into claims (project_id, page, page_line, page_line_end, page_text, repository_id, path, line, line_end, text,
       hash, symbol, commit_id, state, job_id, created_by)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, sha256(convert_to($10, 'UTF8')), $11, $12, 'same', $13, 'job/' || $13
     where not exists (
       select from claims where project_id = $1 and page = $2 and page_text = $5 and repository_id is not distinct from $6
         and path = $7 and text = $10)`,
    [
      project.id,
      page.path,
      page.line,
      page.lineEnd,
      page.text,
      repositoryId,
      source.path,
      source.line,
      cited.lineEnd,
      cited.text,
      cited.symbol,
      source.commit,
      job.id,
    ],
  );
}

/** The added text, by paragraph: a claim on a whole new page would end when any word of it changes. */
function paragraphsOf(patch: string): readonly CitedLines[] {
  const paragraphs: CitedLines[] = [];
  let current: CitedLines | null = null;
  const reader = createPatchReader((file, line) => {
    const isNext = line.kind === "added" && line.text.trim() !== "";
    if (!isNext) {
      current = null;
      return;
    }
    const text = line.text.trimEnd();
    if (current && current.path === file.path && current.lineEnd - current.line + 1 < citedLinesMax) {
      current.lineEnd = line.after;
      current.text += `\n${text}`;
      return;
    }
    current = { path: file.path, line: line.after, lineEnd: line.after, text, symbol: null };
    paragraphs.push(current);
  });
  reader.read(patch.endsWith("\n") ? patch : `${patch}\n`);
  reader.end();
  return paragraphs;
}

/** The supported sentence's lines on the base branch, or the paragraph that is closest to the cited lines. */
async function pageOf(
  docs: CommitTree,
  paragraphs: readonly CitedLines[],
  { supports = "" }: StoredSource,
  cited: string,
  signal: AbortSignal,
): Promise<CitedLines | null> {
  const memory = { movedTo: new Map(), searches: 0 };
  for (const paragraph of [...linesOf(paragraphs, supports), ...ranked(paragraphs, cited)]) {
    const found = await findAgain(docs, paragraph, memory, signal);
    if (found.kind === "same" || found.kind === "moved") return found.cited;
  }
  return null;
}

/** The fewest lines of each paragraph that have the whole sentence. */
function linesOf(paragraphs: readonly CitedLines[], sentence: string): readonly CitedLines[] {
  const words = plainText(sentence);
  if (words === "") return [];
  return paragraphs.flatMap((paragraph) => {
    const lines = paragraph.text.split("\n");
    const has = (from: number, to: number) => plainText(lines.slice(from, to).join("\n")).includes(words);
    if (!has(0, lines.length)) return [];
    const to = lines.findIndex((_, index) => has(0, index + 1)) + 1;
    const from = lines.findLastIndex((_, index) => has(index, to));
    const text = lines.slice(from, to).join("\n");
    return [{ ...paragraph, line: paragraph.line + from, lineEnd: paragraph.line + to - 1, text }];
  });
}

/** The first one wins a tie. */
function ranked(paragraphs: readonly CitedLines[], cited: string): readonly CitedLines[] {
  const wanted = wordsOf(cited);
  const score = ({ text }: CitedLines) => [...wordsOf(text)].filter((word) => wanted.has(word)).length;
  return paragraphs.toSorted((a, b) => score(b) - score(a));
}

/** Parts of names count too: `timeoutMs` matches "timeout". */
function wordsOf(text: string): ReadonlySet<string> {
  const parts = text.replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").matchAll(/\p{L}{3,}|\p{N}{2,}/gu);
  return new Set([...parts].map(([word]) => word.toLowerCase()));
}
