/** How a site's builder reads pages of Markdown, as far as it matters for what is content. */
export interface Flavor {
  isMdx: boolean;
  /** Vue evaluates `{{ … }}` and takes unknown elements for components. */
  isVue: boolean;
  /** Engines that run before any Markdown is read: `hugo`, `liquid` (and Jinja), `mdbook`. */
  templates: string;
  /** Nobody knows who reads the page, or its parser reads no Markdown inside of HTML. */
  isUnsure: boolean;
  /** Every brace may be an expression. */
  hasBraces?: boolean;
  /** Its fences take more than a language behind the marks. */
  hasInfos?: boolean;
}

export interface Syntax {
  kind: "markdown" | "rst" | "asciidoc" | "text" | "configuration" | "navigation";
  path: string;
  flavor: Flavor;
}
