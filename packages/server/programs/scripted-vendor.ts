import type { ChatCompletionRequest } from "@copilotkit/aimock";
import type { FarTurn } from "../test/support/far-model.ts";

const file = "docs/guides/retries.md";
const [oldText, newText] = ["title: Retries", "title: Delivery and retries"];
const words = "TITLE: Retitle the retries guide\nSUMMARY:\nThe title of the page is now Delivery and retries.";

/** What a vendor's model would say to whichever program asks: it edits one file with the tools that the program offers. */
export function answerAsVendor(turn: number, request: ChatCompletionRequest): FarTurn {
  const offered = new Set((request.tools ?? []).map((tool) => tool.function.name));
  const text = JSON.stringify(request.messages);
  const folder = /(?:Primary working directory|Working directory|<cwd>|cwd): ?([^\s<"\\]+)/.exec(text)?.[1] ?? ".";
  const path = `${folder}/${file}`;
  if (offered.has("Edit")) {
    if (turn === 0) return [["Read", { file_path: path }]];
    if (turn === 1) return [["Edit", { file_path: path, old_string: oldText, new_string: newText }]];
  } else if (offered.has("edit")) {
    if (turn === 0) return [["read", { filePath: path }]];
    if (turn === 1) return [["edit", { filePath: path, oldString: oldText, newString: newText }]];
  } else if (offered.has("exec_command")) {
    if (turn === 0) return [["exec_command", { cmd: `sed -i 's/^${oldText}$/${newText}/' ${file}` }]];
  } else if (offered.has("shell")) {
    if (turn === 0) return [["shell", { command: ["sed", "-i", `s/^${oldText}$/${newText}/`, file] }]];
  }
  return words;
}
