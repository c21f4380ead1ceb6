import { hash } from "node:crypto";

/** The strictest known forge stops at 65,536; the rest is headroom for what escaping adds. */
export const bodyCharactersMax = 60_000;

const seal = /\n\n<!-- emend:text=([0-9a-f]{16}) -->\n/;

/** A text with a seal below it, by which Emend knows later that nobody has changed what it wrote. */
export function sealed(text: string, footer: string): string {
  const room = bodyCharactersMax - footer.length - 40;
  const shown = text.slice(0, room).toWellFormed().trimEnd();
  return `${shown}\n\n<!-- emend:text=${digestOf(shown)} -->\n${footer}`;
}

/** Nothing was changed above the seal, and nothing was said below it. */
export function isSealed(body: string): boolean {
  const lines = body.replaceAll("\r\n", "\n");
  const found = seal.exec(lines);
  if (!found) return false;
  const below = lines.slice(found.index + found[0].length).replaceAll(/<!-- emend:[\w=]+ -->/g, "");
  return below.trim() === "" && digestOf(lines.slice(0, found.index)) === found[1];
}

/** Forges trim lines and texts. */
function digestOf(text: string): string {
  return hash("sha256", text.replaceAll(/[ \t]+$/gm, "").trim(), "hex").slice(0, 16);
}
