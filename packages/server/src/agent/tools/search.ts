import { Type } from "typebox";
import { locate } from "./context-path.ts";
import { defineTool } from "./tool.ts";

const matchesMax = 200;
const lineCharactersMax = 300;

export const searchTool = defineTool({
  name: "search",
  description:
    "Searches the text of every file, with the edits so far, and lists matches as path:line: text. The pattern is literal unless regex is true (an extended regular expression as in git grep). `under: @name` searches the context repository of that name instead.",
  input: Type.Object(
    {
      pattern: Type.String({ minLength: 1, maxLength: 1_000 }),
      regex: Type.Optional(Type.Boolean()),
      ignoreCase: Type.Optional(Type.Boolean()),
      under: Type.Optional(Type.String({ description: "A folder or file to stay below" })),
    },
    { additionalProperties: false },
  ),
  async run(context, { pattern, regex = false, ignoreCase = false, under = "" }, signal) {
    const { tree, path: below, prefix } = await locate(context, under, signal);
    const { matches, truncated } = await tree.search(
      { pattern, kind: regex ? "regex" : "literal", ignoreCase, matchesMax, ...(below ? { under: below } : {}) },
      signal,
    );
    if (matches.length === 0) return { kind: "answer", text: "no matches" };
    const lines = matches.map(({ path, line, text }) => `${prefix}${path}:${line}: ${shorten(text)}`);
    if (truncated) lines.push(`… more than ${matches.length} matches; ask with under, or a longer pattern`);
    return { kind: "answer", text: lines.join("\n"), more: "ask with under, or a longer pattern" };
  },
});

function shorten(text: string): string {
  return text.length > lineCharactersMax ? `${text.slice(0, lineCharactersMax)}…` : text;
}
