import { Emend } from "@emend/sdk";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { createMcpServer } from "./create-mcp-server.ts";

/** How the tools reach the service: in-process or over a network, always as a client with a key. */
export interface ServiceAccess {
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
