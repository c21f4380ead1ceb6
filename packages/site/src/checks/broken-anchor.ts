import { anchorFit, anchorsOf } from "../links/anchors.ts";
import { nearestAnchor } from "../links/nearest.ts";
import { type LinkCheck, quoted } from "./check.ts";

export const brokenAnchor: LinkCheck = {
  id: "broken-anchor",
  severity: "error",
  *run({ index, page, links }) {
    for (const { link, resolution } of links) {
      if (resolution.kind !== "page" || resolution.hash === null) continue;
      // A partial's own anchors are those of the pages that include it.
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
          ? "correct the fragment or give the heading that id"
          : near.isCertain
            ? `use \`#${near.id}\` instead`
            : `did you mean \`#${near.id}\`?`;
      if (fit === "loose") {
        const message = `No heading on ${where} has the id ${quoted(resolution.hash)} to the letter; ${hint.replace(/([^?])$/, "$1.")}`;
        const why = `the rule by which ${index.model.framework} makes ids is known in part`;
        yield { path, line, column, message, severity: "warning", certainty: "likely", why };
        continue;
      }
      const message = `No heading on ${where} has the id ${quoted(resolution.hash)}; ${hint.replace(/([^?])$/, "$1.")}`;
      // Escapes make the source longer than the target: then the fragment's place is not certain.
      const isPlain = link.end - link.start === target.length;
      if (near?.isCertain !== true || !isPlain) yield { path, line, column, message };
      else {
        const edits = [{ path, start, end: link.end, text: near.id }];
        yield { path, line, column, message, fix: { title: `Link to #${near.id}`, edits } };
      }
    }
  },
};
