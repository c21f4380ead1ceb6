import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createRequestJudge, type JudgeLimits } from "./request-judge.ts";
import type { RunnerVendor } from "./vendors.ts";

/** The only way out of a sandbox: it calls the model for the program, with a key that the program never has. */
export interface ModelGateway {
  /** Null: it listens on the socket's path. */
  readonly port: number | null;
  /** What a program uses instead of a key. It is valid only here and only during the run. */
  readonly token: string;
  close(): Promise<void>;
}

interface GatewayLimits extends JudgeLimits {
  requestsMax: number;
  atOnceMax: number;
  requestBytesMax: number;
  /** For all requests together. */
  askedBytesMax: number;
  /** For one request, once parsed. */
  nodesMax: number;
  depthMax: number;
  /** For all responses together. */
  answerBytesMax: number;
  requestMsMax: number;
}

const usualLimits: GatewayLimits = {
  requestsMax: 2_000,
  atOnceMax: 4,
  requestBytesMax: 8 * 2 ** 20,
  askedBytesMax: 2 * 2 ** 30,
  nodesMax: 250_000,
  depthMax: 200,
  judgeMsMax: 5_000,
  judgeMemoryMb: 256,
  answerBytesMax: 2 ** 30,
  requestMsMax: 30 * 60_000,
};

interface GatewayInput {
  vendor: RunnerVendor;
  /** Including the version. */
  baseUrl: string;
  apiKey: string;
  /** The only allowed model. Null: any that stays with the vendor. */
  model: string | null;
  /** Null: a free port of 127.0.0.1. */
  socketPath: string | null;
  limits?: Partial<GatewayLimits>;
}

interface Spent {
  requests: number;
  atOnce: number;
  askedBytes: number;
  answerBytes: number;
}

/** The error response for a program. */
interface Refusal {
  kind: "refused";
  status: number;
  words: string;
}

/** Hop-by-hop headers and our own. All other headers of the vendor are returned. */
const ownHeaders =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-length|content-encoding|accept-encoding|authorization|x-api-key|cookie|set-cookie|proxy-.*|sec-websocket-.*)$/;

export async function startModelGateway(
  deps: { fetch: typeof globalThis.fetch },
  input: GatewayInput,
): Promise<ModelGateway> {
  const limits = { ...usualLimits, ...input.limits };
  const token = `emend-run-${randomBytes(32).toString("base64url")}`;
  const spent: Spent = { requests: 0, atOnce: 0, askedBytes: 0, answerBytes: 0 };
  const open = new Set<Duplex>();
  const ended = new AbortController();
  const judge = createRequestJudge(limits);

  const server = createServer(async (incoming, outgoing) => {
    spent.atOnce += 1;
    try {
      const refusal = await answer(incoming, outgoing);
      if (refusal) tell(outgoing, refusal);
    } catch {
      tell(outgoing, refused(502, "The model's address does not answer."));
    } finally {
      spent.atOnce -= 1;
    }
  });

  /** Null if it was answered; otherwise the refusal. */
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Refusal | null> {
    const asked = askedOf(incoming, input.vendor);
    if (asked.kind === "refused") return asked;
    if (!showsToken(incoming, token)) return refused(401, "This is not the token of this run.");
    spent.requests += 1;
    if (spent.requests > limits.requestsMax) return refused(403, `A run has ${limits.requestsMax} requests at most.`);
    if (spent.answerBytes > limits.answerBytesMax) return refused(403, "This run has had all the answers it may have.");
    if (spent.atOnce > limits.atOnceMax) return refused(429, `There are ${limits.atOnceMax} requests at a time.`);
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    const signal = AbortSignal.any([gone.signal, ended.signal, AbortSignal.timeout(limits.requestMsMax)]);
    const body = await bodyOf(incoming, asked.path);
    if (body?.kind === "refused") return body;
    const far = await deps.fetch(input.baseUrl + asked.path + asked.query, {
      method: incoming.method ?? "GET",
      headers: [
        ...headersPassedOn(incoming),
        [...input.vendor.credential(input.apiKey)],
        ["accept-encoding", "identity"],
        ...(body ? [["content-type", "application/json"] as [string, string]] : []),
      ],
      body: body ? (body.bytes as Uint8Array<ArrayBuffer>) : null,
      redirect: "manual",
      signal,
    });
    const headers = [...far.headers].filter(([name, value]) => !ownHeaders.test(name) && !value.includes(input.apiKey));
    outgoing.writeHead(far.status, Object.fromEntries(headers));
    outgoing.flushHeaders();
    const clean = withoutSecret((far.body ?? []) as AsyncIterable<Uint8Array>, input.apiKey);
    await pipeline(bounded(clean, spent, limits.answerBytesMax), outgoing, { signal });
    return null;
  }

  /** The body for the vendor, or null. Read completely and judged before the vendor gets it. */
  async function bodyOf(incoming: IncomingMessage, path: string) {
    const bytes = await readRequest(incoming, spent, limits);
    if (bytes === null) return refused(413, `A request has ${limits.requestBytesMax} bytes at most.`);
    if (spent.askedBytes > limits.askedBytesMax) return refused(403, "This run has asked all that it may ask.");
    if (incoming.method === "GET") return null;
    const { nodesMax, depthMax } = limits;
    return await judge.judge({ path, model: input.model, bytes, nodesMax, depthMax });
  }

  server.on("connect", (_, client: Duplex) => client.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n"));
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (input.socketPath === null) server.listen(0, "127.0.0.1", resolve);
    else server.listen(input.socketPath, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : null,
    token,
    async close() {
      ended.abort();
      for (const socket of open) socket.destroy();
      await Promise.all([judge.close(), new Promise((resolve) => server.close(resolve))]);
    },
  };
}

interface Asked {
  kind: "asked";
  /** Without the version. */
  path: string;
  query: string;
}

/** The path without the version. No other host is ever contacted, whatever a request names. */
function askedOf(incoming: IncomingMessage, vendor: RunnerVendor): Asked | Refusal {
  const { url: asked = "", method } = incoming;
  // A program that treats the gateway as a proxy requests its full URL.
  const url = URL.parse(/^\/(?!\/)/.test(asked) ? `http://127.0.0.1${asked}` : asked);
  if (url?.hostname !== "127.0.0.1") return refused(403, "This sandbox reaches its model and nothing else.");
  const path = /^\/v1(\/.*)$/.exec(url.pathname)?.[1] ?? "";
  if (vendor.asks.test(`${method} ${path}`)) return { kind: "asked", path, query: queryPassedOn(url.searchParams) };
  return refused(403, "This sandbox asks its model and does nothing else with the key.");
}

function showsToken({ headers }: IncomingMessage, token: string): boolean {
  const bearer = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return [headers["x-api-key"], bearer].some(
    (shown) => typeof shown === "string" && timingSafeEqual(digest(shown), digest(token)),
  );
}

/** Null if it is too long. */
async function readRequest(incoming: IncomingMessage, spent: Spent, limits: GatewayLimits): Promise<Uint8Array | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    bytes += piece.length;
    spent.askedBytes += piece.length;
    if (bytes > limits.requestBytesMax || spent.askedBytes > limits.askedBytesMax) break;
    pieces.push(piece);
  }
  return bytes > limits.requestBytesMax ? null : Buffer.concat(pieces);
}

