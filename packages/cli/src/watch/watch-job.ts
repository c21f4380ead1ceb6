import type { AgentJob, JobEvent, Jobs } from "@emend/sdk";

// The stream ends when the job does; whoever cut it off on the way must not keep the result from being told.
const lastWordsMsMax = 5000;

/**
 * Waits for a job by long polling, as any client can, and meanwhile hands on its events. A service without the event
 * stream, or a proxy that swallows it, costs the narration and nothing else.
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
