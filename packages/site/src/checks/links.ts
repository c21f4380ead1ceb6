import type { Redirect } from "../frameworks/framework.ts";
import { anchorFit, anchorsOf, translationWith, whatIsMade } from "../links/anchors.ts";
import { doubtsAbsolute } from "../links/base-path.ts";
import { mostAreBroken, unseen, whyMaybeThere } from "../links/doubts.ts";
import { nearestAnchor, nearestPage } from "../links/nearest.ts";
import { resolveTarget } from "../links/resolve.ts";
import { encode, rewriteTarget } from "../links/rewrite.ts";
import type { SiteIndex } from "../links/site-index.ts";
import {
  dirOf,
  isBelow,
  isExternal,
  isTemplate,
  joinPath,
  pageExtension,
  relativePath,
  routeKey,
  splitTarget,
  tailOf,
  underDir,
} from "../links/target.ts";
import { linksThatMayMean } from "../links/unjudged.ts";
import { pageOfTarget } from "../navigation/find-list.ts";
import type { Link } from "../parse/dialect.ts";
import { readFactsOf } from "../parse/read-page-facts.ts";
import type { Site } from "../site.ts";
import type { Finding } from "../types.ts";
import type { LinkCheck, OptionalCheck, SiteCheck } from "./check.ts";
import { quoted, type Report } from "./report.ts";

function languageOf(route: string): string {
  return /^\/([a-z]{2}(?:-[a-z]{2,4})?)\//i.exec(route)?.[1] ?? "";
}

export const brokenLink: LinkCheck = {
  id: "broken-link",
  severity: "error",
  *run({ index, page, links }) {
    for (const { link, resolution } of links) {
      if (resolution.kind !== "missing" || link.isUnused === true) continue;
      if (link.kind === "image" || link.kind === "src" || link.kind === "include") continue;
      const { path } = page;
      const { line, column, start, end, target } = link;
      const findNear = () => nearestPage(index, page, target);
      // What only the builder's own words can name is a document.
      const isOwn = (index.model.ownTarget?.(target, path, link.kind) ?? null) !== null;
      const why =
        target.startsWith("/") && doubtsAbsolute(index)
          ? mostAreBroken
          : whyMaybeThere(index, path, target, () => isOwn || findNear().kind === "certain");
      const near = why === null ? findNear() : null;
      if (near === null || near.kind === "none") {
        const message = `${quoted(target)} links to a missing page; correct or remove the link.`;
        yield { path, line, column, message, target, ...(why !== null && { why }) };
        continue;
      }
      const text = rewriteTarget(index, path, link, near.path, "file");
      const route = index.nodes.get(near.path)?.route ?? near.path;
      // A page in another language has the same name, and is not what is meant.
      const isForeign = languageOf(route) !== languageOf(page.route);
      if (near.kind === "likely" || text === null || isForeign) {
        yield {
          path,
          line,
          column,
          message: `${quoted(target)} links to a missing page; did you mean ${quoted(route)}?`,
          target,
        };
        continue;
      }
      yield {
        path,
        line,
        column,
        message: `${quoted(target)} links to a missing page; link to ${quoted(text)} instead.`,
        target,
        fix: { title: `Link to ${text}`, edits: [{ path, start, end, text }] },
      };
    }
  },
};

export const brokenAnchor: LinkCheck = {
  id: "broken-anchor",
  severity: "error",
  *run({ index, page, links }) {
    for (const { link, resolution } of links) {
      if (resolution.kind !== "page" || resolution.hash === null || link.isUnused === true) continue;
      // A partial's anchors are those of the pages that include it.
      if (page.isPartial && resolution.via === "self") continue;
      const fit = anchorFit(index, resolution.path, resolution.hash);
      if (fit === "exact") continue;
      const { path } = page;
      const { line, column, target } = link;
      const where = resolution.via === "self" ? "this page" : quoted(resolution.path);
      const near = nearestAnchor(anchorsOf(index, resolution.path), resolution.hash);
      const start = link.end - (target.length - target.indexOf("#") - 1);
      const hint =
        near === null
          ? "correct the part after `#` or give the heading that id"
          : near.isCertain
            ? `use \`#${near.id}\` instead`
            : `did you mean \`#${near.id}\`?`;
      if (fit === "loose") {
        const message = `No heading on ${where} has the id ${quoted(resolution.hash)} to the letter; ${hint.replace(/([^?])$/, "$1.")}`;
        const why = `the rule by which ${index.model.framework} makes ids is known in part`;
        yield { path, line, column, message, why };
        continue;
      }
      const message = `No heading on ${where} has the id ${quoted(resolution.hash)}; ${hint.replace(/([^?])$/, "$1.")}`;
      const made = whatIsMade(index, resolution.path);
      const translated = translationWith(index, path, resolution.path, resolution.hash);
      if (made !== null || translated !== null) {
        const why =
          made !== null
            ? `${made} may give the page more ids, and only the build can tell`
            : `${quoted(translated as string)} has it, and the site may lead there in its language`;
        yield { path, line, column, message, why };
        continue;
      }
      // If escapes make the source longer than the target, the fragment's position is uncertain.
      const isPlain = link.end - link.start === target.length;
      if (near?.isCertain !== true || !isPlain) yield { path, line, column, message, target };
      else {
        const edits = [{ path, start, end: link.end, text: near.id }];
        yield { path, line, column, message, target, fix: { title: `Link to #${near.id}`, edits } };
      }
    }
  },
};

