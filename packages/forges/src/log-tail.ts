import { stripVTControlCharacters } from "node:util";

const tailCharactersMax = 6_000;
/** GitHub begins each line with its time, GitLab marks where sections begin and end. */
const lineNoise = /^(?:\ufeff?\d{4}-\d\d-\d\dT[\d:.]+Z |(?:section_(?:start|end):\d+:[^\r\n]*\r)+)/gm;
const errorMark = "##[error]";

/** The part of a log that says why it failed: its end, or for GitHub Actions the last error and not the cleanup after it. */
export function tailOf(log: string): string {
  const lines = stripVTControlCharacters(log).replaceAll(lineNoise, "").replaceAll("\r", "").trimEnd().split("\n");
  const last = lines.findLastIndex((line) => line.includes(errorMark));
  const text = lines.slice(0, last === -1 ? undefined : last + 1).join("\n");
  const cut = text.slice(-tailCharactersMax).toWellFormed();
  return cut.length < text.length ? `… ${cut.slice(cut.indexOf("\n") + 1)}` : cut;
}
