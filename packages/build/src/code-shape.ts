import { parse, type Token } from "acorn";

const shapes = new Map<string, string>();

/**
 * The tokens of a script without its data: strings, numbers, and lists and maps of them. Builders write what a page says
 * into such data. Two scripts of one shape run the same code. What is no script is its own shape.
 */
export function shapeOf(code: string): string {
  const shape = shapes.get(code) ?? tokensOf(code, "script") ?? tokensOf(code, "module") ?? code.trim();
  shapes.set(code, shape);
  return shape;
}

/** The same name for each content of a bundle. */
export function withoutHash(name: string): string {
  return name.replace(/[.-][\w-]{8,}(?=\.(?:m?js|css)\b)/, "");
}

const nestedMax = 50;

function tokensOf(code: string, sourceType: "script" | "module"): string | null {
  const tokens: Token[] = [];
  try {
    // A handler may return.
    parse(code, { ecmaVersion: "latest", sourceType, onToken: tokens, allowReturnOutsideFunction: true });
  } catch {
    return null;
  }
  const wordsOf = (token: Token, at: number) => {
    const written = code.slice(token.start, token.end);
    const before = tokens.slice(Math.max(0, at - 2), at).map(({ start, end }) => code.slice(start, end));
    // What is imported is code again. Builders put a hash into the names of their own files.
    if (/(?:^|\s)(?:import|from)(?: \()?$/.test(before.join(" "))) return withoutHash(written);
    return /^(?:string|num|true|false|null)$/.test(token.type.keyword ?? token.type.label) ? "0" : written;
  };
  let text = tokens.map(wordsOf).join(" ");
  text = text.replaceAll(/(?<=[[,:(=] )- 0/g, "0");
  for (let depth = 0, before = ""; before !== text && depth < nestedMax; depth += 1) {
    before = text;
    text = text.replaceAll(/\[ (?:0 (?:, 0 )*(?:, )?)?\]|\{ (?:[\w$]+ : 0 (?:, [\w$]+ : 0 )*(?:, )?)?\}/g, "0");
  }
  return text;
}
