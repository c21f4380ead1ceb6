/** How a builder resolves link targets. The values of each framework are what `npm run oracles` observed. */
export interface LinkRules {
  /**
   * The meaning of `page.md`: "file": the file. "dotted": the file, if the target starts with a dot. "never": nothing,
   * since the build serves no such file. "address": the URL without the extension.
   */
  markdown: "file" | "dotted" | "never" | "address";
  /** Whether `/page.md` is a page. */
  rootMarkdown: boolean;
  /**
   * What other targets are relative to: "file": the file's folder. "address": the page's URL. "dotted": the file's
   * folder if the target starts with a dot, else the site's root. "either": whichever resolves.
   */
  relative: "file" | "address" | "dotted" | "either";
  /**
   * "address": targets of HTML tags are not rewritten, so they are URLs. "href address": only those of links, because
   * images are bundled. Default: the same rules as for Markdown links.
   */
  tags?: "address" | "href address";
  /**
   * Which Markdown files a link may name: pages, or pages and their partials. Any other is a broken link. Default:
   * every file of the repository.
   */
  sources?: "pages" | "pages and partials";
  /** Which pages are served as files: all as `page.html`, those of folders as `index.html`, or none. */
  html: "pages" | "indexes" | "never";
  /** Whether the build accepts links to redirects. */
  redirects: boolean;
  /** Whether absolute links have the base path: the builder adds it, it must be written, or it may be written. */
  base: "added" | "written" | "either";
  /** "exact": `/folder` and `/page/` are broken links. "pages": only `/page/` is. */
  slashes: "exact" | "pages" | "either";
}

/** For builders whose rules are not known. */
export const lenientLinks: LinkRules = {
  markdown: "file",
  rootMarkdown: true,
  relative: "either",
  html: "pages",
  redirects: true,
  base: "either",
  slashes: "either",
};
