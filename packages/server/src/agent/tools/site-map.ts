import { checkSite, findPage, type NavList, type Page } from "@emend/site";
import { Type } from "typebox";
import { defineTool } from "./tool.ts";

export const siteMapTool = defineTool({
  name: "site_map",
  description:
    "Shows the site with the edits so far: the groups of its navigation, what is wrong with them (pages that none lists, entries without a page), and every page as path, route and title. Give `find` to look up one page by path, route or exact title.",
  input: Type.Object(
    {
      find: Type.Optional(Type.String({ minLength: 1 })),
      after: Type.Optional(Type.String({ description: "List only pages whose path sorts after this one" })),
    },
    { additionalProperties: false },
  ),
  async run({ site }, { find, after = "" }, signal) {
    const head = await site.head(signal);
    if (find !== undefined) {
      const search = findPage(head, find);
      if (search.kind === "found") return { kind: "answer", text: `found:\n${describe(search.page)}` };
      if (search.kind === "ambiguous")
        return { kind: "answer", text: `several:\n${search.pages.map(describe).join("\n")}` };
      return { kind: "answer", text: ["none; nearest:", ...search.nearest.map(describe)].join("\n") };
    }
    const pages = head.pages.filter((page) => page.path > after).sort((a, b) => (a.path < b.path ? -1 : 1));
    const findings = after === "" ? (await checkSite(head)).filter((finding) => isAboutNavigation(finding.check)) : [];
    const lines = [
      `framework: ${head.framework}`,
      ...(after === "" ? head.navigation.map(describeList) : []),
      ...findings.map((finding) => `${finding.severity} ${finding.path}:${finding.line}: ${finding.message}`),
      ...pages.map(describe),
    ];
    return { kind: "answer", text: lines.join("\n"), more: "ask with after: the last path shown" };
  },
});

function describe(page: Page): string {
  return `${page.path}\t${page.route}\t${page.title ?? ""}`;
}

function describeList({ file, trail, items }: NavList): string {
  const targets = items.flatMap((item) => (item.target === null ? [] : [item.target]));
  return `navigation ${file} ${trail.join(" › ")}: ${targets.join(", ")}`;
}

function isAboutNavigation(check: string): boolean {
  return check.includes("nav") || check.includes("orphan");
}
