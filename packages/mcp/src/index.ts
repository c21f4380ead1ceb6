export { answerMcpRequest, serveStdio } from "./mcp-server.ts";
