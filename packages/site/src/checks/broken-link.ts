import { doubtsAbsolute } from "../links/base-path.ts";
import { nearestPage } from "../links/nearest.ts";
import { rewriteTarget } from "../links/rewrite.ts";
import { type LinkCheck, quoted } from "./check.ts";

export const brokenLink: LinkCheck = {
  id: "broken-link",
  severity: "error",
  *run({ index, page, links }) {
    for (const { link, resolution } of links) {
      if (resolution.kind !== "missing" || link.kind === "image" || link.kind === "src" || link.kind === "include")
        continue;
      const { path } = page;
      const { line, column, start, end, target } = link;
      if (target.startsWith("/") && doubtsAbsolute(index)) {
        const message = `${quoted(target)} links to a missing page of this repository.`;
        const why =
          "most absolute links of this site do: it may be served below a path that its configuration does not show";
        yield { path, line, column, message, severity: "warning", certainty: "likely", why };
        continue;
      }
      const near = nearestPage(index, page, target);
      if (near.kind === "none") {
        yield { path, line, column, message: `${quoted(target)} links to a missing page; correct or remove the link.` };
        continue;
      }
      const text = rewriteTarget(index, path, link, near.path, "file");
      if (near.kind === "likely" || text === null) {
        const route = index.nodes.get(near.path)?.route ?? near.path;
        yield {
          path,
          line,
          column,
          message: `${quoted(target)} links to a missing page; did you mean ${quoted(route)}?`,
        };
        continue;
      }
      yield {
        path,
        line,
        column,
        message: `${quoted(target)} links to a missing page; link to ${quoted(text)} instead.`,
        fix: { title: `Link to ${text}`, edits: [{ path, start, end, text }] },
      };
    }
  },
};
