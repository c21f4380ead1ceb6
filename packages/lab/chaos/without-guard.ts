import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { changeSource, copyOfSources, root, type SourceChange } from "../../../scripts/source-copy.ts";

interface Guard extends SourceChange {
  /** Where the same guard stands a second time. */
  also?: SourceChange;
  /** A file that the copy has in addition. */
  adds?: { file: string; text: string };
  /** The experiment that must fail without it, and a scale that is enough to see it. */
  experiment: string;
  scale: number;
}

const server = "packages/server/src";
const functions = `${server}/db/functions`;

export const guards: Readonly<Record<string, Guard>> = {
  /** Only the run that holds the lease ends the job. */
  fence: {
    file: `${server}/jobs/run/end-run.ts`,
    find: "and lease = $2\n       returning id, event_seq, status, pr_link",
    replace: "and $2::uuid is not null\n       returning id, event_seq, status, pr_link",
    experiment: "frozen-workers",
    scale: 0.05,
  },
  /** Running jobs are counted again under the project's lock. */
  recount: {
    file: `${server}/jobs/run/claim-run.ts`,
    find: "          and (select count(*) from jobs where project_id = $1 and lease is not null) < $4\n",
    replace: "          and $4::float is not null\n",
    experiment: "racing-claims",
    scale: 0.1,
  },
  /** The lease is renewed right before each external effect. */
  renew: {
    file: "packages/publish/src/retry.ts",
    find: "    const { sendBeforeMs } = await deps.renewForEffect();\n    if (performance.now() < sendBeforeMs) return send();\n",
    replace: "    if (deps) return send();\n",
    experiment: "frozen-workers",
    scale: 0.15,
  },
  /** A pull request is looked up before it is created. */
  lookup: {
    file: "packages/publish/src/ensure-pull-request.ts",
    find: "  if (!pullRequest) return null;\n",
    replace: "  if (!pullRequest || pullRequests.length > 0) return null;\n",
    experiment: "frozen-workers",
    scale: 0.05,
  },
  /** A turn is stored before the next is requested. */
  step: {
    file: `${server}/jobs/run/record-work.ts`,
    find: "$4::text::jsonb, $4::text::json, $5::jsonb from held\n",
    replace: "$4::text::jsonb, $4::text::json, $5::jsonb from held where false\n",
    experiment: "frozen-workers",
    scale: 0.05,
  },
  /** A project's creates are counted one after the other. */
  "quota-lock": {
    file: `${functions}/jobs.sql`,
    find: "  perform pg_advisory_xact_lock(hashtextextended(p_project, 0));\n  at := ",
    replace: "  at := ",
    also: {
      file: `${functions}/budgets.sql`,
      find: "begin\n  perform pg_advisory_xact_lock(hashtextextended(p_project, 0));\n  if exists (select from settings",
      replace: "begin\n  if exists (select from settings",
    },
    experiment: "racing-creates",
    scale: 0.1,
  },
  /** A used idempotency key returns its job. */
  idempotency: {
    file: `${functions}/jobs.sql`,
    find: "    if found then\n      at := clock_timestamp();",
    replace: "    if false then\n      at := clock_timestamp();",
    experiment: "repeated-posts",
    scale: 0.05,
  },
  /** Migrations only add: here one drops a function that the release before calls. */
  additive: {
    file: `${server}/jobs/create-job.ts`,
    find: '"create_marked_job" : "create_job"}(',
    replace: '"create_marked_job" : "create_job_renamed"}(',
    also: {
      file: `${functions}/jobs.sql`,
      find: "function create_job(",
      replace: "function create_job_renamed(",
    },
    adds: {
      file: `${server}/db/migrations/9999-not-additive.sql`,
      text: "drop function if exists create_job;\n",
    },
    experiment: "upgrade",
    scale: 0.1,
  },
};
export const guardNames: readonly string[] = Object.keys(guards);

export interface WithoutGuard {
  /** The checker reported a broken promise. */
  isSeen: boolean;
  verdict: string;
  seconds: number;
}

/** Removes a guard in a copy of the sources and runs the copy's experiment: no release has a switch for it. */
export async function tryWithout(
  name: string,
  { seed, database }: { seed: number; database?: string },
): Promise<WithoutGuard> {
  const guard = guards[name];
  if (!guard) throw new Error(`there is no guard ${name}`);
  const startedAt = performance.now();
  const copy = copyOfSources();
  try {
    changeSource(copy, guard);
    if (guard.also) changeSource(copy, guard.also);
    if (guard.adds) writeFileSync(join(copy, guard.adds.file), guard.adds.text);
    const script = join(copy, "packages/lab/chaos/run-chaos.ts");
    const args = [guard.experiment, "--scale", String(guard.scale), "--seed", String(seed)];
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", script, ...args, ...(database ? ["--database", database] : [])],
      { cwd: copy, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, SOURCES_REPOSITORY: root } },
    );
    const [told, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    // A crash of the experiment itself proves nothing.
    const verdict = /^ {2}(?:held|BROKEN): .*$/m.exec(told)?.[0].trim() ?? `it did not run: ${errors.slice(-500)}`;
    return { isSeen: verdict.startsWith("BROKEN"), verdict, seconds: (performance.now() - startedAt) / 1000 };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
