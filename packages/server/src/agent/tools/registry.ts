import { isAppError } from "../../errors.ts";
import type { ToolCall, ToolDescription } from "../agent.ts";
import { storable } from "../storable.ts";
import { addPageTool } from "./add-page.ts";
import { addRedirectTool } from "./add-redirect.ts";
import { boundOutput } from "./bound-output.ts";
import { checkTool } from "./check.ts";
import { deleteFileTool } from "./delete-file.ts";
import { editFileTool } from "./edit-file.ts";
import { finishTool } from "./finish.ts";
import { fixLinksTool } from "./fix-links.ts";
import { listFilesTool } from "./list-files.ts";
import { readFileTool } from "./read-file.ts";
import { removePageTool } from "./remove-page.ts";
import { renameHeadingTool } from "./rename-heading.ts";
import { renamePageTool } from "./rename-page.ts";
import { replaceTermTool } from "./replace-term.ts";
import { searchTool } from "./search.ts";
import { setFrontMatterTool } from "./set-front-matter.ts";
import { siteMapTool } from "./site-map.ts";
import type { Tool, ToolAnswer, ToolContext } from "./tool.ts";
import { updateNavigationTool } from "./update-navigation.ts";
import { writeFileTool } from "./write-file.ts";

const tools: readonly Tool[] = [
  listFilesTool,
  readFileTool,
  searchTool,
  editFileTool,
  writeFileTool,
  deleteFileTool,
  siteMapTool,
  renamePageTool,
  removePageTool,
  renameHeadingTool,
  replaceTermTool,
  fixLinksTool,
  addPageTool,
  updateNavigationTool,
  addRedirectTool,
  setFrontMatterTool,
  checkTool,
  finishTool,
];
const toolsByName = new Map(tools.map((tool) => [tool.name, tool]));

export interface ToolResult {
  output: string;
  isError: boolean;
}

export function describeTools(): readonly ToolDescription[] {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

export function isWritingTool(name: string): boolean {
  return toolsByName.get(name)?.writes ?? false;
}

/** Runs one call. What a tool refuses, and what the overlay does not admit, is an answer to the model, not a fault. */
export async function callTool(
  context: ToolContext,
  call: ToolCall,
  outputBytesMax: number,
  signal: AbortSignal,
): Promise<ToolResult> {
  const tool = toolsByName.get(call.name);
  if (!tool)
    return failure(`there is no tool ${JSON.stringify(call.name)}; use one of: ${[...toolsByName.keys()].join(", ")}`);
  const answer = await answerOf(tool, context, call.input, signal);
  if (answer.kind === "refused") return failure(boundOutput(storable(answer.reason), outputBytesMax));
  return { output: boundOutput(storable(answer.text), outputBytesMax, answer.more), isError: false };
}

async function answerOf(tool: Tool, context: ToolContext, input: unknown, signal: AbortSignal): Promise<ToolAnswer> {
  try {
    return await tool.run(context, input, signal);
  } catch (error) {
    if (isAppError(error, "invalid_request")) return { kind: "refused", reason: error.publicMessage };
    throw error;
  } finally {
    if (tool.writes) context.site.changed();
  }
}

function failure(reason: string): ToolResult {
  return { output: reason, isError: true };
}
