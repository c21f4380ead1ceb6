import { decodedForms } from "../lib/decoded-forms.ts";

/** Shorter runs of letters and digits are words that any two texts share. */
const runMin = 16;

/**
 * Whether what follows an address's site holds text that was read from a context repository, as it is or encoded. An
 * address that stands there as it is carries nothing away.
 */
export function carriesText(url: string, contextText: readonly string[]): boolean {
  const [, tail = ""] = /^(?:[a-z][a-z0-9+.-]*:)?[/\\]*[^/\\?#]*(.*)$/is.exec(url.trim()) ?? [];
  if (tail.length < runMin || contextText.some((text) => text.includes(url.trim()))) return false;
  const read = contextText.map(lettersOf);
  return decodedForms(tail).some((form) => {
    const letters = lettersOf(form);
    for (let at = 0; at + runMin <= letters.length; at += 1) {
      const run = letters.slice(at, at + runMin);
      if (read.some((text) => text.includes(run))) return true;
    }
    return false;
  });
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
}
