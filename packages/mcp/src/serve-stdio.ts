import type { Readable, Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createMcpServer } from "./create-mcp-server.ts";
import type { ToolDeps } from "./tools.ts";

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
