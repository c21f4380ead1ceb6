import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { registerTools, type ToolDeps } from "./tools.ts";

const instructions = [
  "Emend turns an instruction into a pull request on a project's documentation.",
  "Create a job, then call get_job until its status is completed or failed. prLink is the pull request.",
  "If a completed job has no prLink, there was nothing to change.",
].join(" ");

export function createMcpServer(deps: ToolDeps): McpServer {
  const server = new McpServer({ name: "emend", version: "0.1.0" }, { instructions });
  registerTools(server, deps);
  return server;
}