async function* bounded(pieces: AsyncIterable<Buffer>, spent: Spent, bytesMax: number): AsyncIterable<Buffer> {
  for await (const piece of pieces) {
    spent.answerBytes += piece.length;
    if (spent.answerBytes > bytesMax) throw new Error("the answers of this run are too long");
    yield piece;
  }
}

function refused(status: number, words: string): Refusal {
  return { kind: "refused", status, words };
}

/** In the format that the vendors' clients read. A response that has started can only be aborted. */
function tell(outgoing: ServerResponse, { status, words }: Refusal): void {
  if (outgoing.headersSent || outgoing.destroyed) {
    outgoing.destroy();
    return;
  }
  const mayPass = status === 429 || status === 502;
  outgoing.writeHead(status, {
    "content-type": "application/json",
    connection: "close",
    "x-should-retry": String(mayPass),
  });
  outgoing.end(JSON.stringify({ type: "error", error: { type: "emend_gateway", message: words } }));
}

/**
 * Overwrites every occurrence of a secret in a stream. Only bytes that may be the start of one are held back until the
 * next chunk.
 */
async function* withoutSecret(pieces: AsyncIterable<Uint8Array>, secret: string): AsyncIterable<Buffer> {
  const needle = Buffer.from(secret);
  const blank = Buffer.alloc(needle.length, "*");
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([held, piece]);
    for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at)) blank.copy(bytes, at);
    const keep = beginningAtEnd(bytes, needle);
    held = bytes.subarray(bytes.length - keep);
    if (bytes.length > keep) yield bytes.subarray(0, bytes.length - keep);
  }
  if (held.length > 0) yield held;
}

/** How many of the last bytes may be the start of the needle. */
function beginningAtEnd(bytes: Buffer, needle: Buffer): number {
  for (let length = Math.min(needle.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(needle.subarray(0, length))) return length;
  }
  return 0;
}

/** Headers that the known programs send about themselves and the protocol. Destination and credential are ours. */
const passing =
  /^(?:accept|user-agent|anthropic-version|x-stainless-[\w-]+|x-app|x-claude-code-[\w-]+|x-client-request-id|originator|version|session[_-]id|conversation_id|thread[_-]id|x-openai-subagent|x-codex-(?:turn-state|turn-metadata|window-id|parent-thread-id|installation-id|beta-features))$/;
/** Beta features that reach other servers or open what the key's owner stores at the vendor. */
const reachingTrial = /web-|mcp|fetch|files|code-execution|skills|browser|connector|managed/i;

/** The program's headers that are passed on to the vendor. */
function headersPassedOn({ headersDistinct }: IncomingMessage): [string, string][] {
  return Object.entries(headersDistinct).flatMap(([name, values = []]) => {
    if (passing.test(name)) return values.map((value): [string, string] => [name, value]);
    const trials = values.flatMap((value) => value.split(",")).map((value) => value.trim());
    if (name === "anthropic-beta") return trialsOf(name, (trial) => !reachingTrial.test(trial), trials);
    if (name === "openai-beta") return trialsOf(name, (trial) => /^responses/.test(trial), trials);
    return [];
  });
}

/** The query parameters that Claude Code's client adds. */
function queryPassedOn(query: URLSearchParams): string {
  return query.get("beta") === "true" ? "?beta=true" : "";
}

function trialsOf(name: string, passes: (trial: string) => boolean, trials: readonly string[]): [string, string][] {
  const passed = trials.filter((trial) => trial !== "" && passes(trial));
  return passed.length === 0 ? [] : [[name, passed.join(",")]];
}
