import { hasAnchor } from "../links/anchors.ts";
import { resolveTarget } from "../links/resolve.ts";
import { routeKey } from "../links/route.ts";
import { isExternal } from "../links/target.ts";
import { readFactsOf } from "../parse/read-facts.ts";
import { createMovedAnchors, type MovedAnchor } from "../refactor/moved-anchor.ts";
import type { Site } from "../site.ts";
import type { Finding } from "../types.ts";
import { quoted } from "./check.ts";

interface Loss {
  path: string;
  moved: MovedAnchor | null;
  hash: string | null;
  links: number;
}

/**
 * Pages and anchors that a change removed though links of the new state still lead there, and no redirect catches them.
 * Each link is a finding of its own; this one names the cause. Only pages with such a finding are looked at.
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
