import type { JobEvent } from "@emend/contract";
import type { CallOptions, Connection } from "./connection.ts";
import { EmendError } from "./errors.ts";
import { jobPath } from "./jobs.ts";
import { createOutage, isAccepted, noAnswer, pause, refusal, send } from "./request.ts";

export interface EventsOptions extends CallOptions {
  /** The `seq` of the last event seen: the stream continues after it. */
  after?: number;
}

// The service sends a comment every 15 seconds. A connection that misses three of them is dead.
const silenceMsMax = 45_000;
const reconnectMs = 500;
const finals: ReadonlySet<string> = new Set(["completed", "failed", "archived"]);

/** All events of a job, from the first on, each once, across lost connections. Ends with the job. */
export async function* streamEvents(
  deps: Connection,
  projectId: string,
  jobId: string,
  options: EventsOptions,
): AsyncGenerator<JobEvent, void, undefined> {
  const path = `${jobPath(projectId, jobId)}/events`;
  const { signal } = options;
  let after = options.after ?? 0;
  const outage = createOutage(deps, true);
  for (;;) {
    let isFinal = false;
    let triedAtMs = performance.now();
    try {
      const events = await connect(deps, path, after, signal);
      if (events === "over") return;
      outage.end();
      for await (const event of events) {
        outage.reset();
        triedAtMs = performance.now();
        if (event.seq <= after) continue;
        after = event.seq;
        isFinal = finals.has(event.kind);
        yield event;
      }
    } catch (error) {
      const waitMs = outage.nextPauseMs(error, triedAtMs);
      if (waitMs === null) throw error;
      await pause(waitMs, signal);
      continue;
    }
    // A follow-up may have restarted a finished job. The service knows and answers immediately.
    if (!isFinal) await pause(reconnectMs, signal);
  }
}

async function connect(
  deps: Connection,
  path: string,
  after: number,
  signal: AbortSignal | undefined,
): Promise<"over" | AsyncGenerator<JobEvent, void, undefined>> {
  const silence = silenceAfter(deps.timeoutMs);
  const either = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
  const headers = { accept: "text/event-stream", ...(after > 0 ? { "last-event-id": String(after) } : {}) };
  try {
    const answer = await send(deps, { method: "GET", path, headers }, either);
    deps.heard.isReached = true;
    if (!isAccepted(answer.status)) {
      throw refusal(deps, { status: answer.status, headers: answer.headers, text: await answer.text() });
    }
    if (answer.status === 204) {
      silence.stop();
      return "over";
    }
    if (!answer.body || !answer.headers.get("content-type")?.startsWith("text/event-stream")) {
      throw new EmendError("invalid_response", `${deps.baseUrl} did not return an event stream. Check baseUrl`, {
        status: answer.status,
      });
    }
    return read(deps, answer.body, silence, signal);
  } catch (cause) {
    silence.stop();
    if (cause instanceof EmendError) throw cause;
    signal?.throwIfAborted();
    throw noAnswer(deps, silence.signal.aborted, cause);
  }
}

async function* read(
  deps: Connection,
  body: ReadableStream<Uint8Array>,
  silence: ReturnType<typeof silenceAfter>,
  signal: AbortSignal | undefined,
): AsyncGenerator<JobEvent, void, undefined> {
  const pieces = parseEvents(body);
  try {
    for (;;) {
      silence.restart(silenceMsMax);
      const next = await pieces.next().catch((cause) => {
        signal?.throwIfAborted();
        throw noAnswer(deps, silence.signal.aborted, cause);
      });
      // While the caller handles an event nothing is read, so silence means nothing.
      silence.stop();
      if (next.done) return;
      if (next.value !== null) yield parseEvent(deps, next.value);
    }
  } finally {
    silence.stop();
    await pieces.return();
  }
}

function parseEvent(deps: Connection, event: StreamEvent): JobEvent {
  try {
    const parsed: unknown = JSON.parse(event.data);
    if (typeof parsed === "object" && parsed !== null && "seq" in parsed && typeof parsed.seq === "number") {
      return parsed as JobEvent;
    }
  } catch {
    // Reported below, like anything else that is not an event.
  }
  throw new EmendError("invalid_response", `${deps.baseUrl} sent something that is not an Emend event`);
}

/** A signal that aborts unless it is restarted in time. */
function silenceAfter(ms: number) {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException("the stream sent nothing", "TimeoutError"));
  let timer = setTimeout(abort, ms);
  return {
    signal: controller.signal,
    restart(nextMs: number) {
      clearTimeout(timer);
      timer = setTimeout(abort, nextMs);
    },
    stop: () => clearTimeout(timer),
  };
}

/** One event of a stream, without unused fields. */
interface StreamEvent {
  id: string | null;
  data: string;
}

/**
 * Parses server-sent events, as the HTML standard defines them. Yields null for each chunk without a complete event, so
 * that the reader sees that the connection is alive.
 */
export async function* parseEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamEvent | null, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  let id: string | null = null;
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      yield null;
      for (const line of lines) {
        const [, name = "", text = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (name === "id") id = text;
        else if (name === "data") data.push(text);
        else if (line === "") {
          if (data.length > 0) yield { id, data: data.join("\n") };
          data = [];
        }
      }
    }
  } finally {
    // A caller that stops early closes the connection. A broken one needs no close.
    reader.cancel().catch(() => {});
  }
}
