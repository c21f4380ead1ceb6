import { hostOf, hostsIn, spelledOutHostsIn } from "../hosts/hosts-in.ts";

/** A part of a page that does more than show text. */
export interface Part {
  /**
   * link: an address that a rendered page links to or loads; unused: a link definition that no link uses; sample: a
   * host that appears only in shown code; code: code that runs; include: a file whose text becomes part of the page.
   */
  kind: "link" | "unused" | "sample" | "code" | "include";
  /** Equal for equal parts: the address, the host, the code without harmless strings, or the included path. */
  key: string;
  hosts: readonly string[];
  /** Loaded without a click. */
  loads: boolean;
  /** The kind of code, for the refusal's message. */
  why: string;
  at: number;
}

export type Syntax = "markdown" | "mdx" | "markup" | "rst" | "asciidoc";

/** Null if the file is not a page. */
export function syntaxOf(path: string, isMdxSite = false): Syntax | null {
  if (/\.(?:md|markdown|mdown|mkdn?)$|(?:^|\/)llms[\w-]*\.txt$/i.test(path)) return isMdxSite ? "mdx" : "markdown";
  if (/\.mdx$/i.test(path)) return "mdx";
  if (/\.(?:html?|xhtml|svg|xml)$/i.test(path)) return "markup";
  if (/\.rst$/i.test(path)) return "rst";
  return /\.(?:adoc|asciidoc|asc)$/i.test(path) ? "asciidoc" : null;
}

/** Other schemes open programs on the reader's machine, run code, or read local files. */
const schemes = /^(?:https?|wss?|ftps?|mailto|tel|sms|xmpp|irc|matrix|magnet|doi|ref|git):$/;
const running = /^(?:javascript|vbscript|data|file|blob|filesystem|view-source):/;
/** Templates are expanded before the page is parsed. */
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
    /** A value that a browser resolves as an address. */
    address(url: string, at: number, { loads = false, kind = "link" }: { loads?: boolean; kind?: Part["kind"] } = {}) {
      const parsed = URL.parse(url, "https://here.invalid/");
      if (templateTag.test(url)) code(url, "a template tag inside an address", at);
      if (parsed && !schemes.test(parsed.protocol)) code(parsed.protocol, `a ${parsed.protocol} address`, at);
      const host = parsed && parsed.host !== "here.invalid" ? hostOf(parsed.host) : null;
      const hosts = new Set([...hostsIn(url), ...(host === null ? [] : [host])]);
      if (hosts.size > 0) add(kind, url, at, { hosts: [...hosts], loads });
    },
    /** A value that may contain addresses: a style, a list of images, a component's property. */
    value(text: string, at: number) {
      const protocol = URL.parse(text)?.protocol ?? "";
      if (running.test(protocol)) code(protocol, `a ${protocol} address`, at);
      if (templateInAddress.test(text)) code(text, "a template tag inside an address", at);
      const hosts = hostsIn(text);
      if (hosts.size > 0) add("link", text, at, { hosts: [...hosts], loads: true });
    },
  };
}

/** Strings that name a page, an image or a label of this site are treated as equal. */
function shapeOf(source: string): string {
  const harmless = /^(?=\.{1,2}\/(?!\.\.)|\/|@site\/|#|.*\s|$)(?!.*(?:[:\\<{}]|\/\/))/;
  return source
    .slice(0, 2_000)
    .replaceAll(/(["'`])((?:(?!\1)[^\\\n])*)\1/g, (whole, _, text: string) => (harmless.test(text) ? '""' : whole))
    .replaceAll(/\s+/g, " ")
    .trim();
}
