/** Stands before a character that is text whatever it looks like, so that emphasis passes it by. */
export const shield = "\ue000";
const unshield = /\ue000([\s\S])/g;

function reveal(text: string): string {
  return text.includes(shield) ? text.replace(unshield, "$1") : text;
}

interface Run {
  char: string;
  /** Index of the run in the pieces. */
  piece: number;
  length: number;
  original: number;
  canOpen: boolean;
  canClose: boolean;
}

const space = /\s/u;
const punctuation = /[\p{P}\p{S}]/u;
const runs = /(?<!\ue000)(?:\*+|_+|~+)/g;

function characterBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low < 0xe000 ? text.slice(at - 2, at) : text.charAt(at - 1);
}

function flanking(text: string, start: number, end: number, char: string): { canOpen: boolean; canClose: boolean } {
  const before = characterBefore(text, start);
  const following =
    text.charCodeAt(end) === 0xe000 ? text.charAt(end + 1) : String.fromCodePoint(text.codePointAt(end) ?? 32);
  const spaceBefore = before === "" || space.test(before);
  const spaceAfter = end >= text.length || space.test(following);
  const markBefore = punctuation.test(before);
  const markAfter = punctuation.test(following);
  const left = !spaceAfter && (!markAfter || spaceBefore || markBefore);
  const right = !spaceBefore && (!markBefore || spaceAfter || markAfter);
  if (char !== "_") return { canOpen: left, canClose: right };
  return { canOpen: left && (!right || markBefore), canClose: right && (!left || markAfter) };
}

/** Removes the markers of emphasis and strike-through, by CommonMark's delimiter rules. */
export function plainEmphasis(text: string): string {
  const pieces: string[] = [];
  const open: Run[] = [];
  let last = 0;
  for (const found of text.matchAll(runs)) {
    const start = found.index;
    const end = start + found[0].length;
    const char = found[0].charAt(0);
    pieces.push(text.slice(last, start), found[0]);
    last = end;
    if (char === "~" && found[0].length > 2) continue;
    const run: Run = {
      char,
      piece: pieces.length - 1,
      length: found[0].length,
      original: found[0].length,
      ...flanking(text, start, end, char),
    };
    if (run.canClose) closeWith(run, open, pieces);
    if (run.canOpen && run.length > 0) open.push(run);
  }
  pieces.push(text.slice(last));
  return reveal(pieces.join(""));
}

function closeWith(run: Run, open: Run[], pieces: string[]): void {
  for (let i = open.length - 1; i >= 0 && run.length > 0; i--) {
    const opener = open[i] as Run;
    if (opener.char !== run.char) continue;
    const isOdd =
      run.char !== "~" &&
      (opener.canClose || run.canOpen) &&
      (opener.original + run.original) % 3 === 0 &&
      (opener.original % 3 !== 0 || run.original % 3 !== 0);
    if (isOdd || (run.char === "~" && opener.length !== run.length)) continue;
    open.length = i + 1;
    while (opener.length > 0 && run.length > 0) {
      const used = run.char === "~" ? run.length : opener.length >= 2 && run.length >= 2 ? 2 : 1;
      opener.length -= used;
      run.length -= used;
    }
    pieces[opener.piece] = opener.char.repeat(opener.length);
    pieces[run.piece] = run.char.repeat(run.length);
    if (opener.length === 0) open.pop();
  }
}
