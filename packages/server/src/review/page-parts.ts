import { hostOf, hostsIn, spelledOutHostsIn } from "../hosts/hosts-in.ts";

/** A part of a page that does more than show words. */
export interface Part {
  /**
   * link: where a rendered page links to or loads from; unused: a definition that no link uses; sample: a site that only
   * shown code names; code: what runs; include: a file whose text becomes part of the page.
   */
  kind: "link" | "unused" | "sample" | "code" | "include";
  /** Equal for equal parts: the address, the site, the code without its harmless texts, the included path. */
  key: string;
  hosts: readonly string[];
  /** Fetched without a click. */
  loads: boolean;
  /** What code it is, for the refusal. */
  why: string;
  at: number;
}

export type Syntax = "markdown" | "mdx" | "markup" | "rst" | "asciidoc";

/** Null: no page. */
export function syntaxOf(path: string, isMdxSite = false): Syntax | null {
  if (/\.(?:md|markdown|mdown|mkdn?)$|(?:^|\/)llms[\w-]*\.txt$/i.test(path)) return isMdxSite ? "mdx" : "markdown";
  if (/\.mdx$/i.test(path)) return "mdx";
  if (/\.(?:html?|xhtml|svg|xml)$/i.test(path)) return "markup";
  if (/\.rst$/i.test(path)) return "rst";
  return /\.(?:adoc|asciidoc|asc)$/i.test(path) ? "asciidoc" : null;
}

/** Other schemes open programs on the reader's machine, run what follows, or read its files. */
const schemes = /^(?:https?|wss?|ftps?|mailto|tel|sms|xmpp|irc|matrix|magnet|doi|ref|git):$/;
const running = /^(?:javascript|vbscript|data|file|blob|filesystem|view-source):/;
/** Templates are expanded before the page is read. */
const templateTag = /\{\{|\{%|<%|\$\{|\{!/;
const templateInAddress = /[/:\\]\s*\S*(?:\{\{|\{%|<%)/;

export type Parts = ReturnType<typeof collectParts>;

export function collectParts() {
  const all: Part[] = [];
  const add = (kind: Part["kind"], key: string, at: number, more: Partial<Part> = {}) =>
    void all.push({ kind, key, hosts: [], loads: false, why: "", at, ...more });

  function code(source: string, why: string, at: number): void {
    add("code", shapeOf(source), at, { why });
  }

  return {
    all,
    code,
    include: (target: string, at: number) => add("include", target, at),
    sample(text: string, at: number) {
      for (const host of spelledOutHostsIn(text)) add("sample", host, at, { hosts: [host] });
    },
    /** What a browser resolves as an address. */
    address(url: string, at: number, { loads = false, kind = "link" }: { loads?: boolean; kind?: Part["kind"] } = {}) {
      const parsed = URL.parse(url, "https://here.invalid/");
      if (templateTag.test(url)) code(url, "a template tag inside an address", at);
      if (parsed && !schemes.test(parsed.protocol)) code(parsed.protocol, `a ${parsed.protocol} address`, at);
      const host = parsed && parsed.host !== "here.invalid" ? hostOf(parsed.host) : null;
      const hosts = new Set([...hostsIn(url), ...(host === null ? [] : [host])]);
      if (hosts.size > 0) add(kind, url, at, { hosts: [...hosts], loads });
    },
    /** A value that may hold addresses, in one way or another: a style, a list of images, a component's property. */
    value(text: string, at: number) {
      const protocol = URL.parse(text)?.protocol ?? "";
      if (running.test(protocol)) code(protocol, `a ${protocol} address`, at);
      if (templateInAddress.test(text)) code(text, "a template tag inside an address", at);
      const hosts = hostsIn(text);
      if (hosts.size > 0) add("link", text, at, { hosts: [...hosts], loads: true });
    },
  };
}

/** Texts that name a page, a picture or a label of this site are all one. */
function shapeOf(source: string): string {
  const harmless = /^(?=\.{1,2}\/(?!\.\.)|\/|@site\/|#|.*\s|$)(?!.*(?:[:\\<{}]|\/\/))/;
  return source
    .slice(0, 2_000)
    .replaceAll(/(["'`])((?:(?!\1)[^\\\n])*)\1/g, (whole, _, text: string) => (harmless.test(text) ? '""' : whole))
    .replaceAll(/\s+/g, " ")
    .trim();
}
