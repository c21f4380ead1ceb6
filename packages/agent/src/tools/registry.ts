import { isFault } from "@emend/base/fault.ts";
import type { ToolCall, ToolDescription, ToolResult } from "../agent.ts";
import { storable } from "../outcome.ts";
import { addPictureTool } from "./add-picture.ts";
import { askTool } from "./ask.ts";
import { buildTool } from "./build.ts";
import { checkTool } from "./check.ts";
import { deleteFileTool, editFileTool, writeFileTool } from "./edit-file.ts";
import { finishTool } from "./finish.ts";
import { gitTool } from "./git.ts";
import { listFilesTool } from "./list-files.ts";
import { lookTool } from "./look.ts";
import {
  addPageTool,
  addRedirectTool,
  fixLinksTool,
  moveSectionTool,
  renamePageTool,
  setFrontMatterTool,
} from "./page-tools.ts";
import { readFileTool } from "./read-file.ts";
import { renewScreenshotsTool } from "./renew-screenshots.ts";
import { replaceTermTool } from "./replace-term.ts";
import { searchTool } from "./search.ts";
import { siteMapTool } from "./site-map.ts";
import type { Tool, ToolAnswer, ToolContext } from "./tool.ts";
import { boundOutput } from "./tool.ts";
import { updateNavigationTool } from "./update-navigation.ts";

const tools: readonly Tool[] = [
  listFilesTool,
  searchTool,
  readFileTool,
  editFileTool,
  writeFileTool,
  deleteFileTool,
  renamePageTool,
  moveSectionTool,
  replaceTermTool,
  updateNavigationTool,
  setFrontMatterTool,
  gitTool,
  checkTool,
  finishTool,
];
/**
 * Tools for `emend/rules`, and for jobs that an earlier release started. Models do not see them: `write_file` adds a
 * page, `check` fixes links, `update_navigation` redirects and `list_files` shows the site. `ask`, `build` and `look` are shown where they are allowed,
 * and `add_picture` where there is one.
 */
const unshownTools: readonly Tool[] = [
  askTool,
  buildTool,
  lookTool,
  renewScreenshotsTool,
  addPictureTool,
  siteMapTool,
  addPageTool,
  addRedirectTool,
  fixLinksTool,
];
const toolsByName = new Map([...tools, ...unshownTools].map((tool) => [tool.name, tool]));

/**
 * `mayAsk`: a job whose questions nobody would answer is not told of them. `mayBuild`: the project's site is built.
 * `mayLook`: its pages can be shown, and the model sees. `mayRenew`: its repository says how screenshots are made. `hasPictures`: somebody attached some.
 */
export function describeTools({
  mayAsk = false,
  mayBuild = false,
  mayLook = false,
  mayRenew = false,
  hasPictures = false,
} = {}): readonly ToolDescription[] {
  const some = [
    ...(mayAsk ? [askTool] : []),
    ...(mayBuild ? [buildTool] : []),
    ...(mayLook ? [lookTool] : []),
    ...(mayRenew ? [renewScreenshotsTool] : []),
    ...(hasPictures ? [addPictureTool] : []),
  ];
  return [...tools, ...some].map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

export function isWritingCall({ name, input }: Pick<ToolCall, "name" | "input">): boolean {
  return toolsByName.get(name)?.writes(input) ?? false;
}

/** A call's input, in the tool's current form. */
export function inputOf(call: Pick<ToolCall, "name" | "input">): unknown {
  return toolsByName.get(call.name)?.read(call.input) ?? call.input;
}

/** Runs one call. A refusal by a tool or the overlay is a result for the model, not an error. */
export async function callTool(context: ToolContext, call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
  const tool = toolsByName.get(call.name);
  if (!tool)
    return failure(
      `there is no tool ${JSON.stringify(call.name)}; use one of: ${tools.map(({ name }) => name).join(", ")}`,
    );
  const answer = await answerOf(tool, context, call.input, signal);
  const { outputBytesMax } = context;
  if (answer.kind === "refused") return failure(boundOutput(storable(answer.reason), outputBytesMax));
  return { output: boundOutput(storable(answer.text), outputBytesMax), isError: false };
}

async function answerOf(tool: Tool, context: ToolContext, input: unknown, signal: AbortSignal): Promise<ToolAnswer> {
  try {
    return await tool.run(context, input, signal);
  } catch (error) {
    if (isFault(error, "invalid_request")) return { kind: "refused", reason: error.publicMessage };
    throw error;
  } finally {
    if (tool.writes(input)) context.site.changed();
  }
}

function failure(reason: string): ToolResult {
  return { output: reason, isError: true };
}
