const reach = 200;
const shortened = /(?:^|[\s(])(?:e\.g|i\.e|cf|vs|approx|no|fig)\.$/i;
// What may stand before a line's first word: markers of headings, quotes, lists, cells and emphasis.
const openings = /^(?:[\s>#|*_+~-]|\d{1,9}[.)])*$/;

/** Whether a sentence begins at a byte offset of a page: a capital there tells nothing of the word. */
export function startsSentence(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - reach), at).replace(/[*_~"'([“‘\\]+$/, "");
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (openings.test(line) && line.trim() !== "") return true;
  const words = before.trimEnd();
  if (words === before) return before === "";
  if (/[.!?:]$/.test(words)) return !/:$/.test(words) && !shortened.test(words);
  // A paragraph's first line follows a blank one, or the end of front matter.
  return (
    line.trim() === "" && (words === "" || /\n[ \t\r]*\n/.test(before.slice(words.length)) || words.endsWith("---"))
  );
}
