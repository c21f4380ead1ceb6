import { hostsIn, spelledOutHostsIn, writtenHostsIn } from "../lib/hosts-in.ts";
import { runInPage } from "./built-in-code.ts";
import type { PageReading } from "./page-reading.ts";

/** Where a file can lead its readers. */
export interface Addresses {
  /** Sites that a rendered page may load from or link to. */
  live: ReadonlySet<string>;
  /** Sites that are named in code which is only shown, and nowhere else in the file. */
  shown: ReadonlySet<string>;
  /** Code that puts an address together, as it is written. */
  unreadable: readonly string[];
}

/** What a reader's browser fetches without being asked. */
export const loads =
  /!\[|<(?:img|iframe|frame|video|audio|source|embed|object|script|link|image|track|base|meta|body|use|input)\b|\b(?:src|srcset|srcdoc|poster|background)\s*=|url\(|@import/i;

/** `reading` null: nobody knows what is mere code, so everything counts. */
export function addressesOf(text: string, reading: PageReading | null): Addresses {
  if (reading === null) return { live: hostsIn(text), shown: new Set(), unreadable: [] };
  const linked = hostsIn(reading.links.map((link) => `="${link}"`).join("\n"));
  const page = withoutCode(text, reading);
  const written = reading.isScriptRead ? writtenHostsIn(page) : hostsIn(page);
  const live = new Set([...written, ...linked, ...writtenHostsIn(reading.strings.join("\n"))]);
  const shown = new Set<string>();
  for (const { start, end, isSure } of reading.code) {
    const code = text.slice(start, end);
    for (const host of spelledOutHostsIn(code)) shown.add(host);
    // Where one of two readings takes it for a part of the page, it must at least load nothing there.
    if (!isSure && loads.test(code)) for (const host of writtenHostsIn(code)) live.add(host);
  }
  return {
    live,
    shown: new Set([...shown].filter((host) => !live.has(host))),
    unreadable: [...reading.unreadable, ...builtByVue(page), ...runInPage(page)],
  };
}

/** With blanks in its place, so that lines stay where they are. */
function withoutCode(text: string, { code }: PageReading): string {
  let rest = "";
  let at = 0;
  for (const { start, end } of [...code].sort((a, b) => a.start - b.start)) {
    if (end <= at) continue;
    rest += text.slice(at, Math.max(at, start)) + text.slice(Math.max(at, start), end).replaceAll(/[^\n]/g, " ");
    at = end;
  }
  return rest + text.slice(at);
}

const scripts = /<script\b([\s\S]*?)(?:<\/script|$)/gi;
const bound =
  /\s(?:v-html|v-bind|(?:v-bind:|[:.])(?:\[[^\s=]*|href|src|srcset|srcdoc|poster|style|to|link|image|img|icon|url)(?:\.\w+)*)\s*=\s*(?:"[^"]*"|'[^']*')/gi;
const making =
  /(?:["'`]\s*\+|\+\s*["'`]|\$\{|\.(?:join|concat|replace|replaceAll|reverse|at|split)\s*\(|JSON\.parse|new\s+URL\b|fromCharCode|fromCodePoint|\batob\b|decodeURI|\beval\b)/;
const beginsHere = /=\s*["']\s*["'`](?:\/[\w-]|[.#?])/;

/** Where Markdown is a template of Vue's: scripts, and attributes whose values are code. Read as text, so narrowly. */
function builtByVue(page: string): readonly string[] {
  const inScripts = [...page.matchAll(scripts)].flatMap(([, script = ""]) =>
    script.split("\n").filter((line) => making.test(line)),
  );
  const inTags = (page.match(bound) ?? []).filter((one) => making.test(one) && !beginsHere.test(one));
  return [...inScripts, ...inTags].map((one) => one.trim().slice(0, 200));
}
