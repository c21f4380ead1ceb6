import { decodeHTML } from "entities";

/** Of databases, queues, shells and files: no browser goes there. */
const notOfTheWeb =
  "(?<!(?<![\\w+.-])(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|valkeys?|memcached|amqps?|sqlserver|mssql|oracle|clickhouse|cockroachdb|cassandra|neo4j|bolt|nats|kafka|pulsar|mqtts?|ldaps?|smtps?|imaps?|ssh|sftp|git(?:\\+ssh)?|s3|gs|hdfs|file|unix|tcp|udp|grpcs?|jdbc:\\w+):)";
/** Where an address begins: with a scheme, with two slashes where no path goes on (a call behind them is a comment), or as `www.`. */
const starts = new RegExp(
  `(?:https?|wss?|ftp):[/\\\\]*|(?<![\\p{L}\\p{N})./\\\\-])${notOfTheWeb}[/\\\\]{2,}(?![\\w.]+\\()|(?<![a-z0-9.@/-])(?=www\\.)`,
  "giu",
);
/** What ends it, wherever it stands; what ends it in a sentence. */
const endsAny = /[\s<>"`/\\?#]/g;
const endsWord = /[\s"'`<>()[\]{}|^/\\?#]/g;
/** No site has a longer name, however it is written. */
const authorityMax = 1_000;
/** As people write one in full. */
const spelledOut = /(?:https?|wss?|ftp):\/\/((?:\[[0-9a-f:.]+\]|[^\s"'`<>()[\]{}|^/\\?#]+)[^\s"'`<>()[\]{}|^/\\?#]*)/gi;

/** The sites that a text names by their addresses, as it stands and with its character references and escapes read. */
export function hostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  if (!/[/\\:&]|www\./i.test(text)) return hosts;
  const decoded = text.includes("&") ? decodeHTML(text) : text;
  for (const form of new Set([text, decoded, unescaped(decoded)])) addHostsOf(form, hosts);
  return hosts;
}

/** The sites of addresses that are written in full: all that counts where a text is shown and not read by a browser. */
export function spelledOutHostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const [, authority = ""] of text.matchAll(spelledOut)) add(hosts, authority);
  return hosts;
}

/** Markdown's, JSON's, YAML's and CSS's escapes. */
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
  const [any, word] = [endsAt(endsAny, text), endsAt(endsWord, text)];
  for (const match of text.matchAll(starts)) {
    const from = match.index + match[0].length;
    const bracket = text[from] === "[" ? text.slice(from, from + 50).indexOf("]") + 1 : 0;
    add(hosts, text.slice(from, word(from + bracket)));
    // A user's name may hold nearly anything, and what follows an odd character is still the site's name.
    const whole = text.slice(from, any(from));
    if (/[@'()[\]{}|^]/.test(whole.slice(bracket))) add(hosts, whole.slice(whole.lastIndexOf("@") + 1));
  }
}

function add(hosts: Set<string>, authority: string): void {
  // Stands for whatever site it leads to: nobody can have named it.
  if (authority.length > authorityMax) return void hosts.add("an address that cannot be read");
  // As it is read, not as it is written: another form holds it.
  if (/&(?:#|\w+;)/.test(authority)) return;
  const host = hostOf(authority.trim());
  if (host !== null) hosts.add(host);
}

/** Where the first of these characters stands from somewhere on; it looks at each one once, asked in ascending order. */
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
/** Nobody's, by standard, or this machine's; and the name that every SVG and MathML gives. */
const harmless =
  /^(?:(?:.+\.)?example\.(?:com|org|net)|(?:.+\.)?localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|www\.w3\.org)$/;

/**
 * The site that a browser would go to for what stands between the slashes of an address and its path; null for none, and
 * for this machine's own. Never a part of the name: of one with odd characters, all that follows them, for that is whose
 * it is.
 */
export function hostOf(authority: string): string | null {
  const whole = authority.replace(/[,;](?:https?|wss?|ftp):?$/i, "");
  const url = URL.parse(`https://${whole}`) ?? URL.parse(`https://${whole.replace(/[^\p{L}\p{N}\]]+$/u, "")}`);
  if (url === null) return null;
  const host = ownerOf(url.hostname.toLowerCase().replace(/[^a-z0-9\]]+$/, ""));
  return host !== null && !harmless.test(host) ? host : null;
}

function ownerOf(name: string): string | null {
  if (clean.test(name)) return name;
  if (!/\.[a-z0-9]/.test(name)) return null;
  const labels = name.split(".");
  const last = labels.at(-1) ?? "";
  // No domain ends so: a sentence goes on behind the name.
  if (oddInName.test(last)) return ownerOf(name.slice(0, name.length - last.length + last.search(oddInName)));
  const from = labels.findLastIndex((label) => oddInName.test(label)) + 1;
  const owner = labels.slice(from).join(".");
  return clean.test(owner) ? owner : from > 0 ? name : null;
}
