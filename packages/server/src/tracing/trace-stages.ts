import type { Tracer } from "./tracing.ts";

type Stage = (job: { id: string; projectId: string }, ...rest: never[]) => Promise<unknown>;

/** The same stages of a run, with a span for each call; those of one job are one trace. */
export function traceStages<T extends object>(tracer: Tracer | null, stages: T): T {
  if (!tracer) return stages;
  const traced = Object.entries(stages).map(([name, stage]: [string, Stage]) => {
    const call: Stage = (job, ...rest) =>
      tracer.span(
        {
          name: `run ${name}`,
          kind: "internal",
          attributes: { "emend.job.id": job.id, "emend.project.id": job.projectId },
          jobId: job.id,
        },
        () => stage(job, ...rest),
      );
    return [name, call];
  });
  return Object.fromEntries(traced) as T;
}
