import { listedPages } from "../navigation/listed-pages.ts";
import { quoted, type SiteCheck } from "./check.ts";

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
