import { linksThatMayMean } from "../links/unjudged.ts";
import type { Site } from "../site.ts";
import type { Finding } from "../types.ts";

/**
 * Pages that a change moved or deleted, to which no link was known to lead though some may: by their name, in a form that
 * only the site's build can read. Nothing could follow the page, and a person has to look.
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
