import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkSite, folderTree, openSite } from "@emend/site";
import { expect, test } from "vitest";

const sample = join(import.meta.dirname, "..", "sample");
const pages = readdirSync(sample, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".mdx") && !path.startsWith("snippets/"))
  .map((path) => ({ path, text: readFileSync(join(sample, path), "utf8") }));

test("the sample has 24 pages and the planted faults, no more and no less", async () => {
  const site = await openSite(folderTree(sample));
  const findings = await checkSite(site);
  expect(site).toMatchObject({ framework: "mintlify" });
  expect(site.pages).toHaveLength(24);
  expect(findings.map(({ check }) => check).sort()).toEqual([
    "broken-anchor",
    ...Array(5).fill("broken-link"),
    "orphan-page",
  ]);
  expect(findings.filter(({ fix }) => fix !== undefined)).toHaveLength(3);
});

test("eleven links in six forms lead to guides/auth", () => {
  const forms: Record<string, RegExp> = {
    relative: /\]\((?:\.{0,2}\/)?(?:guides\/)?auth\)/g,
    route: /\]\(\/guides\/auth\)/g,
    extension: /\]\([^)\s]*auth\.mdx\)/g,
    anchor: /\]\(\/guides\/auth#[\w-]+\)/g,
    definition: /^\[\w+\]: \/guides\/auth$/gm,
    component: /href="\/guides\/auth"/g,
  };
  const counts = Object.entries(forms).map(([form, pattern]) => {
    const found = pages.flatMap(({ text }) => [...text.matchAll(pattern)]);
    return [form, found.filter(([match]) => form !== "relative" || !match.includes("(/")).length];
  });
  expect(Object.fromEntries(counts)).toEqual({
    relative: 3,
    route: 2,
    extension: 1,
    anchor: 2,
    definition: 1,
    component: 2,
  });
});

test("the term is in prose, a heading, capitals, a table, front matter and code", () => {
  const all = pages.map(({ text }) => text).join("\n");
  expect(all).toMatch(/^#+ .*API token/m);
  expect(all).toMatch(/API TOKEN/);
  expect(all).toMatch(/^\|.*API token.*\|$/m);
  expect(all).toMatch(/^description: ".*API token/m);
  expect(all).toMatch(/^# .*API token/m);
  expect(all).toMatch(/`[^`\n]*API token[^`\n]*`/);
  expect(all).toMatch(/`[^`\n]*api token[^`\n]*`/);
});
