// An agent's words go to people and to programs that render them: what is unseen or loads must not come along.
import { unseenCharacters } from "@emend/contract";

/** One line, without anything unseen, cut at a whole character. */
export function plainLine(text: string, charactersMax: number): string {
  const line = text.replace(/\s+/g, " ").replace(unseenCharacters, "").trim();
  return cut(line, charactersMax);
}

/** Lines as they are, without anything unseen, and with nothing that could pass for the marker of a pull request. */
export function plainText(text: string, charactersMax: number): string {
  const clean = text
    .replace(/\r\n?/g, "\n")
    .replace(unseenCharacters, "")
    .replace(/<!--/g, "<! --")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return cut(clean, charactersMax);
}

/**
 * Markdown that keeps its lists, emphasis and code but holds no HTML, no comment and no image that loads by itself.
 * Applied inside code too, since telling code from text takes a parser that agrees with every forge's.
 */
export function quietMarkdown(text: string, charactersMax: number): string {
  return plainText(text, charactersMax)
    .replace(/<(?=[A-Za-z/!?])/g, "&lt;")
    .replace(/!(?=\[)/g, "!\\");
}

/** A code span that holds its text whatever backticks are in it. */
export function codeSpan(text: string): string {
  const line = plainLine(text, 400);
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  const pad = longest > 0 || line === "" ? " " : "";
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** A fenced block that its text cannot close. */
export function codeBlock(text: string, charactersMax: number): string {
  const clean = plainText(text, charactersMax);
  const longest = Math.max(2, ...[...clean.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${clean}\n${fence}`;
}

function cut(text: string, charactersMax: number): string {
  const characters = [...text];
  return characters.length <= charactersMax ? text : `${characters.slice(0, charactersMax - 1).join("")}…`;
}
