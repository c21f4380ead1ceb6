import { hasAnchor } from "../src/links/anchors.ts";
import { resolveTarget } from "../src/links/resolve.ts";
import type { PageResolution } from "../src/links/site-index.ts";
import { isExternal } from "../src/links/target.ts";
import { openSite } from "../src/open-site.ts";
import type { Site } from "../src/site.ts";
import { memoryTree } from "../test/support/memory-tree.ts";
import { noBlock, type OracleSite } from "./oracle-site.ts";

/** A row on which Emend and a builder disagree. */
interface Difference {
  row: string;
  builder: string;
  emend: string;
}

/** Compares Emend with a truth table, row by row. */
export async function compare(site: OracleSite, truth: Truth): Promise<Difference[]> {
  const opened = await openSite(memoryTree(site.files));
  const found: Difference[] = [];
  const same = (row: string, builder: string, emend: string): void => {
    if (builder !== emend) found.push({ row, builder, emend });
  };
  for (const [path, route] of Object.entries(truth.routes)) {
    const known = opened.index.nodes.get(path)?.route ?? "none";
    same(`route ${path}`, plainRoute(route), plainRoute(known));
  }
  for (const [at, [from, target, verdict, to]] of truth.links.entries()) {
    const { path = "", kind = "link" } = site.links[at] ?? {};
    const known = judge(opened, site, path, target, kind);
    const builder = to === undefined ? verdict : `${verdict} ${to}`;
    same(
      `${kindNames[kind]} ${from} → ${target}`,
      builder,
      to === undefined ? known.verdict : `${known.verdict} ${known.to}`,
    );
  }
  const ids = opened.index.nodes.get(site.headingsPath)?.brief.ids ?? [];
  for (const [at, [source, id]] of truth.headings.entries())
    same(`heading ${at} ${source}`, id ?? "none", ids[at] ?? "none");
  for (const [name, path] of site.blocks) {
    if (name === noBlock) continue;
    const own = new Set(opened.index.nodes.get(path)?.brief.ids);
    same(`ids of ${name}`, (truth.blocks[name] ?? []).join(" "), [...own].sort().join(" "));
  }
  return found;
}

/** Routes are compared without trailing slash and extension. */
function plainRoute(route: string): string {
  return route.replace(/(?:(\/)index)?\.html$/, "$1").replace(/(.)\/$/, "$1");
}

interface Known {
  verdict: string;
  to: string;
}

const kindNames = { link: "link", href: "tag", src: "picture", include: "file" } as const;

function judge(
  opened: Site,
  site: OracleSite,
  path: string,
  target: string,
  kind: "link" | "href" | "src" | "include",
): Known {
  const { index } = opened;
  const { brief } = index.nodes.get(path) ?? {};
  const isRead = kind === "link" || kind === "href" || brief?.others.some((other) => other.target === target);
  if (isRead !== true) return { verdict: "not read", to: "" };
  if (isExternal(target)) return { verdict: "ok", to: "" };
  const found = resolveTarget(index, path, target, kind);
  switch (found.kind) {
    case "page":
      return {
        verdict: anchorVerdict(index, found),
        to: found.path,
      };
    case "file":
      return { verdict: "ok", to: servedName(site, found.path) };
    case "redirect":
      return { verdict: "ok", to: "redirect" };
    case "missing":
      return { verdict: "broken", to: "" };
    case "external": {
      const plain = index.model.ownTarget?.(target, path, kind)?.plain ?? "";
      return { verdict: "ok", to: plain.replace(/^label:/, "") };
    }
    default:
      return { verdict: found.kind, to: "" };
  }
}

function anchorVerdict(index: Site["index"], { path, hash }: PageResolution): string {
  if (hash === null) return "ok";
  if (index.model.looseAnchors === "unknown") return "unknown";
  return hasAnchor(index, path, hash) ? "ok" : "no anchor";
}

/** Files of a public folder are served from the root. */
function servedName({ publicDir, framework }: OracleSite, path: string): string {
  // Hugo also serves files next to its pages.
  const dirs = framework === "hugo" ? [publicDir, "content"] : [publicDir];
  const dir = dirs.find((one) => one !== "" && path.startsWith(`${one}/`));
  return dir === undefined ? path : path.slice(dir.length + 1);
}

/** A builder's results for the table of forms, written by `npm run oracles`. */
export interface Truth {
  builder: string;
  versions: Readonly<Record<string, string>>;
  date: string;
  /** The URL of each page by its path. Empty if the builder writes no pages. */
  routes: Readonly<Record<string, string>>;
  /** The page of a link, its target, the verdict, and the link's destination if known. */
  links: readonly (readonly [from: string, target: string, verdict: string, to?: string])[];
  /** A heading's source and its id. */
  headings: readonly (readonly [source: string, id: string | null])[];
  /** The ids of the pages with one block each. */
  blocks: Readonly<Record<string, readonly string[]>>;
}