const hopsMax = 20;

/** The problem of a redirect, and why it may be none. */
function problem(index: SiteIndex, { from, to, file }: Redirect): { wrong: string; why?: string } | null {
  const start = routeKey(from);
  const seen = new Set([start]);
  let target = to;
  for (let hops = 0; hops < hopsMax; hops++) {
    // Targets with parameters cannot be resolved.
    if (/[:*$]/.test(target)) return null;
    const absolute = `/${target.replace(/^\.?\//, "")}`;
    // A redirect may name a page by its file even if a link may not.
    if (index.routes.has(routeKey(absolute.split(/[?#]/)[0] ?? ""))) return null;
    const found = resolveTarget(index, "", absolute, "link");
    if (found.kind === "missing") {
      const wrong = `leads to ${quoted(target)}, which does not exist; point it at a page`;
      return { wrong, why: whyMaybeThere(index, file, absolute) ?? unseen.address };
    }
    if (found.kind !== "redirect") return null;
    const key = routeKey((target.split(/[?#]/)[0] ?? "").replace(/^\//, ""));
    if (seen.has(key)) return { wrong: `comes back to ${quoted(target)} for ever; break the loop` };
    seen.add(key);
    target = found.to;
  }
  return { wrong: "passes through more than twenty others; point it at the last page" };
}

export const brokenRedirect: SiteCheck = {
  id: "broken-redirect",
  severity: "error",
  *run(index) {
    for (const redirect of index.model.redirects) {
      const { from, to, file, line, column } = redirect;
      const found = /^[a-z]+:/i.test(to) ? null : problem(index, redirect);
      if (found === null) continue;
      const { wrong, ...doubt } = found;
      yield { path: file, line, column, message: `The redirect from ${quoted(from)} ${wrong}.`, ...doubt };
    }
  },
};

// With fewer, each may be a mistake.
const entriesMin = 5;
const mostAreUnlisted = "one cause is more likely than as many mistakes: the build may make or rename these pages";

function isListed(index: SiteIndex, target: string): boolean {
  return pageOfTarget(index, target) !== null || index.files.has(target) || index.redirectFor(target) !== null;
}

/** Why a listed page may be there all the same. */
function whyMaybeListed(index: SiteIndex, target: string, written: string): string | null {
  const { elsewhere, navRoute, root, makers } = index.model;
  if (elsewhere?.isIgnored(written)) return "`.gitignore` names it, so the build may make it";
  const page = navRoute(target);
  if (target.startsWith("#")) {
    // An id of a page is not an address.
    const folder = dirOf(routeKey(target));
    const hasPages = folder === "" || [...index.routes.keys()].some((key) => isBelow(key, folder));
    return hasPages || makers === undefined ? null : `${makers.what} may make it`;
  }
  if ("route" in page) return whyMaybeThere(index, "", `/${page.route.replace(/^\//, "")}`);
  return whyMaybeThere(index, underDir(root, "index.md"), relativePath(root, page.path));
}

/** Fields of pages that name another page by its id. */
function* brokenIds(index: SiteIndex): Generator<Report> {
  const { idFields = [], idTarget } = index.model;
  for (const { path, brief } of idTarget === undefined || idFields.length === 0 ? [] : index.nodes.values()) {
    for (const field of idFields) {
      const id = brief.fields[field];
      if (typeof id !== "string" || id === "" || isListed(index, idTarget?.(path, id) ?? "")) continue;
      const message = `${quoted(field)} names ${quoted(id)}, but no page has this id; correct it or remove the field.`;
      yield { path, line: 1, column: 1, message, why: unseen.page };
    }
  }
}

export const brokenNavigation: SiteCheck = {
  id: "broken-navigation",
  severity: "error",
  *run(index) {
    yield* brokenIds(index);
    for (const [path, lists] of Map.groupBy(index.model.navigation, ({ file }) => file)) {
      const items = lists
        .flatMap((list) => list.items)
        .filter(({ target, isForeign }) => target !== null && !isForeign);
      const missing = items.filter(({ target }) => target !== null && !isListed(index, target));
      const isMost = missing.length >= entriesMin && missing.length * 2 > items.length;
      // The plugin instance before an id is not part of the written target.
      const named = missing.map(({ target, ...item }) => {
        const written = (target ?? "").replace(/^#[^:]*:/, "");
        const why = isMost ? mostAreUnlisted : (whyMaybeListed(index, target ?? "", written) ?? unseen.page);
        return { ...item, written, why };
      });
      for (const [why, some] of Map.groupBy(named, (item) => item.why)) {
        const [{ line, column }] = some as [(typeof some)[number]];
        if (why !== unseen.page && some.length >= entriesMin) {
          const message = `${some.length} of the ${items.length} entries of this file name no page of the repository.`;
          yield { path, line, column, message, why };
          continue;
        }
        for (const { written, line, column } of some) {
          const message = `The navigation lists ${quoted(written)}, but there is no such page; add it or remove the entry.`;
          yield { path, line, column, message, why };
        }
      }
    }
  },
};

const names = { image: "image", src: "file", include: "import" } as const;

export const missingFile: LinkCheck = {
  id: "missing-file",
  severity: "error",
  *run({ index, page, links }) {
    for (const { link, resolution } of links) {
      if (resolution.kind !== "missing") continue;
      if (link.kind !== "image" && link.kind !== "src" && link.kind !== "include") continue;
      const message = `The ${names[link.kind]} ${quoted(link.target)} does not exist; add the file or correct the path.`;
      const { line, column } = link;
      const why = whyMaybeThere(index, page.path, link.target) ?? unseen.file;
      yield { path: page.path, line, column, message, why };
    }
  },
};

/**
 * Off by default: most docs are read on their site. GitHub and GitLab show a file's links as paths of files: `/x` starts
 * at the top of the repository, and no extension is added.
 */
export const hostLink: OptionalCheck = {
  id: "host-link",
  severity: "warning",
  async *run(site, { signal }) {
    const { index, tree } = site;
    const { dir = "", has } = tree.repository?.() ?? {};
    const isThere = (path: string): boolean => {
      if (path !== dir && !isBelow(path, dir)) return has?.(path) === true;
      const inside = dir === "" ? path : path.slice(dir.length + 1);
      return index.files.has(inside) || index.folders().has(inside);
    };
    const pages = [...index.nodes.values()].filter(({ path, isPartial }) => !isPartial && pageExtension.test(path));
    for await (const { node, facts } of readFactsOf(site, pages, signal)) {
      const { path } = node;
      for (const link of facts.links) {
        const { target, kind, line, column, start, end } = link;
        const { path: written } = splitTarget(target);
        if (kind === "include" || written === "" || isExternal(target) || isTemplate(target)) continue;
        const onHost = joinPath(written.startsWith("/") ? "" : underDir(dir, dirOf(path)), written.replace(/^\//, ""));
        // Above the repository are the host's own pages, such as `../../issues`.
        if (onHost === null || onHost === ".." || isThere(onHost)) continue;
        const found = resolveTarget(index, path, target, kind);
        // The other checks report it.
        if (found.kind === "missing") continue;
        const text = found.kind === "page" || found.kind === "file" ? fileTarget(index, path, link, found.path) : null;
        const message = `${quoted(target)} names no file of the repository, so the link fails where its host shows this page; link to ${text === null ? "a file" : quoted(text)} instead.`;
        if (text === null) yield { path, line, column, message };
        else
          yield { path, line, column, message, fix: { title: `Link to ${text}`, edits: [{ path, start, end, text }] } };
      }
    }
  },
};

/** The relative path of a file, if the site leads from there to the same page. */
function fileTarget(index: SiteIndex, from: string, link: Link, to: string): string | null {
  const plain = encode(relativePath(dirOf(from), to)) + tailOf(link.target);
  const isSame = (text: string): boolean => {
    const found = resolveTarget(index, from, text, link.kind);
    return (found.kind === "page" || found.kind === "file") && found.path === to;
  };
  return [plain, `./${plain}`].find(isSame) ?? null;
}

/**
 * Pages that a change moved or deleted, to which no known link points but some unresolved link may: by the page's name,
 * in a form that only the build can resolve. A person has to check these.
 */
export function unfollowedLinks(base: Site, head: Site): Finding[] {
  const gone = new Set(
    [...base.index.nodes.values()].flatMap(({ path, isPartial }) =>
      isPartial || head.index.files.has(path) ? [] : [path],
    ),
  );
  if (gone.size === 0) return [];
  return [...linksThatMayMean(base.index, gone)].flatMap(([path, { sure, maybe }]): Finding[] => {
    if (sure > 0 || maybe === 0) return [];
    const count = `${maybe} ${maybe === 1 ? "link" : "links"}`;
    return [
      {
        check: "unfollowed-links",
        severity: "warning",
        path,
        line: 1,
        column: 1,
        message: `This page moved or was deleted. ${count} may lead to it and could not be updated; check them by hand.`,
        certainty: "unknown",
        why: `only the build of this ${base.framework} site can tell where they lead`,
      },
    ];
  });
}
