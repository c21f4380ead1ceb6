import { decodeHTML } from "entities";

/** Where browsers drop tabs and line breaks: quoted values, and targets between angle brackets. */
const values = /(?<=[=({[:,]\s*)(?:"[^"]*"|'[^']*'|`[^`]*`|<[^<>]*>)/g;
const startsAddress = /^.\s*(?:(?:https?|wss?|ftp):|[/\\]{2})/i;

/** A text in every way that something could read it: as it stands, as HTML, Markdown, JSON, YAML, TOML, scripts and CSS do. */
export function writtenForms(text: string): readonly string[] {
  const forms = new Set([text]);
  if (text.includes("&")) forms.add(asHtml(text));
  if (text.includes("\\")) {
    for (const form of [...forms]) for (const read of [asMarkdown, asString, asCss]) forms.add(read(form));
  }
  for (const form of [...forms]) forms.add(withoutBreaks(form));
  return [...forms];
}

function asHtml(text: string): string {
  // Inside of an address browsers drop them, whatever they were written as.
  return decodeHTML(text.replaceAll(/&(?:tab|newline|#0*(?:9|10|13)(?!\d)|#x0*[9ad](?![0-9a-f]));?/gi, ""));
}

function asMarkdown(text: string): string {
  return text.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
}

function asString(text: string): string {
  return text
    .replaceAll(/\\(?:u([0-9a-f]{4})|u\{([0-9a-f]+)\}|x([0-9a-f]{2})|U([0-9a-f]{8}))/gi, (whole, a, b, c, d) =>
      characterOf(a ?? b ?? c ?? d, whole),
    )
    .replaceAll(/\\\r?\n\s*/g, "")
    .replaceAll(/\\([/"'`\\])/g, "$1");
}

function asCss(text: string): string {
  return (
    text
      .replaceAll(/\\([0-9a-f]{1,6})(?:\r\n|\s)?/gi, (whole, code) => characterOf(code, whole))
      .replaceAll(/\\(?:\r?\n)/g, "")
      .replaceAll(/\\([^0-9a-fnrt\s])/gi, "$1")
      // Elsewhere these are line breaks and tabs.
      .replaceAll(/url\([^)]*|@import[^;]*/gi, (value) => value.replaceAll(/\\([nrt])/gi, "$1"))
  );
}

function characterOf(hex: string, whole: string): string {
  const code = Number.parseInt(hex, 16);
  if (code === 9 || code === 10 || code === 13) return "";
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

function withoutBreaks(text: string): string {
  return text.replaceAll(values, (value) => {
    const joined = value.replaceAll(/[\t\r\n]/g, "");
    const unescaped = joined.replaceAll(/\\[trn]/g, "");
    return startsAddress.test(unescaped) ? unescaped : joined;
  });
}
