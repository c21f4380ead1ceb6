/** What an address ends at, wherever it stands: white space, quotes, brackets. */
const rest = "(?:\\[[0-9a-f:.]+\\]|[^\\s\"'`<>()[\\]{}|^]{1,2000})";
const addresses = [
  // With a scheme; browsers take backslashes for slashes, and none at all before another site's name.
  new RegExp(`\\b(?:https?|wss?|ftp):[/\\\\]*${rest}`, "gi"),
  // Without one, where an attribute or a link's target begins: elsewhere it is a comment.
  new RegExp(`(?<=["'(=<]|\\]:\\s{0,3})[/\\\\]{2}${rest}`, "gi"),
  // As some renderers link it by themselves.
  new RegExp(`(?<![\\w.@/-])www\\.${rest}`, "gi"),
];
const realHost = /^(?:[a-z0-9_-]+\.)+[a-z0-9-]{2,}$|^(?:\d{1,3}\.){3}\d{1,3}$|^\[[0-9a-f:.]+\]$/;
/** Nobody's, by standard, or this machine's; and the name that every SVG and MathML gives. */
const harmless =
  /^(?:(?:.+\.)?example\.(?:com|org|net)|(?:.+\.)?localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|www\.w3\.org)$/;

/**
 * The sites that a text points at, as a browser would read their addresses: behind a user's name, with entities and
 * backslashes taken for what they mean.
 */
export function hostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const form of new Set([text, decoded(text)])) {
    for (const pattern of addresses) {
      for (const [address] of form.matchAll(pattern)) {
        const host = hostOf(address);
        if (host !== null && realHost.test(host) && !harmless.test(host)) hosts.add(host);
      }
    }
  }
  return hosts;
}

function hostOf(address: string): string | null {
  const absolute = address.replace(/^(?=[/\\])/, "https:").replace(/^(?=www\.)/i, "https://");
  return URL.parse(absolute)?.hostname.toLowerCase().replace(/\.$/, "") ?? null;
}

const named: Readonly<Record<string, string>> = { colon: ":", sol: "/", bsol: "\\", period: ".", commat: "@" };

/** As Markdown and HTML read it. */
function decoded(text: string): string {
  return text
    .replaceAll(/&#x([0-9a-f]{1,6});?/gi, (whole, code) => characterOf(Number.parseInt(code, 16), whole))
    .replaceAll(/&#(\d{1,7});?/g, (whole, code) => characterOf(Number(code), whole))
    .replaceAll(/&(colon|sol|bsol|period|commat);/gi, (_, name) => named[name.toLowerCase()] ?? "")
    .replaceAll(/&(?:tab|newline);/gi, "")
    .replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
}

function characterOf(code: number, whole: string): string {
  // A tab or line break inside of an address is dropped by browsers.
  if (code === 9 || code === 10 || code === 13) return "";
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}
