import { hostOf } from "../lib/host-of.ts";
import { hostsIn, spelledOutHostsIn } from "../lib/hosts-in.ts";
import type { Address, Code, Notes } from "./page-reading.ts";

const here = "https://here.invalid/";
/** Other schemes open programs on the reader's machine, run what follows, or read its files. */
const schemes = /^(?:https?|wss?|ftps?|mailto|tel|sms|xmpp|irc|matrix|magnet|doi|ref|git):$/;
const running = /^(?:javascript|vbscript|data|file|blob|filesystem|view-source):/;
/** Of templates, expanded before the page is read. */
const templateTag = /\{\{|\{%|<%|\$\{|\{!/;
const shapeCharactersMax = 2_000;

export function takeNotes(): Notes {
  const addresses: Address[] = [];
  const shown: { host: string; at: number }[] = [];
  const code: Code[] = [];
  const includes: { target: string; at: number }[] = [];

  function addCode(source: string, why: string, at: number): void {
    code.push({ shape: shapeOf(source), why, at });
  }

  function addAddress(url: string, at: number, more: { loads?: boolean; isUnused?: true } = {}): void {
    const parsed = URL.parse(url, here);
    if (templateTag.test(url)) addCode(url, "a template tag inside an address", at);
    if (parsed && !schemes.test(parsed.protocol)) addCode(parsed.protocol, `a ${parsed.protocol} address`, at);
    const hosts = new Set(hostsIn(url));
    const host = parsed && parsed.host !== "here.invalid" ? hostOf(parsed.host) : null;
    if (host !== null) hosts.add(host);
    if (hosts.size > 0) addresses.push({ url, hosts: [...hosts], loads: more.loads ?? false, at, ...isUnused(more) });
  }

  return {
    address: addAddress,
    code: addCode,
    value(text, at) {
      const parsed = URL.parse(text);
      if (parsed && running.test(parsed.protocol)) addCode(parsed.protocol, `a ${parsed.protocol} address`, at);
      if (/[/:\\]\s*\S*(?:\{\{|\{%|<%)/.test(text)) addCode(text, "a template tag inside an address", at);
      const hosts = hostsIn(text);
      if (hosts.size > 0) addresses.push({ url: text, hosts: [...hosts], loads: true, at });
    },
    include: (target, at) => void includes.push({ target, at }),
    shown(text, at) {
      for (const host of spelledOutHostsIn(text)) shown.push({ host, at });
    },
    reading: () => ({ addresses, shown, code, includes }),
  };
}

function isUnused({ isUnused }: { isUnused?: true }): { isUnused?: true } {
  return isUnused ? { isUnused } : {};
}

/** Texts that name a page, a picture or a label of this site are all one. */
function shapeOf(source: string): string {
  return source
    .slice(0, shapeCharactersMax)
    .replaceAll(/(["'`])((?:(?!\1)[^\\\n])*)\1/g, (whole, _, text: string) => (isHarmless(text) ? '""' : whole))
    .replaceAll(/\s+/g, " ")
    .trim();
}

function isHarmless(text: string): boolean {
  if (/[:\\<{}]|\/\//.test(text)) return false;
  return /^(?:\.{1,2}\/(?!\.\.)|\/|@site\/|#)/.test(text) || /\s/.test(text) || text === "";
}
