/** How a builder reads the targets of links. Each framework's are what `npm run oracles` saw its builder do. */
export interface LinkRules {
  /**
   * What `page.md` means: the file of that name; that file where it is written with a dot before it; nothing, since the build
   * serves no such file; or the address that is left without the ending.
   */
  markdown: "file" | "dotted" | "never" | "address";
  /** Whether `/page.md` means a page. */
  rootMarkdown: boolean;
  /**
   * What other targets are relative to: the file's folder; the page's address; the file's folder where they begin with a
   * dot and the top of the site otherwise; or whichever leads somewhere.
   */
  relative: "file" | "address" | "dotted" | "either";
  /**
   * Targets of HTML tags are left as they are, so that they are addresses; "href address": those of links alone, since
   * pictures are bundled. Left out, they are read as those of links.
   */
  tags?: "address" | "href address";
  /**
   * Which Markdown files a link may name: pages, or pages and what they take in; any other leads nowhere. Left out, every
   * file of the repository.
   */
  sources?: "pages" | "pages and partials";
  /** Which pages are served as files: every one as `page.html`, those of folders as `index.html`, or none. */
  html: "pages" | "indexes" | "never";
  /** Whether the build accepts links to what it only redirects. */
  redirects: boolean;
  /** Whether absolute links carry the path that the site is served below: the builder adds it, they must, or they may. */
  base: "added" | "written" | "either";
  /** "exact": `/folder` and `/page/` lead nowhere; "pages": only `/page/` does. */
  slashes: "exact" | "pages" | "either";
}

/** Where the builder's own rules are not known. */
export const lenientLinks: LinkRules = {
  markdown: "file",
  rootMarkdown: true,
  relative: "either",
  html: "pages",
  redirects: true,
  base: "either",
  slashes: "either",
};
