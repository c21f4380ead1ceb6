import { get, type IncomingHttpHeaders, type IncomingMessage } from "node:http";

export interface SeenEvent {
  id: string;
  event: string;
  data: { seq: number; kind: string; at: string; data: unknown };
}

export interface TestEventSource {
  status: number;
  headers: IncomingHttpHeaders;
  /** The next event, or null for a comment. Undefined at the end. */
  next(): Promise<SeenEvent | null | undefined>;
  /** All remaining events. */
  rest(): Promise<SeenEvent[]>;
  retryMs(): number | undefined;
  close(): void;
}

/** A client of an event stream that returns everything it gets, comments included. */
export async function openEventSource(url: string, headers: Record<string, string>): Promise<TestEventSource> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on("error", reject);
  });
  let retryMs: number | undefined;
  const blocks = readBlocks(response);

  async function next(): Promise<SeenEvent | null | undefined> {
    const { value, done } = await blocks.next();
    if (done) return undefined;
    const fields = Object.fromEntries(value.split("\n").map((line) => line.split(/: ?(.*)/s, 2)));
    if (fields.retry === undefined) return fields.data === undefined ? null : toEvent(fields);
    retryMs = Number(fields.retry);
    return next();
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next,
    async rest() {
      const events: SeenEvent[] = [];
      for (let event = await next(); event !== undefined; event = await next()) if (event) events.push(event);
      return events;
    },
    retryMs: () => retryMs,
    close: () => response.destroy(),
  };
}

async function* readBlocks(response: IncomingMessage): AsyncGenerator<string, void, void> {
  let text = "";
  response.setEncoding("utf8");
  for await (const chunk of response) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 2);
    }
  }
}

function toEvent(fields: Record<string, string>): SeenEvent {
  return { id: fields.id ?? "", event: fields.event ?? "", data: JSON.parse(fields.data ?? "") };
}
