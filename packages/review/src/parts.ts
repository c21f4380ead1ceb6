import { decodeHTML } from "entities";
import type { ConstructKind } from "./construct.ts";
import { forbidden, forbiddenScheme, type Instead } from "./forbidden.ts";
import { hostsIn, spelledOutHostsIn } from "./hosts/hosts-in.ts";

/** A part of a file that is not plain content. */
export interface Part {
  /** address: what a page links to or loads; sample: a host in shown code; rest: a configuration without navigation. */
  kind: ConstructKind | "address" | "sample" | "rest";
  /** Its source text. */
  text: string;
  /** What is remembered of it; null if only the very same text counts as the same. */
  key: string | null;
  at: number;
  end: number;
  reason: string;
  /** What to write instead. Absent: unknown, not forbidden. */
  instead?: Instead;
  /** Text that every page with such a part contains. */
  find: string;
  hosts?: readonly string[];
  /** An address, not a text that holds one. */
  url?: string;
  /** Its text becomes part of the page. */
  isInclude?: boolean;
  /** A definition that nothing refers to: no reader sees where it leads. */
  isUnused?: boolean;
  /** Loaded without a click. */
  loads?: boolean;
  /** Words that are content unless they cover lines that other people wrote. */
  isCover?: boolean;
}

export interface More {
  key?: string | null;
  find?: string;
  instead?: Instead;
  isCover?: boolean;
}
export type Parts = ReturnType<typeof collectParts>;

/** Every other scheme opens a program, or is read differently by some browsers. */
const schemes = /^(?:https?|mailto|tel|sms|ftp|ircs?|xmpp|doi|ref|slack|vscode|skype|matrix|geo|news|xref|download):/i;
/** A picture, film or sound by its ending. */
const media =
  /^(?!~\/\/|\/@)(?:[^?#]*\.(?:png|jpe?g|gif|svg|webp|avif|apng|bmp|ico|mp4|m4v|webm|mov|ogv|mp3|m4a|ogg|wav|vtt)(?:\?raw=true)?(?:#[\w-]*)?)?$/i;
const nestedHost =
  /[?&](?:u|ur[il]|to|next|dest\w*|target|goto|redirect\w*|return\w*|src|href|link|image|file)=((?:[\w-]+\.)+[a-z]{2,})(?=[:/&]|$)/gi;

export function collectParts() {
  const all: Part[] = [];
  const seen = new Set<string>();

  function add(kind: Part["kind"], text: string, at: number, reason: string, more: Partial<Part> = {}): void {
    // A page of ten thousand equal parts has one.
    const id = `${kind} ${more.key ?? ""} ${more.loads ?? ""} ${text}`;
    if (seen.has(id)) return;
    seen.add(id);
    all.push({ kind, text, key: null, at, end: at + text.length, reason, find: longestLine(text), ...more });
  }

  function hosts(text: string, at: number, loads: boolean): void {
    const found = new Set(hostsIn(text));
    for (const [, host = ""] of text.matchAll(/(?<=[^\s@])@((?:[\w-]+\.)+[a-z]{2,})(?![\w/-]|:\S)/gi))
      for (const one of hostsIn(`https://${host}/`)) found.add(one);
    if (found.size > 0) add("address", text, at, "", { hosts: [...found], loads });
  }

  return {
    all,
    unknown: (kind: ConstructKind, text: string, at: number, reason: string, more: More = {}) =>
      add(kind, text, at, reason, more),
    /** What a page of the site has with the same name is known; `isExact`: only with the same text. */
    unseen(kind: ConstructKind, name: string, text: string, at: number, { isExact = false, find = name } = {}) {
      const reason = `No page of this site has the ${kind} ${name}${isExact ? " like this" : ""}.`;
      add(kind, text, at, reason, isExact ? {} : { key: `${kind} ${name}`, find });
    },
    refuse: (kind: ConstructKind, text: string, at: number, reason: string, instead: Instead) =>
      add(kind, text, at, reason, { instead }),
    rest: (text: string) => add("rest", text, 0, "", { find: "" }),
    sample(text: string, at: number) {
      for (const host of spelledOutHostsIn(text))
        add("sample", host, at + Math.max(0, text.indexOf(host)), "", { hosts: [host] });
    },
    hosts,
    /** Where a link leads, or what a page loads. */
    address(written: string, at: number, { loads = false, isInclude = false, isUnused = false, text = written } = {}) {
      const url = decodeHTML(written).trim();
      // Browsers drop these.
      const bare = url.replaceAll(/[\0-\x20\x7f-\x9f\u00ad\u200b-\u200f\u2060\ufeff]/g, "");
      const unescaped = bare.replaceAll(/\\(?=[!-/:-@[-`{-~])/g, "").replaceAll(/[{}]/g, "");
      if (forbiddenScheme.test(bare) || forbiddenScheme.test(unescaped)) {
        if (!/^data:image\/(?:png|gif|jpe?g|webp);base64,[\w+/=]*$/.test(bare))
          return void add("other", text, at, "This address runs code or opens what is on the reader's machine.", {
            instead: forbidden.scheme,
          });
      }
      const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(bare)?.[0];
      const isPlain =
        /^[^\s<>"`\\|^\p{C}]*$/u.test(url.replaceAll(/\{\{[^{}]*\}\}|\{%[^{}]*%\}| /g, "")) &&
        !/&(?!amp;)#?\w+;|&#/.test(written) &&
        !/^\W*:|\t|^\{[{%](?![ -]*site\.(?:base)?url)[^}]*\}\}?\/|^\/\\|^[^/?#]*\{\{.*\}\}[^/?#]*:|^https?:(?!\/\/[\w[])|^\/\/\W/i.test(
          url,
        );
      if (!isPlain || (scheme !== undefined && !schemes.test(scheme)))
        add("other", text, at, "Browsers may read this address in different ways.");
      const found = new Set([...hostsIn(url), ...hostsIn(decoded(url))]);
      if (scheme === undefined && /^\/\//.test(bare)) for (const one of hostsIn(`https:${bare}`)) found.add(one);
      for (const [, nested = ""] of decoded(url).matchAll(nestedHost)) found.add(nested.toLowerCase());
      for (const one of hostsIn(`https://${/^mailto:[^@]*@([\w.-]+)/i.exec(decoded(url))?.[1] ?? ""}/`)) found.add(one);
      if (loads && /^https?:\/\/(?![^/?#]*\.)[^/?#]+/i.test(url))
        add("other", text, at, "The reader's browser would load this from a machine of its own network.");
      // Of what stays inside the site nobody needs to know: a page has thousands of such links.
      if (found.size > 0 || isInclude || /\.\.|%|(?:^|\/)\./.test(url))
        add("address", url, at, "", { hosts: [...found], url, loads, isInclude, isUnused, end: at + text.length });
      // Bundlers import what a picture names, whatever it is.
      if (loads && scheme === undefined && !/^\/\//.test(bare) && !media.test(url.replace(/^\{[{%][^}]*\}\}?/, "")))
        add("other", text, at, "This is loaded like a picture, and by its name it is none.");
      if (loads && /^(?:https?:)?\/\/(?:localhost|127\.|0\.0\.0\.0|\[)/i.test(url))
        add("other", text, at, "The reader's browser would load this from a machine of its own network.");
    },
  };
}

function decoded(url: string): string {
  return url
    .replaceAll(/%25/gi, "%")
    .replaceAll(/%([2-7][0-9a-f])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function longestLine(text: string): string {
  let longest = "";
  for (const line of text.split(/[\r\n\0\ufffd]/)) if (line.trim().length > longest.length) longest = line.trim();
  return longest.slice(0, 200);
}
