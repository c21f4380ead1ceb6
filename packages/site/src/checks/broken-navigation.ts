import { pageOfTarget } from "../navigation/listed-pages.ts";
import { quoted, type SiteCheck } from "./check.ts";

export const brokenNavigation: SiteCheck = {
  id: "broken-navigation",
  severity: "error",
  *run(index) {
    for (const list of index.model.navigation) {
      for (const { target, isForeign, line, column } of list.items) {
        if (target === null || isForeign || pageOfTarget(index, target) !== null) continue;
        if (index.files.has(target)) continue;
        if (index.redirectFor(target) !== null) continue;
        // Where targets are ids, the instance they belong to is no part of what is written.
        const written = target.replace(/^#[^:]*:/, "");
        const message = `The navigation lists ${quoted(written)}, but there is no such page; add it or remove the entry.`;
        yield { path: list.file, line, column, message };
      }
    }
  },
};
