import { schemes } from "./content-table.ts";
import { hostOf, hostsIn, spelledOutHostsIn } from "./hosts/hosts-in.ts";

/** A part of a file that does more than show text. */
export interface Part {
  /**
   * link: an address that a rendered page links to or loads; unused: a link definition that no link uses; sample: a
   * host that appears only in shown code; form: a construct that is not in the table of content; include: a file whose
   * text becomes part of the page; path: an address in a folder above; rest: a configuration without its navigation.
   */
  kind: "link" | "unused" | "sample" | "form" | "include" | "path" | "rest";
  /** Equal for equal parts: the address, the host, the construct's whole text, or the included path. */
  key: string;
  hosts: readonly string[];
  /** Loaded without a click. */
  loads: boolean;
  at: number;
  /** Where the same form is again, up to a maximum. */
  again?: number[];
  /** Text that every file with this form contains. */
  find: string;
}

/** Every other address runs in some program, or is read differently by some of them. */
const authority = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)/i;
const plainAuthority = /^(?:[a-z0-9_][a-z0-9_.-]*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;
const runningScheme =
  /(?<![\w-])(?:java|vb|live)script\s*:\S*|(?<![^\n])[ \t]*(?:data|file|blob|filesystem|view-source)\s*:\S+/gi;
const hiddenFolder = /(?:^|\/)\.(?!gitbook\/assets\/)[\w-]/;
const hiddenInLinks = /(?:^|\/)\.(?!gitbook\/assets\/|github\/)[\w-]/;
/** A picture, film or sound by its ending. */
const media =
  /^(?!~\/\/)(?:[^?#]*\.(?:png|jpe?g|gif|svg|webp|avif|apng|bmp|ico|mp4|m4v|webm|mov|ogv|mp3|m4a|ogg|wav|vtt)(?:\?raw=true)?(?:#[\w-]*)?)?$/i;
const ownHost = /(?:^|\.)(?:example\.(?:com|org|net)|w3\.org)$/i;
export const rootAbove = /^(?:[@~]\w*\/|\/)(?:.*\/)?\.\.(?:\/|$)/;
const nestedHost =
  /[?&](?:u|ur[il]|to|next|dest\w*|target|goto|redirect\w*|return\w*|src|href|link|image|file)=((?:[\w-]+\.)+[a-z]{2,})(?=[:/&]|$)/gi;

const againMax = 1_000;

export type Parts = ReturnType<typeof collectParts>;

export function collectParts() {
  const all: Part[] = [];
  const forms = new Map<string, Part>();
  const add = (kind: Part["kind"], key: string, at: number, more: Partial<Part> = {}) =>
    void all.push({ kind, key, hosts: [], loads: false, at, find: "", ...more });
  /** `find` is needed if `text` is not written like this in the file. */
  const form = (text: string, at: number, find = text) => {
    const first = forms.get(text);
    if (first === undefined) {
      add("form", text, at, { find: longestLine(find) });
      forms.set(text, all.at(-1) as Part);
      return;
    }
    first.again ??= [];
    if (first.again.length < againMax) first.again.push(at);
  };

  function address(
    url: string,
    at: number,
    { loads = false, kind = "link" }: { loads?: boolean; kind?: Part["kind"] } = {},
  ): void {
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0];
    const host = authority.exec(url)?.[1];
    const isPlain =
      /^[^\s<>"`{}\\|^\p{C}]*$/u.test(url) &&
      !/&(?!amp;)#?\w+;|&#/.test(url) &&
      !/^[/\\]+(?:[/\\]|$).*\\|^\W*:/.test(url);
    // Half of an address can become whole elsewhere.
    const isHalf = host === undefined && /^(?:https?|ftp):$/i.test(scheme ?? "");
    if (!isPlain || isHalf || (scheme && !schemes.test(scheme)) || (host !== undefined && !plainAuthority.test(host)))
      return void form(`(${url})`, at, url);
    const owner = host === undefined ? null : hostOf(host);
    const hosts = new Set([...(owner === null ? [] : [owner]), ...hostsIn(url), ...hostsIn(decoded(url))]);
    const mailed = /^mailto:[\w.+-]+@([\w.-]+)(?:\?(?:subject|body)=[^&]*)?(?:&(?:subject|body)=[^&]*)*$/i.exec(
      url,
    )?.[1];
    if (/^mailto:/i.test(url) && !mailed) return void form(`(${url})`, at, url);
    // A name without a dot is a machine of the reader's own network.
    if (loads && host !== undefined && owner === null && !ownHost.test(host)) return void form(`(${url})`, at, url);
    // Bundlers import what a picture names, whatever it is.
    if (loads && hosts.size === 0 && host === undefined && !media.test(url)) return void form(`(${url})`, at, url);
    if (mailed) for (const one of hostsIn(`https://${mailed}/`)) hosts.add(one);
    for (const [, nested = ""] of decoded(url).matchAll(nestedHost)) hosts.add(nested.toLowerCase());
    if (hosts.size > 0) add(kind, url, at, { hosts: [...hosts], loads });
    else if (/(?:^|\/)\.\.(?:\/|$)/.test(decoded(url))) add("path", url, at);
    // From the root of a site, no folder is above. Hidden folders are never content, but for the pictures of GitBook, and GitHub's in links.
    if (hosts.size === 0 && ((loads ? hiddenFolder : hiddenInLinks).test(decoded(url)) || rootAbove.test(decoded(url))))
      form(`(${url})`, at, url);
  }

  return {
    all,
    form,
    address,
    include: (target: string, at: number) => add("include", target, at),
    rest: (text: string) => add("rest", text, 0),
    sample(text: string, at: number) {
      for (const host of spelledOutHostsIn(text)) add("sample", host, at, { hosts: [host] });
    },
    /** A value that may contain addresses: text, a component's property, a field of a configuration. */
    value(text: string, at: number, { loads = true } = {}) {
      // "JavaScript: a sentence" is text.
      for (const [running] of text.matchAll(runningScheme))
        if (loads || !running.endsWith(":")) form(running.trim(), at);
      // Browsers drop tabs and line ends in an address.
      const joined = loads ? text.replaceAll(/[\t\r\n]/g, "") : text;
      if (joined !== text) for (const [running] of joined.matchAll(runningScheme)) form(running.trim(), at);
      const mailed = [...text.matchAll(/(?<=[^\s@])@((?:[\w-]+\.)+[a-z]{2,})(?![\w/-]|:\S)/gi)];
      const mailHosts = mailed.flatMap(([, host]) => [...hostsIn(`https://${host}/`)]);
      const hosts = new Set([...mailHosts, ...hostsIn(text), ...(joined.trim().includes(" ") ? [] : hostsIn(joined))]);
      if (hosts.size > 0) add("link", text, at, { hosts: [...hosts], loads });
      if (!text.includes("\\")) return;
      for (const word of text.split(/\s+/))
        if (word.includes("\\") && /(?:https?:|www\.).*\\/i.test(word.slice(0, 2_000))) form(word, at);
    },
  };
}

/** For a text that begins at this place of the page. */
export function shiftedBy(offset: number, parts: Parts): Parts {
  return {
    ...parts,
    form: (text, at, find) => parts.form(text, at + offset, find),
    address: (url, at, options) => parts.address(url, at + offset, options),
    include: (target, at) => parts.include(target, at + offset),
    sample: (text, at) => parts.sample(text, at + offset),
    value: (text, at, options) => parts.value(text, at + offset, options),
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
