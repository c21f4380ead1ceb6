import { isAppError } from "../errors.ts";
import type { Overlay } from "../tree/tree.ts";
import type { ToolCall } from "./agent.ts";

/** A file as a call would leave it. */
export interface PageAfter {
  path: string;
  text: string;
}

/** Whether words are code or a link can be told only from the page around them. Null: from this call it cannot be told. */
export async function pageAfter(overlay: Overlay, { name, input }: ToolCall): Promise<PageAfter | null> {
  const { path, content, oldText, newText } = (input ?? {}) as Record<string, unknown>;
  if (typeof path !== "string") return null;
  if (name === "write_file" && typeof content === "string") return { path, text: content };
  // Its ending is chosen later, by what the site's other pages have.
  if (name === "add_page" && typeof content === "string")
    return { path: /\.mdx?$/.test(path) ? path : `${path}.mdx`, text: content };
  if (name !== "edit_file" || typeof oldText !== "string" || typeof newText !== "string") return null;
  const before = await readOrNull(overlay, path);
  if (before === null || !before.includes(oldText)) return null;
  return { path, text: before.replace(oldText, () => newText) };
}

async function readOrNull(overlay: Overlay, path: string): Promise<string | null> {
  try {
    return (await overlay.read(path))?.toString() ?? null;
  } catch (error) {
    if (isAppError(error, "invalid_request")) return null;
    throw error;
  }
}
