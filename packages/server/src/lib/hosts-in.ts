import { hostOf } from "./host-of.ts";
import { writtenForms } from "./written-forms.ts";

/** Of databases, queues, shells and files: no browser goes there. */
const notOfTheWeb =
  "(?<!(?<![\\w+.-])(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\\+srv)?|rediss?|valkeys?|memcached|amqps?|sqlserver|mssql|oracle|clickhouse|cockroachdb|cassandra|neo4j|bolt|nats|kafka|pulsar|mqtts?|ldaps?|smtps?|imaps?|ssh|sftp|git(?:\\+ssh)?|s3|gs|hdfs|file|unix|tcp|udp|grpcs?|jdbc:\\w+):)";
/** Where an address begins, up to its site. */
const starts = new RegExp(
  [
    // With a scheme; browsers take backslashes for slashes, and none at all before another site's name.
    "(?:https?|wss?|ftp):[/\\\\]*",
    // Without one, or with the rest of one, wherever no path goes on; a call behind two slashes is a comment.
    `(?<![\\p{L}\\p{N})./\\\\-])${notOfTheWeb}[/\\\\]{2,}(?![\\w.]+\\()`,
    // The same behind anything, where a user's name follows.
    `(?<![/\\\\])${notOfTheWeb}(?<user>[/\\\\]{2,})`,
    // As some renderers link it by themselves.
    "(?<![a-z0-9.@/-])(?=www\\.)",
  ].join("|"),
  "giu",
);
/** What a site's name ends at in a sentence. */
const inWords = /[\s"'`<>()[\]{}|^/\\?#]/g;
/** What it ends at in any case, and where a quoted value does not end it. */
const inRun = /[\s<>/\\?#]/g;
const inQuotes = /[\n<>/\\?#"]/g;
const closers: Readonly<Record<string, RegExp>> = {
  '"': /["\n/\\?#]/g,
  "'": /['\n/\\?#]/g,
  "`": /[`\n/\\?#]/g,
  "<": /[>\n/\\?#]/g,
  "=": /[\s>/\\?#]/g,
};
/** A longer one is not read but refused: no site has such a name, however it is written. */
const authorityMax = 1_000;
/** As people write one in full. */
const spelledOut = /(?:https?|wss?|ftp):\/\/((?:\[[0-9a-f:.]+\]|[^\s"'`<>()[\]{}|^/\\?#]+)[^\s"'`<>()[\]{}|^/\\?#]*)/gi;
/** An attribute that readers' browsers follow, whose value a page's code puts together. */
const computed = /\b(?:href|src|srcset|poster)\s{0,20}=\s{0,20}\{(?:[^{}]|\{[^{}]{0,200}\}){0,500}\}?/gi;
const puttingTogether = /\+|\$\{|\\|\.\s*\w+\s*\(|\batob\b|\]\s*\(/;
/** A path of this site, however it goes on. */
const startsHere = /\{\s*["'`](?:\/[\w-]|[.#?])/;
/** Stands for whatever site such an address leads to: nobody can have named it. */
export const unreadable = "an address that code puts together";

/** The sites that a text points at, with what stands for those that its code puts together. */
export function hostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set(writtenHostsIn(text));
  for (const [value] of text.matchAll(computed)) {
    if (puttingTogether.test(value) && !startsHere.test(value)) hosts.add(unreadable);
  }
  return hosts;
}

/**
 * The sites that a text points at, as a browser would read their addresses: behind a user's name, with entities, escapes
 * and backslashes taken for what they mean.
 */
export function writtenHostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const form of writtenForms(text)) addHostsOf(form, hosts);
  return hosts;
}

/** The sites of addresses that are written in full: all that counts where a text is shown and not read by a browser. */
export function spelledOutHostsIn(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const [, authority = ""] of text.matchAll(spelledOut)) add(hosts, authority, 0, authority.length);
  return hosts;
}

function addHostsOf(text: string, hosts: Set<string>): void {
  const [words, run, quotes, user] = [
    endsAt(inWords, text),
    endsAt(inRun, text),
    endsAt(inQuotes, text),
    endsAt(/@/g, text),
  ];
  const closed = new Map(Object.entries(closers).map(([mark, pattern]) => [mark, endsAt(pattern, text)] as const));
  let read = -1;
  for (const match of text.matchAll(starts)) {
    const from = match.index + match[0].length;
    const mark = markBefore(text, match.index);
    const inValue = closed.get(mark);
    const end = (mark === "=" || !inValue ? run : quotes)(from);
    if (match.groups?.user === undefined) {
      add(hosts, text, from, nameEnd(text, from, words));
      // A value is one address, whatever it holds.
      if (inValue) add(hosts, text, from, inValue(from));
    }
    // Behind a user's name, which may hold nearly anything, in a quoted value even blanks.
    if (end !== read && user(from) < end) {
      read = end;
      const host = text.lastIndexOf("@", end - 1) + 1;
      add(hosts, text, host, nameEnd(text, host, endsAt(inWords, text)));
    }
  }
}

function add(hosts: Set<string>, text: string, from: number, to: number): void {
  if (to - from > authorityMax) return void hosts.add(unreadable);
  const authority = text.slice(from, to).trim();
  // As it is read, not as it is written: another form holds it.
  if (/&(?:#|\w+;)/.test(authority)) return;
  const host = hostOf(authority);
  if (host !== null) hosts.add(host);
}

function nameEnd(text: string, from: number, words: (from: number) => number): number {
  if (text[from] !== "[") return words(from);
  const end = text.slice(from, from + 50).indexOf("]");
  return end === -1 ? from : words(from + end + 1);
}

/** The last character before the blanks that stand before an address. */
function markBefore(text: string, at: number): string {
  let before = at - 1;
  while (before >= 0 && /\s/.test(text[before] ?? "")) before -= 1;
  return text[before] ?? "";
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
