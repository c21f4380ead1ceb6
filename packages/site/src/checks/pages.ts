import type { FileChange } from "../git-history.ts";
import { hasAnchor } from "../links/anchors.ts";
import { resolveTarget } from "../links/resolve.ts";
import type { SiteIndex } from "../links/site-index.ts";
import { isBelow, isExternal, routeKey } from "../links/target.ts";
import { listedPages } from "../navigation/find-list.ts";
import { targetsOf } from "../parse/page-brief.ts";
import { readFactsOf } from "../parse/read-page-facts.ts";
import { createMovedAnchors, type MovedAnchor } from "../refactor/anchors.ts";
import { readScreenshots, screenshotsFile } from "../screenshots.ts";
import type { Site } from "../site.ts";
import { matchesGlob } from "../text/matches-glob.ts";
import type { Finding } from "../types.ts";
import type { OptionalCheck, SiteCheck } from "./check.ts";
import { quoted } from "./report.ts";

export const orphanPage: SiteCheck = {
  id: "orphan-page",
  severity: "warning",
  *run(index) {
    const { model } = index;
    if (!model.listsPages) return;
    const listed = listedPages(index);
    for (const node of index.nodes.values()) {
      if (node.isPartial || listed.has(node.path)) continue;
      if (model.isUnlisted?.(node.path, node.brief.fields) === true) continue;
      const message = `No navigation entry leads to this page (${quoted(node.route)}); list it, or mark it as hidden.`;
      yield { path: node.path, line: 1, column: 1, message };
    }
  },
};

// Nobody gives as many pages one address by mistake.
const clashesMin = 3;

export const duplicateRoute: SiteCheck = {
  id: "duplicate-route",
  severity: "error",
  *run(index) {
    const ofRoute = Map.groupBy(index.clashes, ({ route }) => route);
    for (const { path, route, holder } of index.clashes) {
      const message = `This page and ${quoted(holder)} both have the route ${quoted(route)}; only one is served. Rename one.`;
      const count = ofRoute.get(route)?.length ?? 0;
      const why = `${count + 1} pages seem to have this address: the configuration may say more than is read`;
      if (count < clashesMin) yield { path, line: 1, column: 1, message };
      else yield { path, line: 1, column: 1, message, why };
    }
  },
};

/** Off by default: versions and translations share titles. */
export const duplicateTitle: OptionalCheck = {
  id: "duplicate-title",
  severity: "warning",
  *run({ index: { nodes, model } }) {
    const seen = new Map<string, string>();
    for (const { path, title, isPartial } of nodes.values()) {
      if (isPartial || title === null) continue;
      const key = `${model.routeScope?.(path) ?? ""}\0${title.trim().toLowerCase()}`;
      const first = seen.get(key);
      if (first === undefined) seen.set(key, path);
      else {
        const message = `This page has the same title as ${quoted(first)} (${quoted(title)}); readers and search cannot tell them apart.`;
        yield { path, line: 1, column: 1, message };
      }
    }
  },
};

const picture = /\.(?:png|jpe?g|gif|svg|webp|avif)$/i;

