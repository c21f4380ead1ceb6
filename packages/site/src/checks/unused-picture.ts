import { resolveTarget } from "../links/resolve.ts";
import { isBelow } from "../links/route.ts";
import { targetsOf } from "../parse/page-brief.ts";
import type { SiteCheck } from "./check.ts";

const picture = /\.(?:png|jpe?g|gif|svg|webp|avif)$/i;

/** Off unless it is set: configuration, styles and code show pictures too, and none of them is read. */
export const unusedPicture: SiteCheck = {
  id: "unused-picture",
  severity: "warning",
  *run(index) {
    const { model, files, nodes } = index;
    const used = new Set<string>();
    const take = (from: string, target: string): void => {
      const found = resolveTarget(index, from, target, "image");
      if (found.kind === "file") used.add(found.path);
    };
    for (const { path, brief } of nodes.values()) {
      for (const { target } of targetsOf(brief)) if (picture.test(target.replace(/[?#].*$/, ""))) take(path, target);
      for (const value of Object.values(brief.fields))
        if (typeof value === "string" && picture.test(value)) take(path, value);
    }
    const dirs = [model.root, ...model.publicDirs];
    for (const path of files.keys()) {
      if (!picture.test(path) || used.has(path) || !dirs.some((dir) => isBelow(path, dir))) continue;
      yield { path, line: 1, column: 1, message: "No page shows this picture; remove it, or link to it." };
    }
  },
};
