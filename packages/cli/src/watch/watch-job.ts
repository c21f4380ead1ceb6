import type { AgentJob, JobEvent, Jobs } from "@emend/sdk";

// The stream ends with the job. If it was cut off before, that must not delay the result.
const lastWordsMsMax = 5000;

/**
 * Waits for a job with long polling and passes on its events. Without an event stream, only the progress is missing.
 */
export async function watchJob(
  jobs: Pick<Jobs, "wait" | "events">,
  id: string,
  options: { after?: number; onEvent(event: JobEvent): void; signal: AbortSignal },
): Promise<AgentJob> {
  const { after, onEvent, signal } = options;
  const telling = new AbortController();
  const told = tellEvents().catch(() => {});
  async function tellEvents() {
    const how = { signal: AbortSignal.any([signal, telling.signal]), ...(after === undefined ? {} : { after }) };
    for await (const event of jobs.events(id, how)) onEvent(event);
  }
  const enough = () => telling.abort();
  try {
    const job = await jobs.wait(id, { signal });
    const timer = setTimeout(enough, lastWordsMsMax);
    await told;
    clearTimeout(timer);
    return job;
  } finally {
    enough();
  }
}
