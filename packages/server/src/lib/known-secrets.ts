import { base64Core } from "./base64-core.ts";
import type { FoundSecret } from "./scan-secrets.ts";

/** Emend's own keys: `emend_` and 48 digits of base 62. */
const ownKey = /emend_[0-9A-Za-z]{48}/g;
const ownKeyBytes = 54;

/** What a text holds of Emend's own keys and of secrets that are known, as they are or in a usual encoding. */
export function knownSecretsIn(text: string, known: readonly string[]): readonly Omit<FoundSecret, "line">[] {
  const found: Omit<FoundSecret, "line">[] = [];
  const add = (start: number, end: number, kind: string) => found.push({ start, end, kind });

  for (const match of text.matchAll(ownKey)) add(match.index, match.index + match[0].length, "emend");
  for (const { start, end } of encodedOwnKeys(text)) add(start, end, "emend");
  const flat = unbroken(text);
  const flatLower = flat.toLowerCase();
  for (const secret of new Set(known)) {
    if (!isTelling(secret)) continue;
    for (const needle of needlesOf(secret)) {
      // Nearly every text holds none, and is told so ten times sooner than by a pattern.
      const bare = unbroken(needle.text);
      const isThere = needle.flags === "g" ? flat.includes(bare) : flatLower.includes(bare.toLowerCase());
      if (!isThere) continue;
      const pattern = new RegExp([...needle.text].map(escaped).join(lineBreak), needle.flags);
      for (const match of text.matchAll(pattern)) add(match.index, match.index + match[0].length, "known");
    }
  }
  return found;
}

/** `lm-studio` and `changeme` are keys of some servers, and words of many pages. */
function isTelling(secret: string): boolean {
  return secret.length >= 24 || (secret.length >= 12 && /\d/.test(secret));
}

/** Encoders break long lines. */
const lineBreak = "(?:\\r?\\n)?";

function unbroken(text: string): string {
  return text.replaceAll(/[\r\n]/g, "");
}

interface Needle {
  text: string;
  flags: "g" | "gi";
}

/** As it is, in hex, in base64 of either alphabet wherever in a longer text it begins, and percent-encoded. */
function needlesOf(secret: string): readonly Needle[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((lead) => base64Core(bytes, lead));
  const exact = [secret, ...base64, ...base64.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"))];
  const percent = encodeURIComponent(secret);
  const escapedAll = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  return [
    ...[...new Set(exact)].map((text): Needle => ({ text, flags: "g" })),
    ...[...new Set([bytes.toString("hex"), percent, escapedAll])]
      .filter((text) => text !== secret)
      .map((text): Needle => ({ text, flags: "gi" })),
  ];
}

/** Keys that nobody here knows, such as another installation's: told by how they begin. */
function encodedOwnKeys(text: string): readonly { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  const keep = (start: number, end: number, decoded: string) => {
    if (decoded.match(ownKey)) found.push({ start, end });
  };
  for (const match of text.matchAll(/(?:65|45)6d656e645f(?:[0-9a-f]{2}){48}/gi)) {
    keep(match.index, match.index + match[0].length, Buffer.from(match[0], "hex").toString("latin1"));
  }
  for (const lead of [0, 1, 2]) {
    const begin = base64Core(Buffer.from("emend_"), lead).replaceAll(/[+/]/g, "[+/_-]");
    // With the characters before it that hold a part of its first byte.
    const pattern = new RegExp(`[A-Za-z0-9+/_-]{${lead === 0 ? 0 : lead + 1}}${begin}[A-Za-z0-9+/_-]{60,66}`, "g");
    for (const match of text.matchAll(pattern)) {
      const decoded = Buffer.from(match[0], "base64").subarray(lead, lead + ownKeyBytes + 3);
      keep(match.index, match.index + match[0].length, decoded.toString("latin1"));
    }
  }
  return found;
}

function escaped(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&");
}
