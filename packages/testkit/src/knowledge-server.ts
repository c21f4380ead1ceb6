import { Readable } from "node:stream";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { listen } from "./listen.ts";

export interface FarTool {
  name: string;
  description?: string;
  /** Absent: read-only. */
  annotations?: { readOnlyHint?: boolean };
  answer(input: Record<string, unknown>): string;
}

export interface FarKnowledge {
  url: string;
  /** What the server offers. A test may change it at any time. */
  tools: FarTool[];
  calls: { tool: string; input: unknown; authorization: string | null }[];
  stop(): Promise<void>;
}

interface FarDoor {
  /** Which clients it answers. */
  era?: "both" | "new";
  token?: string | ((given: string) => boolean);
  /** What it says to those that have no token. */
  challenge?: () => string;
  /** Documents beside the protocol, by path. */
  files?: Readonly<Record<string, () => object>>;
}

/** A Model Context Protocol server over Streamable HTTP. */
export async function startFarKnowledge(
  tools: FarTool[],
  { era = "both", token, challenge, files = {} }: FarDoor = {},
): Promise<FarKnowledge> {
  const calls: FarKnowledge["calls"] = [];
  const far = { tools };
  let authorization: string | null = null;
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: "knowledge", version: "1.0.0" });
      const inputSchema = fromJsonSchema({ type: "object", properties: { query: { type: "string" } } });
      for (const { name, description = "Finds pages.", annotations = { readOnlyHint: true }, answer } of far.tools) {
        server.registerTool(name, { description, annotations, inputSchema }, async (input) => {
          calls.push({ tool: name, input, authorization });
          return { content: [{ type: "text" as const, text: answer(input as Record<string, unknown>) }] };
        });
      }
      return server;
    },
    { legacy: era === "new" ? "reject" : "stateless" },
  );
  const { url, stop } = await listen(async (request, response) => {
    authorization = request.headers.authorization ?? null;
    const file = files[request.url ?? ""];
    if (file) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(file()));
      return;
    }
    const given = authorization?.replace("Bearer ", "") ?? "";
    if (token !== undefined && !(typeof token === "string" ? given === token : token(given))) {
      response.writeHead(401, challenge && { "www-authenticate": challenge() }).end();
      return;
    }
    const body = ["GET", "HEAD"].includes(request.method ?? "") ? undefined : Readable.toWeb(request);
    const headers = Object.entries(request.headers).flatMap(([name, value]) => (value ? [[name, String(value)]] : []));
    const init = { method: request.method ?? "GET", headers: headers as [string, string][], body, duplex: "half" };
    const answer = await handler.fetch(new Request(`${url}${request.url}`, init as RequestInit));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) Readable.fromWeb(answer.body as never).pipe(response);
    else response.end();
  });
  return {
    url: `${url}/mcp`,
    get tools() {
      return far.tools;
    },
    set tools(changed) {
      far.tools = changed;
    },
    calls,
    async stop() {
      await handler.close();
      await stop();
    },
  };
}
