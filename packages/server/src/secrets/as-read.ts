const punctuation: Readonly<Record<string, string>> = {
  lowbar: "_",
  UnderBar: "_",
  hyphen: "-",
  dash: "-",
  period: ".",
  sol: "/",
  bsol: "\\",
  colon: ":",
  equals: "=",
  plus: "+",
  commat: "@",
  num: "#",
  amp: "&",
};

/** A text as its readers see it: with character references, escapes and percent-encoding decoded. Line breaks stay. */
export function asRead(text: string): string {
  return text
    .replaceAll(/&(\w{3,8});/g, (whole, name) => punctuation[name] ?? whole)
    .replaceAll(
      /&#x0*([0-9a-f]{1,6});?|\\u\{?00([0-9a-f]{2})\}?|\\x([0-9a-f]{2})|%([2-7][0-9a-f])/gi,
      (whole, ...codes) => characterOf(Number.parseInt(codes.slice(0, 4).find(Boolean), 16), whole),
    )
    .replaceAll(/&#0*(\d{1,7});?/g, (whole, code) => characterOf(Number(code), whole))
    .replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
}

function characterOf(code: number, whole: string): string {
  return code >= 0x20 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}