/** Picture → the pages that show it. */
export function pagesOfPictures(index: SiteIndex): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  const take = (from: string, target: string): void => {
    const found = resolveTarget(index, from, target, "image");
    if (found.kind === "file") used.set(found.path, (used.get(found.path) ?? new Set()).add(from));
  };
  for (const { path, brief } of index.nodes.values()) {
    for (const { target } of targetsOf(brief)) if (picture.test(target.replace(/[?#].*$/, ""))) take(path, target);
    for (const value of Object.values(brief.fields))
      if (typeof value === "string" && picture.test(value)) take(path, value);
  }
  return used;
}

/** Off by default: configuration, styles and code also use images, and Emend does not read those. */
export const unusedPicture: OptionalCheck = {
  id: "unused-picture",
  severity: "warning",
  *run({ index }) {
    const { model, files } = index;
    const used = pagesOfPictures(index);
    const dirs = [model.root, ...model.publicDirs];
    for (const path of files.keys()) {
      if (!picture.test(path) || used.has(path) || !dirs.some((dir) => isBelow(path, dir))) continue;
      yield { path, line: 1, column: 1, message: "No page shows this picture; remove it, or link to it." };
    }
  },
};

/** Off by default: not every project translates at once. Without the repository's history, it reports nothing. */
export const staleTranslation: OptionalCheck = {
  id: "stale-translation",
  severity: "warning",
  async *run({ index, tree }, { signal }) {
    const { nodes, model } = index;
    const pairs = [...nodes.keys()].flatMap((source) =>
      (model.translationsOf?.(source) ?? []).filter((path) => nodes.has(path)).map((path) => ({ source, path })),
    );
    const changes = pairs.length === 0 ? undefined : await tree.history?.(signal);
    for (const { source, path } of pairs) {
      const theirs = changes?.get(source);
      const ours = changes?.get(path);
      if (theirs === undefined || ours === undefined || theirs.rank <= ours.rank) continue;
      const message = `This page translates ${quoted(source)}, which changed later (${when(theirs)}; this page: ${when(ours)}); translate what changed.`;
      yield { path, line: 1, column: 1, message };
    }
  },
};

/** On where screenshots are declared. Without the repository's history, it reports nothing but a wrong declaration. */
export const staleScreenshot: OptionalCheck = {
  id: "stale-screenshot",
  severity: "warning",
  isOn: ({ index }) => index.files.has(screenshotsFile),
  async *run({ index, tree }, { signal }) {
    const declared = await readScreenshots(tree);
    const at = { line: 1, column: 1 };
    if (declared.kind === "wrong") {
      const message = `The screenshots are not read: ${declared.problem}. Correct the file.`;
      yield { path: screenshotsFile, ...at, severity: "error", message };
    }
    if (declared.kind !== "read") return;
    const changes = declared.list.some(({ code }) => code.length > 0) ? await tree.history?.(signal) : undefined;
    for (const { file, code } of declared.list) {
      const ours = changes?.get(file);
      if (ours === undefined) continue;
      const newer = [...index.files.keys()].flatMap((path) => {
        const theirs = changes?.get(path);
        const isLater = theirs !== undefined && theirs.rank > ours.rank;
        return isLater && code.some((one) => matchesGlob(one, path)) ? [{ path, theirs }] : [];
      });
      const [latest, ...others] = newer.sort((a, b) => b.theirs.rank - a.theirs.rank);
      if (!latest) continue;
      const more = others.length === 0 ? "" : ` and ${others.length} more`;
      const message = `This screenshot is older than what it shows: ${quoted(latest.path)}${more} changed later (${when(latest.theirs)}; this file: ${when(ours)}). Take it again.`;
      yield { path: file, ...at, message };
    }
  },
};

function when({ commit, date }: FileChange): string {
  return commit === null ? "not committed yet" : `${date}, commit ${commit.slice(0, 9)}`;
}

interface Loss {
  path: string;
  moved: MovedAnchor | null;
  hash: string | null;
  links: number;
}

/**
 * Pages and anchors that a change removed although links still point there and no redirect exists. Each broken link is
 * its own finding; this one names the cause. Looks only at pages that have such a finding.
 */
export async function removedPages(base: Site, head: Site, suspects: ReadonlySet<string>): Promise<Finding[]> {
  const losses = new Map<string, Loss>();
  const movedTo = createMovedAnchors(base, head);
  const nodes = [...suspects].flatMap((path) => head.index.nodes.get(path) ?? []);
  for await (const { node, facts } of readFactsOf(head, nodes)) {
    for (const link of facts.links) {
      if (isExternal(link.target) || link.kind === "image" || link.kind === "src" || link.kind === "include") continue;
      const before = resolveTarget(base.index, node.path, link.target, link.kind);
      if (before.kind !== "page" || before.via === "self") continue;
      const now = resolveTarget(head.index, node.path, link.target, link.kind);
      const isPageLost = now.kind === "missing";
      const isAnchorLost =
        now.kind === "page" &&
        now.hash !== null &&
        before.hash !== null &&
        hasAnchor(base.index, before.path, before.hash) &&
        !hasAnchor(head.index, now.path, now.hash);
      if (!isPageLost && !isAnchorLost) continue;
      const hash = isPageLost ? null : before.hash;
      const key = `${before.path}#${hash ?? ""}`;
      const loss = losses.get(key) ?? { path: before.path, hash, links: 0, moved: movedTo(node, link) };
      losses.set(key, { ...loss, links: loss.links + 1 });
    }
  }
  return [...losses.values()].map(({ path, hash, links, moved }): Finding => {
    const count = `${links} link${links === 1 ? " still leads" : "s still lead"} there`;
    const what =
      hash === null
        ? `This page (${quoted(`/${routeKey(base.index.nodes.get(path)?.route ?? path)}`)})`
        : `The anchor ${quoted(`#${hash}`)}`;
    const cure =
      moved !== null
        ? `it is at ${quoted(`${moved.path}#${moved.id}`)} now: update the links`
        : hash === null
          ? "add a redirect or update the links"
          : "keep the id or update the links";
    return {
      check: hash === null ? "removed-page" : "removed-anchor",
      severity: "warning",
      path,
      line: 1,
      column: 1,
      message: `${what} was removed, but ${count}; ${cure}.`,
    };
  });
}
