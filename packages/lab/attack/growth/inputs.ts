/** Constructs that grammars open without closing, and close without opening. */
const pieces = [
  "{%",
  "%}",
  "{{",
  "}}",
  "{",
  "}",
  "{/*",
  "*/}",
  "<!--",
  "-->",
  "<",
  ">",
  "<a",
  "<a b=",
  '<a b="',
  "<a>",
  "</a>",
  "<a/>",
  "<A x={",
  "[",
  "]",
  "![",
  "](",
  "[a](",
  "[a]: b",
  "[^a]: ",
  "[a][",
  "(",
  ")",
  "*",
  "**",
  "_",
  "__",
  "~~",
  "`",
  "``",
  "```",
  "~~~",
  "$$",
  "#",
  "# ",
  "> ",
  "- ",
  "1. ",
  "    ",
  "\t",
  " ",
  "  ",
  "\n",
  "\n\n",
  "\r",
  "\r\n",
  "\\",
  "|",
  "|-",
  "| a |",
  "---",
  "===",
  ":::",
  ":::note",
  "!!! note",
  '=== "a"',
  ":",
  "::",
  "=",
  '"',
  "'",
  '"""',
  "&",
  "&#",
  "&#x41;",
  "&amp",
  ";",
  "@",
  "@a",
  "//",
  "/*",
  "*/",
  "/",
  "http://",
  "https://a.b",
  "https://a:b@",
  "www.",
  "data:",
  "javascript:",
  "a",
  "ab ",
  "a.b",
  "a-",
  "1",
  "0x",
  "-----BEGIN ",
  "xapp-1-a ",
  "ghs_1_a.",
  "emend_",
  "AKIA",
  "SG.a.",
  "token",
  "s",
  "token ",
  "import a from 'b'\n",
  "export ",
  "export const a = {",
  "${",
  "a: b\n",
  "- a: ",
  "&a ",
  "*a ",
  "!!a ",
  "? ",
  "diff --git ",
  "@@ -1 +1 @@\n",
  "+a\n",
  "-a\n",
  "rename a to b",
  "fix #1",
  "é",
  "\u200b",
  "\u2028",
  "😀",
  "\0",
  "%41",
  "\\u0041",
  "\\x41",
  "!",
  "%",
  "^",
  "+",
  ",",
  ".",
  "?",
  "~",
  "-",
  "{:",
  "{: #a ",
  "{#a",
  "{.a ",
  ".. a::\n",
  "include::",
  "ifdef::a[]\n",
  "![](",
  "`_",
  "|a|",
] as const;

/** Texts that grow by repetition: each piece, seeded pairs of them, in sequence, nested, and line by line. */
export function* growthInputs(options: {
  seed: number;
  pairs: number;
}): Generator<{ name: string; grow(n: number): string }> {
  for (const piece of pieces) {
    yield repeated(piece);
    for (const start of ["# ", "<div>\n", "| a |\n|-|\n| "]) {
      yield { name: `${show(start)}${show(piece)}…`, grow: (n) => start + fill(piece, n) };
    }
    yield repeated(`${piece}\n`);
    yield repeated(`${piece} a `);
    yield repeated(`a ${piece}\n\n`);
    // No two runs are equally long, so that none closes another.
    yield { name: `${show(piece)}, twice, three times…`, grow: (n) => staircase(piece, n) };
  }
  const random = generator(options.seed);
  for (let count = 0; count < options.pairs; count += 1) {
    const [a, b, c] = [pick(random), pick(random), pick(random)];
    yield repeated(a + b);
    yield repeated(a + b + c);
    yield repeated(`${a}x${b}\n`);
    yield repeated(`a ${a} b ${b}\n\n`);
    yield { name: `${show(a)}… ${show(b)}…`, grow: (n) => fill(a, n / 2) + fill(b, n / 2) };
    yield { name: `${show(c)} ${show(a)}… ${show(b)}`, grow: (n) => c + fill(a, n) + b };
  }
}

function repeated(piece: string): { name: string; grow(n: number): string } {
  return { name: `${show(piece)}…`, grow: (n) => fill(piece, n) };
}

export function staircase(piece: string, characters: number): string {
  let text = "";
  for (let times = 1; text.length < characters; times += 1) text += `${piece.repeat(times)} `;
  return text;
}

function fill(piece: string, characters: number): string {
  return piece.repeat(Math.ceil(characters / piece.length));
}

function pick(random: () => number): string {
  return pieces[Math.floor(random() * pieces.length)] as string;
}

/** A seeded generator (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function show(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
