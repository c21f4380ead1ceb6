import type { Readable, Writable } from "node:stream";
import { Emend } from "@emend/sdk";
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio as serveBothEras } from "@modelcontextprotocol/server/stdio";
import type { ToolDeps } from "./tool-call.ts";
import { registerTools } from "./tools.ts";

const instructions = [
  "Emend turns an instruction into a pull request on a project's documentation.",
  "Create a job, then call get_job until its status is completed or failed. prLink is the pull request.",
  "If a completed job has no prLink, there was nothing to change.",
].join(" ");

function createMcpServer(deps: ToolDeps): McpServer {
  const server = new McpServer(
    { name: "emend", version: "0.1.0" },
    // The tools change with the release alone, so that nothing is ever announced.
    { instructions, capabilities: { tools: { listChanged: false } } },
  );
  registerTools(server, deps);
  return server;
}

/** Serves one client over a pair of streams until it disconnects or the signal aborts. */
export async function serveStdio(
  deps: ToolDeps,
  streams: { input: Readable; output: Writable },
  signal: AbortSignal,
): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  streams.input.once("end", resolve).once("close", resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  const transport = new StdioServerTransport(streams.input, streams.output);
  const connection = serveBothEras(() => createMcpServer(deps), { transport });
  await over;
  await connection.close();
}

/** How the tools reach the service: in-process or over a network, always as a client with a key. */
interface ServiceAccess {
  apiKey: string;
  fetch: typeof fetch;
}

/**
 * Answers one POST of the streamable HTTP transport, by the protocol of 2026-07-28 or by an older one. Stateless, so any
 * node can answer the next one.
 */
export async function answerMcpRequest(
  access: ServiceAccess,
  request: Request,
  parsedBody: unknown,
): Promise<Response> {
  // If something must wait longer, the agent gets that as a result and can retry.
  const emend = new Emend({ ...access, baseUrl: new URL(request.url).origin, outageMsMax: 2000, retryWaitMsMax: 2000 });
  const deps: ToolDeps = {
    jobs: (projectId) => emend.jobs(projectId),
    claims: (projectId) => emend.claims(projectId),
    automations: (projectId) => emend.automations(projectId),
    gates: (projectId) => emend.gates(projectId),
    health: (projectId, options) => emend.health(projectId, options),
    projects: (signal) => emend.projects({ signal }),
  };
  if (!(await isLegacyRequest(request, parsedBody))) {
    const handler = createMcpHandler(() => createMcpServer(deps), { legacy: "reject" });
    try {
      const answer = await handler.fetch(request, { parsedBody });
      // There is nothing to wait for: the stream is acknowledged and ends.
      if (request.headers.get("mcp-method") === "subscriptions/listen") await handler.close();
      // Whole, because closing the handler ends what it still sends.
      return new Response(await answer.arrayBuffer(), answer);
    } finally {
      await handler.close();
    }
  }
  const server = createMcpServer(deps);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
}
