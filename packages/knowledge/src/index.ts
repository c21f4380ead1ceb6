export { type KnowledgeTool, openKnowledgeServer } from "./knowledge-server.ts";
export { createKnowledgeTools, type KnowledgeCall, type KnowledgeTools, type PinnedTool } from "./knowledge-tools.ts";
