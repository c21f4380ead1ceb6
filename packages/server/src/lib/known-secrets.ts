import { decodedForms } from "./decoded-forms.ts";
import type { FoundSecret } from "./scan-secrets.ts";

/** Emend's own keys: `emend_` and 48 digits of base 62. */
const ownKey = /emend_[0-9A-Za-z]{48}/g;
/** What may be an encoding: base64, hex and percent signs, on one line or several, and hex with marks in between. */
const runs =
  /[A-Za-z0-9+/_=%-]{16,}(?:\r?\n[ \t]*[A-Za-z0-9+/_=%-]{8,})*|[A-Za-z0-9+/_=%-]{8,}(?:\r?\n[ \t]*[A-Za-z0-9+/_=%-]{8,})+|(?<!\w)(?:(?:0x|\\x|\\u00)?[0-9a-f]{2}[\s:,;.|_-]{0,2}){11,}(?:0x|\\x|\\u00)?[0-9a-f]{2}/gi;
/** Encoders break long lines, and code joins what stands in quotes. */
const between = "[\\s\"'`+\\\\]{0,8}";

/**
 * What a text holds of Emend's own keys and of secrets that are known: as they are, broken over lines or joined by code,
 * and in whatever `decodedForms` decodes, up to twice and backwards.
 */
export function knownSecretsIn(text: string, known: readonly string[]): readonly Omit<FoundSecret, "line">[] {
  const found: Omit<FoundSecret, "line">[] = [];
  const secrets = [...new Set(known)].filter(isTelling);
  const add = ({ 0: { length }, index }: RegExpMatchArray, kind: string) =>
    found.push({ start: index ?? 0, end: (index ?? 0) + length, kind });

  for (const match of text.matchAll(ownKey)) add(match, "emend");
  // Nearly every text holds none, and is told so ten times sooner than by a pattern.
  const flat = joined(text);
  for (const secret of secrets) {
    for (const needle of [secret, backwards(secret)]) {
      if (!flat.includes(joined(needle))) continue;
      const pattern = new RegExp([...needle].map(escaped).join(between), "g");
      for (const match of text.matchAll(pattern)) add(match, "known");
    }
  }
  for (const run of text.matchAll(runs)) {
    const forms = decodedForms(run[0]).slice(1);
    if (forms.some((form) => form.match(ownKey))) add(run, "emend");
    else if (forms.some((form) => secrets.some((secret) => form.includes(secret)))) add(run, "known");
  }
  return found;
}

/** `lm-studio` and `changeme` are keys of some servers, and words of many pages. */
function isTelling(secret: string): boolean {
  return secret.length >= 24 || (secret.length >= 12 && /\d/.test(secret));
}

function joined(text: string): string {
  return text.replaceAll(/[\s"'`+\\]/g, "");
}

function backwards(text: string): string {
  return [...text].reverse().join("");
}

function escaped(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&");
}
