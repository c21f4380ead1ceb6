import { isFromOwnPage } from "@emend/base/network.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { authenticateKey, type Keyring } from "../accounts/keys/keyring.ts";
import { rememberCreatedJob, requestId } from "../lib/id.ts";
import { type Refusal, refuse, unauthorized } from "./errors.ts";
import { disconnectSignal } from "./event-stream.ts";
import { readJsonBodies } from "./request-body.ts";

/**
 * `POST /mcp`: the tools of `@emend/mcp` over streamable HTTP. Each tool calls this API with the caller's key and
 * address, so that keys, scopes, quotas and refusals are those of `/v2`.
 */
export function mcpPlugin(deps: { keyring: Keyring; publicUrl(): string }): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    app.removeAllContentTypeParsers();
    readJsonBodies(app);
    app.post(
      "/mcp",
      {
        async onRequest(request, reply) {
          // The specification (2025-11-25, Streamable HTTP): "Servers MUST validate the Origin header on all incoming
          // connections to prevent DNS rebinding attacks. If the Origin header is present and invalid, servers MUST
          // respond with HTTP 403 Forbidden." Programs send none.
          const { origin } = request.headers;
          if (origin !== undefined && !isFromOwnPage(request.headers, deps.publicUrl()))
            return refuse(reply, foreignPage);
          if ((await authenticateKey(deps.keyring, request)) === null) {
            // Where a program without a key finds out how to get a token (RFC 9728).
            const metadata = `${deps.publicUrl()}/.well-known/oauth-protected-resource/mcp`;
            const challenge = `Bearer resource_metadata="${metadata}", scope="read write"`;
            return refuse(reply, { ...unauthorized, headers: { "www-authenticate": challenge } });
          }
        },
      },
      async (request, reply) => {
        // Imported on first use: it takes a fifth of the server's startup, and many never use it.
        const { answerMcpRequest } = await import("@emend/mcp");
        const { authorization = "" } = request.headers;
        const access = { apiKey: authorization.replace(/^bearer +/i, ""), fetch: fetchFrom(app, request) };
        const signal = disconnectSignal(reply);
        const asked = new Request("http://emend.internal/mcp", {
          method: "POST",
          headers: textHeaders(request),
          signal,
        });
        return send(reply, await answerMcpRequest(access, asked, request.body));
      },
    );
  };
}

const foreignPage: Refusal = {
  code: "forbidden",
  message: "The Origin header names another site. Call /mcp from a program, or from this server's own address.",
};

const jobPath = /\/job\/([^/]+)/;

/** An in-process `fetch`: the request passes all hooks and routes, like one from the network. */
function fetchFrom(app: FastifyInstance, caller: FastifyRequest): typeof fetch {
  return async (input, init = {}) => {
    const { pathname, search } = new URL(String(input));
    const headers = { ...(init.headers as Record<string, string>), "x-request-id": requestId(caller.raw) };
    const answer = await app.inject({
      method: (init.method ?? "GET") as "GET" | "POST" | "PATCH" | "DELETE",
      url: pathname + search,
      headers,
      remoteAddress: caller.ip,
      ...(typeof init.body === "string" ? { payload: init.body } : {}),
      ...(init.signal ? { signal: init.signal } : {}),
    });
    const jobId = jobPath.exec(String(answer.headers.location ?? pathname))?.[1];
    if (jobId) rememberCreatedJob(caller.raw, jobId);
    const isEmpty = answer.statusCode === 204 || answer.statusCode === 304;
    return new Response(isEmpty ? null : new Uint8Array(answer.rawPayload), {
      status: answer.statusCode,
      headers: Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]),
    });
  };
}

function textHeaders({ headers }: FastifyRequest): [string, string][] {
  // The protocol of 2026-07-28 repeats method and name as `mcp-method` and `mcp-name`.
  const kept = Object.keys(headers).filter((name) => /^(accept|content-type|mcp-.*)$/.test(name));
  return kept.map((name): [string, string] => [name, String(headers[name])]);
}

async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  reply.code(answer.status).header("cache-control", "no-store");
  for (const [name, value] of answer.headers) reply.header(name, value);
  return reply.send(answer.body === null ? undefined : await answer.text());
}
