import { hash } from "node:crypto";
import type { Pool } from "../db/pool.ts";
import { diffFiles } from "../jobs/read/diff.ts";
import { patchOf } from "./read-lessons.ts";

export interface Suggestion extends Candidate {
  branch: string;
  createdAt: Date;
}

interface Candidate {
  line: string;
  /** What people did. */
  why: string;
  cases: readonly { jobId: string; path: string }[];
}

/** So many jobs must have been corrected or refused in the same way: one is a matter of taste. */
const casesMin = 3;
const mergedMax = 50;

/** One that began and is not open yet, or a new one. Null: there is none, or people have not decided about the last. */
export async function nextSuggestion(
  pool: Pool,
  projectId: string,
  guidance: string,
  isOpen: (number: number) => Promise<boolean>,
): Promise<Suggestion | null> {
  const { rows: asked } = await pool.query<{ number: number | null }>(
    "select number from rule_suggestions where project_id = $1 order by created_at desc limit 1",
    [projectId],
  );
  const last = asked[0]?.number;
  if (typeof last === "number" && (await isOpen(last))) return null;
  const candidates = [
    ...(await replacedWords(pool, projectId)),
    ...(await saidRules(pool, projectId)),
    ...(await refusedPlaces(pool, projectId)),
  ];
  for (const candidate of candidates) {
    const { line } = candidate;
    if (guidance.split("\n").includes(line)) continue;
    const branch = `emend/rule-${hash("sha256", `${projectId}\n${line}`, "hex").slice(0, 16)}`;
    const { rows: stored } = await pool.query<{ branch: string; createdAt: Date; number: number | null }>(
      `insert into rule_suggestions (project_id, line, branch) values ($1, $2, $3)
       on conflict (project_id, line) do update set line = excluded.line
       returning branch, created_at as "createdAt", number`,
      [projectId, line, branch],
    );
    const [row] = stored;
    if (row && row.number === null) return { ...candidate, branch: row.branch, createdAt: row.createdAt };
  }
  return null;
}

const casesOf = "jsonb_agg(distinct jsonb_build_object('jobId', job_id, 'path', path)) as cases";

async function replacedWords(pool: Pool, projectId: string): Promise<readonly Candidate[]> {
  const { rows } = await pool.query<
    Pick<Candidate, "cases"> & { replaced: string; by: string; next: readonly string[] }
  >(
    `select replaced, by_text as by, array_agg(distinct next_word) as next, ${casesOf}
     from review_lessons found where project_id = $1 and kind = 'words'
       -- Where people also did the opposite, it is no rule.
       and not exists (select from review_lessons other where other.project_id = $1 and other.kind = 'words'
                         and other.replaced = found.by_text and other.by_text = found.replaced)
     group by replaced, by_text having count(distinct job_id) >= $2 order by count(*) desc, replaced, by_text`,
    [projectId, casesMin],
  );
  return rows.map(({ replaced, by, next, cases }) => ({
    line: lineOf(replaced, by, next),
    why: `Reviewers replaced "${replaced}" with "${by}" in the pull requests of these jobs, or asked for it.`,
    cases,
  }));
}

/** Of single words, "log" and "sign", what they had in common is part of the rule: "log in" and "sign in". */
function lineOf(replaced: string, by: string, next: readonly string[]): string {
  const isWord = !replaced.includes(" ") && !by.includes(" ");
  const more = isWord && next.length === 1 && next[0] !== "" ? ` ${next[0]}` : "";
  return `- Write "${by}${more}", not "${replaced}${more}".`;
}

/** One case is enough: whoever writes "always" or "never" does not speak about one page. */
async function saidRules(pool: Pool, projectId: string): Promise<readonly Candidate[]> {
  const { rows } = await pool.query<Pick<Candidate, "cases"> & { rule: string }>(
    `select by_text as rule, ${casesOf} from review_lessons where project_id = $1 and kind = 'rule'
     group by by_text order by count(*) desc, by_text`,
    [projectId],
  );
  return rows.map(({ rule, cases }) => ({
    line: `- ${rule}`,
    why: "A reviewer wrote this on the pull request of a job.",
    cases,
  }));
}

/** The innermost pages and folders that only refused pull requests changed, in a project that merges others. */
async function refusedPlaces(pool: Pool, projectId: string): Promise<readonly Candidate[]> {
  const { rows } = await pool.query<Pick<Candidate, "cases"> & { place: string }>(
    `select place, ${casesOf}
     from review_lessons, jobs, lateral (
       select array_to_string(parts[:depth], '/') || case when depth < cardinality(parts) then '/' else '' end as place
       from (select string_to_array(path, '/') as parts) split, generate_subscripts(parts, 1) depth
     ) places
     where review_lessons.project_id = $1 and kind = 'refused' and jobs.id = job_id
       -- Not opened again since.
       and pull_request ->> 'state' = 'closed'
     group by place having count(distinct job_id) >= $2 order by length(place) desc, place`,
    [projectId, casesMin],
  );
  if (rows.length === 0) return [];
  const { rows: merged } = await pool.query<{ diff: Buffer | null }>(
    `select diff from jobs where project_id = $1 and pull_request ->> 'state' = 'merged' order by id desc limit $2`,
    [projectId, mergedMax],
  );
  if (merged.length < casesMin) return [];
  const kept = (await Promise.all(merged.map(patchOf))).flatMap((patch) => diffFiles(patch).map(({ path }) => path));
  return (
    rows
      // A line of a Markdown list, and of a commit's message.
      .filter(({ place }) => !/[`@#\p{C}]/u.test(place))
      .filter(({ place }) => !kept.some((path) => path === place || (place.endsWith("/") && path.startsWith(place))))
      .map(({ place, cases }) => ({
        line: `- Do not change \`${place}\` unless the request names it.`,
        why: `People closed the pull requests of these jobs, which change \`${place}\`, and merged none that does.`,
        cases,
      }))
  );
}
