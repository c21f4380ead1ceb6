export type {
  AgentDeps,
  AgentOutcome,
  Attachment,
  ContextTrees,
  FollowUp,
  Limits,
  Message,
  Model,
  OpenPull,
  Source,
  Step,
  ToolCall,
  Usage,
} from "./agent.ts";
export { interjectionsIn } from "./evidence.ts";
export type { AgentFaultCode } from "./faults.ts";
export { runAgent } from "./loop.ts";
export { canSeePictures, factsOf, offeredModels, type PriceTable } from "./models/prices.ts";
export { type ModelsDeps, missingOf, openModel } from "./models/registry.ts";
export { usualPatience } from "./models/sdk-model.ts";
export type { Endpoint } from "./models/vendor.ts";
export { latestRound, storable, unansweredIn } from "./outcome.ts";
export { notUnderstood, pageNames, readPrompt } from "./rules/hints.ts";
export { runAgentWithReview } from "./run-agent-with-review.ts";
export { readCited } from "./tools/finish.ts";
