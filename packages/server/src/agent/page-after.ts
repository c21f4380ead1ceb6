import { isAppError } from "../errors.ts";
import type { Overlay } from "../tree/tree.ts";
import type { ToolCall } from "./agent.ts";
import { applyEdits, type Edit } from "./tools/edit-file.ts";
import { inputOf } from "./tools/registry.ts";

/** A file as a call would leave it. */
export interface PageAfter {
  path: string;
  text: string;
}

/** Only the page around an edit tells whether it is code or a link. Null if the result is unknown. */
export async function pageAfter(overlay: Overlay, call: ToolCall): Promise<PageAfter | null> {
  const { path, content, edits, group } = (inputOf(call) ?? {}) as Record<string, unknown>;
  if (typeof path !== "string") return null;
  if ((call.name === "write_file" || call.name === "add_page") && typeof content === "string") {
    // A new page's extension is chosen later, from the site's other pages.
    const isNamed = (call.name === "write_file" && group === undefined) || /\.mdx?$/.test(path);
    return { path: isNamed ? path : `${path}.mdx`, text: content };
  }
  if (call.name !== "edit_file" || !Array.isArray(edits) || !edits.every(isEdit)) return null;
  const before = await readOrNull(overlay, path);
  const after = before && applyEdits(before, edits, path);
  return after?.kind === "edited" ? { path, text: after.bytes.toString() } : null;
}

function isEdit(value: unknown): value is Edit {
  const { oldText, newText } = (value ?? {}) as Record<string, unknown>;
  return typeof oldText === "string" && oldText !== "" && typeof newText === "string";
}

async function readOrNull(overlay: Overlay, path: string): Promise<Buffer | null> {
  try {
    return await overlay.read(path);
  } catch (error) {
    if (isAppError(error, "invalid_request")) return null;
    throw error;
  }
}
