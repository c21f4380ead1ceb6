import { hash } from "node:crypto";
import type { AuthProvider, Client, JsonSchemaValidatorResult, Tool, Transport } from "@modelcontextprotocol/client";
import { boundedFetch, KnowledgeFault } from "./bounded-fetch.ts";

/** A tool as its server describes it now. */
export interface KnowledgeTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** As its server says. Nothing proves it. */
  isReadOnly: boolean;
  /** Of everything that the server says about it: it changes if any of it changes. */
  hash: string;
}

interface KnowledgeServer {
  tools(signal: AbortSignal): Promise<readonly KnowledgeTool[]>;
  call(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<{ text: string; isError: boolean }>;
  close(): Promise<void>;
}

/**
 * A server's token, asked before each request. Null: it needs none. `refused` is one that the server refused just now:
 * the same one again means that there is no other.
 */
export type TokenOf = (refused?: string) => Promise<string | null>;

/** A server at an address, or a program that this machine starts. */
export type Place =
  | { kind: "address"; url: string; token: TokenOf; fetch: typeof globalThis.fetch }
  | { kind: "program"; start(onFault: (fault: KnowledgeFault) => void): Promise<Transport> };

interface ServerInput {
  place: Place;
  /** For one request. */
  answerMsMax?: number;
}

const usualAnswerMsMax = 20_000;
const toolsMax = 200;
const pagesMax = 10;
const textCharactersMax = 200_000;

/** Connects to a server, of the protocol of 2026-07-28 or of an older one. */
export async function openKnowledgeServer(input: ServerInput, signal: AbortSignal): Promise<KnowledgeServer> {
  const { place, answerMsMax = usualAnswerMsMax } = input;
  // Imported when called: most jobs ask no server.
  const { Client } = await import("@modelcontextprotocol/client");
  const broken = new AbortController();
  const onFault = (fault: KnowledgeFault) => broken.abort(fault);
  const transport = place.kind === "program" ? await place.start(onFault) : await openAddress(place, onFault);
  const client = new Client(
    { name: "emend", version: "0.1.0" },
    {
      versionNegotiation: { mode: "auto" },
      // A server's own schemas are not run: a pattern in them may take forever.
      jsonSchemaValidator: {
        getValidator:
          <T>() =>
          (data: unknown): JsonSchemaValidatorResult<T> => ({ valid: true, data: data as T, errorMessage: undefined }),
      },
    },
  );

  async function bounds<T>(
    either: AbortSignal,
    work: (options: { signal: AbortSignal; timeout: number }) => Promise<T>,
  ) {
    const clock = AbortSignal.timeout(answerMsMax);
    try {
      const cut = AbortSignal.any([either, clock, broken.signal]);
      return await Promise.race([work({ signal: cut, timeout: answerMsMax }), rejectedBy(cut)]);
    } catch (error) {
      either.throwIfAborted();
      broken.signal.throwIfAborted();
      if (clock.aborted) throw new KnowledgeFault(`did not answer within ${Math.ceil(answerMsMax / 1000)} seconds`);
      throw asFault(error);
    }
  }

  try {
    await bounds(signal, (options) => client.connect(transport, options));
  } catch (error) {
    await closed(client);
    throw error;
  }

  return {
    async tools(either) {
      const found: Tool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < pagesMax; page += 1) {
        const params = cursor === undefined ? {} : { cursor };
        const answer = await bounds(either, (options) => client.listTools(params, options));
        found.push(...answer.tools);
        cursor = answer.nextCursor;
        if (cursor === undefined) break;
      }
      if (cursor !== undefined || found.length > toolsMax) throw new KnowledgeFault(`has more than ${toolsMax} tools`);
      return found.map(describe);
    },
    async call(name, given, either) {
      const answer = await bounds(either, (options) => client.callTool({ name, arguments: given }, options));
      const parts = Array.isArray(answer.content) ? answer.content : [];
      const text = parts
        .map(textOf)
        .filter((one) => one !== "")
        .join("\n\n");
      const structured = answer.structuredContent === undefined ? "" : JSON.stringify(answer.structuredContent);
      return { text: (text || structured).slice(0, textCharactersMax), isError: answer.isError === true };
    },
    close: () => closed(client),
  };
}

async function openAddress(
  { url, token, fetch }: Place & { kind: "address" },
  onFault: (fault: KnowledgeFault) => void,
): Promise<Transport> {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch(fetch, onFault),
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
    authProvider: tokensOf(token),
  });
}

/** The library asks for a token before each request, and once more after a refusal. */
function tokensOf(token: TokenOf): AuthProvider {
  let sent: string | null = null;
  return {
    async token() {
      sent = await token();
      return sent ?? undefined;
    },
    async onUnauthorized() {
      const refused = sent;
      if (refused === null || (await token(refused)) === refused) throw new KnowledgeFault(refusal(401));
    },
  };
}

const refusal = (status: number) => `refused the token (${status})`;

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** A server that does not answer must not keep its client open. */
async function closed(client: Client): Promise<void> {
  await client.close().catch(() => {});
}

function asFault(error: unknown): KnowledgeFault {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof KnowledgeFault) return one;
    if (one.name === "AddressRefused") return new KnowledgeFault("is on a private network", { cause: error });
  }
  const { status, code } = error as { status?: number; code?: unknown };
  if (status === 401 || status === 403) return new KnowledgeFault(refusal(status), { cause: error });
  if (status !== undefined) return new KnowledgeFault(`answered ${status}`, { cause: error });
  // Not its message, which may be the server's own text.
  if (typeof code === "number") return new KnowledgeFault(`answered with error ${code}`, { cause: error });
  return new KnowledgeFault("could not be asked", { cause: error });
}

function describe(tool: Tool): KnowledgeTool {
  const { name, title, description = "", inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    description,
    inputSchema: inputSchema as Record<string, unknown>,
    isReadOnly: annotations?.readOnlyHint === true,
    hash: hash("sha256", sorted({ name, title, description, inputSchema, outputSchema, annotations }), "hex"),
  };
}

/** JSON with its names in order: a server that lists them in another order has changed nothing. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function textOf(part: { type: string; text?: unknown; resource?: unknown; uri?: unknown }): string {
  if (part.type === "text") return String(part.text ?? "");
  if (part.type === "resource") return String((part.resource as { text?: unknown } | undefined)?.text ?? "[a file]");
  if (part.type === "resource_link") return `[link to ${String(part.uri ?? "")}]`;
  return `[${part.type}, left out]`;
}
