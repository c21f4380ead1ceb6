export * from "./all-operations.ts";
export { everyAnswerHeaders, refusals } from "./answers.ts";
export {
  Automation,
  AutomationList,
  AutomationRun,
  AutomationTrigger,
  CreateAutomationBody,
  createAutomationOperation,
  EditAutomationBody,
  editAutomationOperation,
  listAutomationsOperation,
  type PresetName,
  presetNames,
  removeAutomationOperation,
  runAutomationOperation,
} from "./automation.ts";
export * from "./claim.ts";
export type * from "./dashboard.ts";
export type * from "./dashboard-accounts.ts";
export type * from "./dashboard-inbox.ts";
export type * from "./dashboard-pulls.ts";
export {
  createPatchReader,
  type DiffLine,
  type DiffRow,
  diffWords,
  lineCharactersMax,
  type PatchFile,
  pairLines,
  parsePatch,
  type Span,
  splitPatch,
  unseenCharacters,
  unseenName,
} from "./diff.ts";
export * from "./errors.ts";
export * from "./gate.ts";
export * from "./job.ts";
export { type ForgeName, forgeNames } from "./job.ts";
export * from "./job-event.ts";
export * from "./job-run.ts";
export {
  isLanguageModel,
  isModelVendor,
  type ModelVendor,
  modelVendorNames,
  modelVendors,
  variablesOf,
} from "./models.ts";
export { didYouMean, editDistance, nearName } from "./near-name.ts";
export { type Access, type InputOf, type Operation, type OutputOf, parametersOf } from "./operation.ts";
export * from "./operations.ts";
export {
  type Retention,
  type RetentionName,
  type RetentionSetting,
  retention,
  retentionDaysMax,
  retentionNames,
  usualRetention,
} from "./retention.ts";
export { uploadBytesMax, uploadsPerPromptMax, uploadTypes } from "./upload-limits.ts";
export * from "./webhook-message.ts";
export { type Delivery, type Webhook, webhookFormats } from "./webhook-operations.ts";
