import { decodeHTML } from "entities";

/** Schemes of databases, queues, shells and files, which no browser opens. */
const notOfTheWeb =
  "(?<!(?<![\\w+.-])(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|valkeys?|memcached|amqps?|sqlserver|mssql|oracle|clickhouse|cockroachdb|cassandra|neo4j|bolt|nats|kafka|pulsar|mqtts?|ldaps?|smtps?|imaps?|ssh|sftp|git(?:\\+ssh)?|s3|gs|hdfs|file|unix|tcp|udp|grpcs?|jdbc:\\w+):)";
/** The start of an address: a scheme, two slashes outside a path (before a call they are a comment), or `www.`. */
const starts = new RegExp(
  `(?:https?|wss?|ftp):[/\\\\]*|(?<![\\p{L}\\p{N})./\\\\-])${notOfTheWeb}[/\\\\]{2,}(?![\\w.]+\\()|(?<![a-z0-9.@/-])(?=www\\.)`,
  "giu",
);
/** Characters that end it anywhere, and those that end it in a sentence. */
const endsAny = /[\s<>"`/\\?#]/g;
const endsWord = /[\s"'`<>()[\]{}|^/\\?#]/g;
const unusualAny = /[@'()[\]{}|^]/g;
/** No host name is longer, in any notation. */
const authorityMax = 1_000;
/** Fully written addresses. */
const spelledOut = /(?:https?|wss?|ftp):\/\/((?:\[[0-9a-f:.]+\]|[^\s"'`<>()[\]{}|^/\\?#]+)[^\s"'`<>()[\]{}|^/\\?#]*)/gi;

/** The hosts of all addresses in a text, as written and with character references and escapes decoded. */
export function hostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  if (!/[/\\:&]|www\./i.test(text)) return hosts;
  const decoded = text.includes("&") ? decodeHTML(text) : text;
  for (const form of new Set([text, decoded, unescaped(decoded)])) addHostsOf(form, hosts);
  return hosts;
}

/** The hosts of fully written addresses: all that counts in text that is shown and not read by a browser. */
export function spelledOutHostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const [, authority = ""] of text.matchAll(spelledOut)) add(hosts, authority);
  return hosts;
}

/** Escapes of Markdown, JSON, YAML and CSS. */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text
    .replaceAll(/\\(?:u\{?|x|U)?([0-9a-f]{1,6})\}?\s?/gi, (whole, hex) => {
      const code = Number.parseInt(hex, 16);
      if (code === 9 || code === 10 || code === 13) return "";
      return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    })
    .replaceAll(/\\(?:\r?\n\s*|[nrt](?=[/\\]))/g, "")
    .replaceAll(/\\(?=[!-/:-@[-`{-~])/g, "");
}

function addHostsOf(text: string, hosts: Set<string>): void {
  const [any, word, unusual] = [endsAt(endsAny, text), endsAt(endsWord, text), endsAt(unusualAny, text)];
  /** The last "@" before an end. Many starts can share one end. */
  let last = { end: -1, at: -1 };
  for (const match of text.matchAll(starts)) {
    const from = match.index + match[0].length;
    const bracket = text[from] === "[" ? text.slice(from, from + 50).indexOf("]") + 1 : 0;
    add(hosts, text.slice(from, word(from + bracket)));
    // A user name may contain nearly anything, and what follows an unusual character is still the host.
    const end = any(from);
    if (unusual(from + bracket) >= end) continue;
    if (last.end !== end) last = { end, at: from + text.slice(from, end).lastIndexOf("@") };
    add(hosts, text.slice(Math.max(from, last.at + 1), end));
  }
}

function add(hosts: Set<string>, authority: string): void {
  // Too long to judge, so it counts as an unknown host.
  if (authority.length > authorityMax) return void hosts.add("an address that cannot be read");
  // Contains references: the decoded form is judged instead.
  if (/&(?:#|\w+;)/.test(authority)) return;
  const host = hostOf(authority.trim());
  if (host !== null) hosts.add(host);
}

/** Finds the next of these characters from a position. Linear if called in ascending order. */
function endsAt(pattern: RegExp, text: string): (from: number) => number {
  let [asked, end] = [0, -1];
  return (from) => {
    if (from >= asked && end >= from) return end;
    pattern.lastIndex = from;
    [asked, end] = [from, pattern.exec(text)?.index ?? text.length];
    return end;
  };
}

const clean = /^(?:[a-z0-9_-]+\.)+[a-z0-9-]{2,}$|^(?:\d{1,3}\.){3}\d{1,3}$|^\[[0-9a-f:.]+\]$/;
const oddInName = /[^a-z0-9_.-]/;
/** Reserved and local names, and the namespace of every SVG and MathML. */
const harmless =
  /^(?:(?:.+\.)?example\.(?:com|org|net)|(?:.+\.)?localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|www\.w3\.org)$/;

/**
 * The host that a browser would contact for an address's authority. Null if there is none, or if it is this machine. If
 * the name has unusual characters, everything after them is returned: that is the real host.
 */
function hostOf(authority: string): string | null {
  const whole = authority.replace(/[,;](?:https?|wss?|ftp):?$/i, "");
  // What no browser takes for a name may still be a link: the name is what stands before an escape.
  const forms = [whole, whole.replace(/[^\p{L}\p{N}\]]+$/u, ""), whole.replace(/%.*$/s, "")];
  const url = forms.map((one) => URL.parse(`https://${one}`)).find((one) => one !== null) ?? null;
  if (url === null) return null;
  const host = ownerOf(url.hostname.toLowerCase().replace(/[^a-z0-9\]]+$/, ""));
  return host !== null && !harmless.test(host) ? host : null;
}

function ownerOf(name: string): string | null {
  if (clean.test(name)) return name;
  if (!/\.[a-z0-9]/.test(name)) return null;
  const labels = name.split(".");
  const last = labels.at(-1) ?? "";
  // No domain ends like this: a sentence continues after the name.
  if (oddInName.test(last)) return ownerOf(name.slice(0, name.length - last.length + last.search(oddInName)));
  const from = labels.findLastIndex((label) => oddInName.test(label)) + 1;
  const owner = labels.slice(from).join(".");
  return clean.test(owner) ? owner : from > 0 ? name : null;
}
