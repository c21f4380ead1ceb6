import type { Readable, Writable } from "node:stream";
import { Emend } from "@emend/sdk";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { ToolDeps } from "./tool-call.ts";
import { registerTools } from "./tools.ts";

const instructions = [
  "Emend turns an instruction into a pull request on a project's documentation.",
  "Create a job, then call get_job until its status is completed or failed. prLink is the pull request.",
  "If a completed job has no prLink, there was nothing to change.",
].join(" ");

function createMcpServer(deps: ToolDeps): McpServer {
  const server = new McpServer({ name: "emend", version: "0.1.0" }, { instructions });
  registerTools(server, deps);
  return server;
}

/** Serves one client over a pair of streams until it disconnects or the signal aborts. */
export async function serveStdio(
  deps: ToolDeps,
  streams: { input: Readable; output: Writable },
  signal: AbortSignal,
): Promise<void> {
  const server = createMcpServer(deps);
  const { promise: over, resolve } = Promise.withResolvers<void>();
  streams.input.once("end", resolve).once("close", resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await server.connect(new StdioServerTransport(streams.input, streams.output));
  await over;
  await server.close();
}

/** How the tools reach the service: in-process or over a network, always as a client with a key. */
interface ServiceAccess {
  apiKey: string;
  fetch: typeof fetch;
}

/** Answers one POST of the streamable HTTP transport. Stateless, so any node can answer the next one. */
export async function answerMcpRequest(
  access: ServiceAccess,
  request: Request,
  parsedBody: unknown,
): Promise<Response> {
  // If something must wait longer, the agent gets that as a result and can retry.
  const emend = new Emend({ ...access, baseUrl: new URL(request.url).origin, outageMsMax: 2000, retryWaitMsMax: 2000 });
  const server = createMcpServer({
    jobs: (projectId) => emend.jobs(projectId),
    claims: (projectId) => emend.claims(projectId),
    automations: (projectId) => emend.automations(projectId),
    gates: (projectId) => emend.gates(projectId),
    health: (projectId, options) => emend.health(projectId, options),
    projects: (signal) => emend.projects({ signal }),
  });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
}
