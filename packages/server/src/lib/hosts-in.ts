/** What an address ends at, wherever it stands: white space, quotes, brackets. */
const rest = "(?:\\[[0-9a-f:.]+\\]|[^\\s\"'`<>()[\\]{}|^]{1,2000})";
/** Of databases, queues, shells and files: no browser goes there. */
const notOfTheWeb =
  "(?<!(?<![\\w+.-])(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|valkeys?|memcached|amqps?|sqlserver|mssql|oracle|clickhouse|cockroachdb|cassandra|neo4j|bolt|nats|kafka|pulsar|mqtts?|ldaps?|smtps?|imaps?|ssh|sftp|git(?:\\+ssh)?|s3|gs|hdfs|file|unix|tcp|udp|grpcs?|jdbc:\\w+):)";
const addresses = [
  // With a scheme; browsers take backslashes for slashes, and none at all before another site's name.
  new RegExp(`(?:https?|wss?|ftp):[/\\\\]*${rest}`, "gi"),
  // Without one, or with the rest of one, wherever no path goes on; a call behind two slashes is a comment.
  new RegExp(`(?<![\\p{L}\\p{N})./\\\\-])${notOfTheWeb}[/\\\\]{2}(?![\\w.]+\\()${rest}`, "giu"),
  // Behind a user's name, which may hold nearly anything, in a quoted value even blanks.
  new RegExp(`(?:https?:|${notOfTheWeb}[/\\\\])[/\\\\]{1,9}[^\\s/\\\\?#<>]{0,300}@${rest}`, "gi"),
  new RegExp(`(?<=["'\\x60<]\\s{0,20})(?:https?:|[/\\\\]{2})[/\\\\]*[^\\n/\\\\?#<>"]{0,300}@${rest}`, "gi"),
  // As some renderers link it by themselves.
  new RegExp(`(?<![a-z0-9.@/-])www\\.${rest}`, "gi"),
];
/** As people write one in full. */
const spelledOut = new RegExp(`(?:https?|wss?|ftp)://${rest}`, "gi");
const startsAddress = /^(?:https?:|[/\\]{2})/i;
/** Where browsers drop tabs and line breaks: quoted values, and targets between angle brackets. */
const values = /(?<=[=({[:,]\s{0,20})(?:"[^"]{0,2000}"|'[^']{0,2000}'|`[^`]{0,2000}`|<[^<>]{0,2000}>)/g;
/** An attribute that readers' browsers follow, whose value a page's code puts together. */
const computed = /\b(?:href|src|srcset|poster)\s{0,20}=\s{0,20}\{(?:[^{}]|\{[^{}]{0,200}\}){0,500}\}?/gi;
const puttingTogether = /\+|\$\{|\\|\.\s*\w+\s*\(|\batob\b|\]\s*\(/;
/** A path of this site, however it goes on. */
const startsHere = /\{\s*["'`](?:\/[\w-]|[.#?])/;
/** Stands for whatever site such an address leads to: nobody can have named it. */
export const unreadable = "an address that code puts together";
const realHost = /^(?:[a-z0-9_-]+\.)+[a-z0-9-]{2,}$|^(?:\d{1,3}\.){3}\d{1,3}$|^\[[0-9a-f:.]+\]$/;
/** Nobody's, by standard, or this machine's; and the name that every SVG and MathML gives. */
const harmless =
  /^(?:(?:.+\.)?example\.(?:com|org|net)|(?:.+\.)?localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|www\.w3\.org)$/;

/** The sites that a text points at, with what stands for those that its code puts together. */
export function hostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set(writtenHostsIn(text));
  for (const [value] of text.matchAll(computed)) {
    if (puttingTogether.test(value) && !startsHere.test(value)) hosts.add(unreadable);
  }
  return hosts;
}

/**
 * The sites that a text points at, as a browser would read their addresses: behind a user's name, with entities and
 * backslashes taken for what they mean.
 */
export function writtenHostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  const read = decoded(text);
  for (const form of new Set([text, read, withoutBreaks(text), withoutBreaks(read)])) {
    for (const pattern of addresses) {
      for (const [address] of form.matchAll(pattern)) {
        // A list's entries may stand without a blank between them.
        for (const entry of new Set([address, ...address.split(",").filter((part) => startsAddress.test(part))])) {
          addHost(hosts, entry);
        }
      }
    }
  }
  return hosts;
}

/** The sites of addresses that are written in full: all that counts where a text is shown and not read by a browser. */
export function spelledOutHostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const [address] of text.matchAll(spelledOut)) addHost(hosts, address);
  return hosts;
}

function addHost(hosts: Set<string>, address: string): void {
  const host = hostOf(address);
  if (host !== null && realHost.test(host) && !harmless.test(host)) hosts.add(host);
}

function withoutBreaks(text: string): string {
  return text.replaceAll(values, (value) => value.replaceAll(/[\t\r\n]/g, ""));
}

function hostOf(address: string): string | null {
  const absolute = address.replace(/^(?=[/\\])/, "https:").replace(/^(?=www\.)/i, "https://");
  const url = URL.parse(absolute) ?? URL.parse(absolute.replace(/[^\w/\]]{1,20}$/, ""));
  const host = url?.hostname.toLowerCase() ?? null;
  // What follows a name in a sentence is no part of it.
  return host?.replace(/^([\w.-]+).*$/, "$1").replace(/[._]+$/, "") ?? null;
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
