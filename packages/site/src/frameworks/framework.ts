import type { LinkRules } from "../links/link-rules.ts";
import type { Dialect } from "../parse/dialect.ts";
import type { FrontMatter, LinkKind } from "../parse/facts.ts";
import type { Splice } from "../text/bytes.ts";
import type { SiteFile } from "../types.ts";

/** One element of a navigation list. */
export interface NavItem {
  /** The byte range of the whole element in the list's file. */
  start: number;
  end: number;
  line: number;
  column: number;
  /** What the element names, as written; null for a heading, a separator or a nested list. */
  target: string | null;
  /** The byte range of the target's text, without quotes. */
  targetStart: number;
  targetEnd: number;
  label: string | null;
  /** It names something outside the site, or something that the build makes: not ours to check. */
  isForeign: boolean;
  /** Where it stands for whatever lies in a folder: that folder, and the one that its name is relative to. */
  folder?: { path: string; below: string };
  /** The rest of the element as written, to carry it over into another list. */
  source?: string;
}

/** A list of pages in a navigation file. */
export interface NavList {
  file: string;
  /** Names of the list and of those around it, the innermost last. */
  trail: readonly string[];
  items: readonly NavItem[];
  /** A single place that takes no further pages. */
  isFixed?: true;
  /** Where the list belongs to one folder and names its files: that folder. */
  folder?: string;
  /** That file's text, for lists that belong to a folder. */
  text?: string;
  /** Takes an element out; only where a list belongs to a folder. */
  remove?(index: number): readonly Splice[];
  /** How a target is written in an element, where the model looks it up by another name. */
  written?(target: string, item: NavItem, route: string): string;
  /** Inserts an element before the one at index, or last; `source`: the rest of an element that comes from another list. */
  insert(text: string, index: number, target: string, title: string, source?: string): Splice;
}

export interface Redirect {
  from: string;
  to: string;
  file: string;
  line: number;
  column: number;
  /** The byte ranges of both texts, to rewrite them in place. */
  fromRange?: readonly [number, number];
  toRange?: readonly [number, number];
}

/** A change to a file's text; the whole new text where the file does not exist yet. */
export type FileEdit =
  | { file: string; splices: readonly Splice[] }
  | { file: string; created: string }
  | { file: string; deleted: true };

export interface RedirectPair {
  from: string;
  to: string;
}

/** Where redirects live and how to write them. */
export interface RedirectStore {
  add(pairs: readonly RedirectPair[]): FileEdit;
  remove(redirects: readonly Redirect[]): FileEdit | null;
}

/** A byte range of a navigation file that readers see: labels of groups and tabs. */
export interface Label {
  file: string;
  start: number;
  end: number;
}

export interface Home {
  dir: string;
  /** Without slashes around it. */
  route: string;
}

/** What a framework makes of a repository: its conventions, and what its configuration says. */
export interface Model {
  framework: string;
  /** The folder that holds the pages; "" for the top. */
  root: string;
  /** Further sites of the same repository, which this model says nothing of. */
  otherSites?: readonly { framework: string; root: string; pages: number }[];
  /** Files other than pages that the model was read from: a change to one reads it anew. */
  configFiles: readonly string[];
  /** A partial is no page of its own but text that pages include. */
  role(path: string): "page" | "partial" | null;
  dialect(path: string): Dialect;
  /** Every route of a page; the first is the one to write. */
  routes(path: string, fields: FrontMatter["fields"]): readonly string[];
  /** Folders whose files are served from the top of the site. */
  publicDirs: readonly string[];
  /** A prefix that routes in links may carry. */
  basePath: string;
  /** The configuration computes it, so that it cannot be read. */
  isBaseComputed?: boolean;
  navigation: readonly NavList[];
  /** Labels that readers see in the navigation. */
  labels: readonly Label[];
  /** False where pages show up by themselves: then none can be missing from the navigation. */
  listsPages: boolean;
  /** Pages that need no navigation entry. */
  isUnlisted?(path: string, fields: FrontMatter["fields"]): boolean;
  /** The page a navigation target names, as a route to look up or a path. */
  navRoute(target: string): { route: string } | { path: string };
  /** How a page is named in a navigation list. */
  navTarget(path: string, route: string, fields: FrontMatter["fields"], list: NavList): string;
  redirects: readonly Redirect[];
  redirectStore: RedirectStore | null;
  /** How a redirect names a page, or a route that has none any more. */
  redirectTarget(path: string | null, route: string): string;
  /** The same for the address that readers come from, where it is written otherwise. */
  redirectSource?(path: string | null, route: string): string;
  /** Routes that the build makes and no file shows: links to them are not checked. */
  isGenerated?(route: string): boolean;
  /**
   * False where a leading slash may mean anything on the host: then only files are checked. "if usual": where most such
   * links of the site lead to its files, or only a few do not.
   */
  checksAbsolute: boolean | "if usual";
  /**
   * Ids are compared by letters and digits only: where the framework's own rule for them is not known to the letter.
   * "unless own": to the letter, unless most fragments of the site show that it has a rule of its own; then none is judged.
   * "unknown": fragments may name what stands on any page; none is judged.
   */
  looseAnchors?: boolean | "unless own" | "unknown";
  /**
   * What a target means that is written in the framework's own manner (`{{< ref "x" >}}`, `{% link x %}`): as a plain target,
   * with the piece of it that names the page, and where that stands if it is not its first mention. Null for any other.
   */
  ownTarget?(target: string, from: string, kind: LinkKind): { plain: string; name: string; at?: number } | null;
  /** Folders, besides a page's own, that its links to files may be relative to; `isDotted`: those that begin with a dot. */
  searchDirs?(path: string, isDotted: boolean): readonly string[];
  /** Folders that the paths of included files are relative to, where it is not the page's own. */
  includeDirs?: readonly string[];
  /** The route that is served where a route has no page: the default language for a missing translation. */
  fallbackRoute?(key: string): string | null;
  /**
   * Folders whose pages belong together, such as one version in one language, each with the route it is served under. The
   * first are meant where words name no folder. Left out: the root is the only one.
   */
  homes?: readonly Home[];
  /** Fields of front matter that name a page by its id, and the target that such an id stands for. */
  idFields?: readonly string[];
  idTarget?(path: string, id: string): string;
  /** The same page in other languages, where the build knows them by their path: they move with it. */
  translationsOf?(path: string): readonly string[];
  /** A first segment that routes written in this file leave out: its language, where each has a site of its own. */
  routeScope?(path: string): string;
  /** Languages are folders of one site, so that each address has a redirect of its own. */
  sharesRedirects?: true;
  /** What only the build decides about a page's address, in words; null where nothing is open. */
  undecided?(path: string): string | null;
  /** `@site/` and the like: prefix → folder. */
  aliases?: Readonly<Record<string, string>>;
  /** How links are read; leniently where this is left out. */
  links?: LinkRules;
}

export interface FrameworkContext {
  files: ReadonlyMap<string, SiteFile>;
  /** The text of a file as a byte string, or null. */
  readText(path: string): Promise<string | null>;
  /** The folder that the caller named, or "". */
  docsDir: string;
  /** Between units of work: a configuration may list ten thousand pages. */
  breathe(): Promise<void> | undefined;
}

/** One docs framework: how to know it, and how to read it. */
export interface Framework {
  name: string;
  /** Configuration files that give it away, by path. */
  marker: RegExp;
  /** Looks into a marker where its name alone does not decide. */
  confirm?(text: string, path: string): boolean;
  load(context: FrameworkContext, marker: string): Promise<Model | null>;
}
