export { KnowledgeFault } from "./bounded-fetch.ts";
export {
  askForGrant,
  ConnectionNeeded,
  describeClient,
  type GrantClient,
  type KnowledgeGrant,
  redeemCode,
  renewGrant,
} from "./knowledge-grant.ts";
export { type KnowledgeTool, openKnowledgeServer, type Place, type TokenOf } from "./knowledge-server.ts";
export { createKnowledgeTools, type KnowledgeCall, type KnowledgeTools, type PinnedTool } from "./knowledge-tools.ts";
export { type KnowledgeProgram, type ProgramDeps, startProgram } from "./start-program.ts";
