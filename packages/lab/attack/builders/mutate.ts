/** Seeded changes of a hostile text: spaces, controls, nesting, escapes, case, look-alikes and line ends. */
const changes: readonly ((text: string, pick: (count: number) => number) => string)[] = [
  (text, pick) => insert(text, pick, [" ", "\t", "\u00a0", "\u3000", "\u200b", "\ufeff", "\u00ad"]),
  (text, pick) => insert(text, pick, ["\0", "\u0001", "\u000b", "\f", "\u0085", "\u2028", "\u2029", "\r"]),
  (text, pick) => text.replaceAll("\n", ["\r\n", "\r", "\n\n", "\n ", "\n\t", "\u2028"][pick(6)] ?? "\n"),
  (text, pick) => (["> ", "- ", "1. ", "    ", "  ", "\t", "* ", "!!! note\n    ", "::: tip\n"][pick(9)] ?? "") + text,
  (text, pick) =>
    ["<div>\n\n", "<p>", "<details>\n", "<b>", "{% raw %}", "```\n```\n", "<!-- -->", "\\"][pick(8)] + text,
  (text, pick) =>
    at(text, /[a-z]/gi, pick, (letter) =>
      letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
    ),
  (text, pick) => at(text, /[a-z:/<"']/gi, pick, (one) => `&#${one.charCodeAt(0)};`),
  (text, pick) => at(text, /[a-z]/gi, pick, (one) => `\\${one}`),
  (text, pick) => at(text, /[a-z/:]/gi, pick, (one) => `%${one.charCodeAt(0).toString(16)}`),
  (text, pick) => at(text, /[a-z/:<]/gi, pick, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
  (text, pick) => at(text, /[is]/g, pick, (one) => (one === "i" ? "ı" : "ſ")),
  (text, pick) => text.replace(/<(\w+)/, ["<$1/", "<$1\n", "< $1", "<$1\f", "<\\$1", "<x:$1"][pick(6)] ?? "<$1"),
  (text, pick) => text.replace("::", [" ::", "::\t", "\\::", ":\u200b:"][pick(4)] ?? "::"),
  (text, pick) => `${["# x\n\n", "x ", "---\ntitle: x\n---\n\n", "\ufeff", "x\n", "```js\nx\n```\n"][pick(6)]}${text}`,
  (text, pick) => `${text}${["\n\nx", "</div>", "-->", "```", " x", "\n:::"][pick(6)]}`,
];

/** Several changes of one text. The same seed gives the same text. */
export function mutate(text: string, seed: number): string {
  let state = seed;
  const pick = (count: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % count;
  };
  let mutated = text;
  for (let count = 1 + pick(3); count > 0; count -= 1)
    mutated = changes[pick(changes.length)]?.(mutated, pick) ?? mutated;
  return mutated;
}

function insert(text: string, pick: (count: number) => number, pieces: readonly string[]): string {
  const place = pick(text.length + 1);
  return text.slice(0, place) + pieces[pick(pieces.length)] + text.slice(place);
}

function at(text: string, which: RegExp, pick: (count: number) => number, change: (one: string) => string): string {
  const places = [...text.matchAll(which)];
  const chosen = places[pick(Math.max(1, places.length))];
  if (chosen === undefined) return text;
  return text.slice(0, chosen.index) + change(chosen[0]) + text.slice(chosen.index + chosen[0].length);
}
