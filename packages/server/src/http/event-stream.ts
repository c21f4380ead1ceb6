import type { ServerResponse } from "node:http";
import type { JobEvent } from "@emend/contract";
import type { FastifyReply } from "fastify";
import { requestId } from "../lib/id.ts";

/** One client's event stream, with backpressure. */
interface EventStream {
  /** Resolves when there is room again. False: the client disconnected, or was cut off because it did not read. */
  send(events: readonly JobEvent[]): Promise<boolean>;
  /** A heartbeat, so that proxies keep the connection open. */
  beat(): Promise<boolean>;
  end(): void;
}

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/** Starts the response. `reconnectMs`: how long the client should wait before it reconnects. */
export function openEventStream(
  response: ServerResponse,
  options: { reconnectMs: number; stallMsMax: number },
): EventStream {
  response.writeHead(200, { ...headers, "x-request-id": requestId(response.req) });
  // Headers alone may be buffered. The comment tells the client immediately that it is connected.
  response.write(`retry: ${options.reconnectMs}\n\n`);

  async function write(text: string): Promise<boolean> {
    if (response.destroyed || response.writableEnded) return false;
    if (response.write(text)) return true;
    if (await hasDrained(response, options.stallMsMax)) return true;
    response.destroy();
    return false;
  }

  return {
    send: (events) => write(events.map(format).join("")),
    beat: () => write(":\n\n"),
    end: () => response.end(),
  };
}

/** JSON contains no line breaks, so the data is one line. */
function format(event: JobEvent): string {
  return `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
}

function hasDrained(response: ServerResponse, msMax: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (drained: boolean) => {
      clearTimeout(timer);
      response.off("drain", onDrain);
      response.off("close", onClose);
      resolve(drained);
    };
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    const timer = setTimeout(onClose, msMax);
    response.once("drain", onDrain);
    response.once("close", onClose);
  });
}

/** Aborted when the client disconnects or has its response. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => controller.abort());
  if (reply.raw.destroyed) controller.abort();
  return controller.signal;
}
