import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Files, memoryTree } from "../test/support/memory-tree.ts";
import { checkIds, settingsSchema } from "./check-settings.ts";
import { checkSite } from "./check-site.ts";
import { compareSites } from "./compare-sites.ts";
import { externalLinks } from "./editor-queries.ts";
import { openSite } from "./open-site.ts";

const page = "---\ntitle: Same\nimage: ./cover.png\n---\n\n![](x.png)\n\n[a](missing.md)\n";
const files: Files = { "a.md": page, "b.md": "# Same\n", "x.png": "", "cover.png": "", "y.png": "" };

async function found(checks: unknown): Promise<string[]> {
  const settings = typeof checks === "string" ? checks : JSON.stringify({ checks });
  const findings = await checkSite(await openSite(memoryTree({ ...files, ".emend/check.json": settings })));
  return findings.map(({ check, severity, path }) => `${severity} ${check} ${path}`);
}

describe("settings of the checks", () => {
  it("sets severities, turns checks off and turns optional ones on", async () => {
    expect(await found({})).toEqual(["warning image-alt a.md", "error broken-link a.md"]);
    expect(await found({ "image-alt": "error", "broken-link": "off" })).toEqual(["error image-alt a.md"]);
    expect(await found({ "image-alt": "off", "unused-picture": "warning", "duplicate-title": "info" })).toEqual([
      "error broken-link a.md",
      "info duplicate-title b.md",
      "warning unused-picture y.png",
    ]);
  });

  it("finds links that work on the site but not on the repository's host, and offers the file", async () => {
    const links = ["/guides/start", "guides/start#go", "/logo.png", "guides/start.md", "guides/", "#a"];
    const start = "# Start\n\n## Go\n\n[i](/index) ![l](/logo.png)\n";
    const site = {
      "docs/docs.json": '{"name": "D", "navigation": {"pages": ["index", "guides/start"]}}',
      "docs/index.md": `# A\n\n${links.map((link) => `[x](${link})\n`).join("\n")}`,
      "docs/guides/start.md": start,
      "docs/logo.png": "",
      ".emend/check.json": '{"checks": {"host-link": "error"}}',
    };
    const findings = await checkSite(await openSite(memoryTree(site), { docsDir: "docs" }));
    expect(findings.map(({ check, path, line, fix }) => [check, path, line, fix?.edits[0]?.text])).toEqual([
      ["host-link", "docs/guides/start.md", 5, "../index.md"],
      ["host-link", "docs/guides/start.md", 5, "../logo.png"],
      ["host-link", "docs/index.md", 3, "guides/start.md"],
      ["host-link", "docs/index.md", 5, "guides/start.md#go"],
      ["host-link", "docs/index.md", 7, "logo.png"],
    ]);
  });

  it.each([
    ["{", "it is not valid JSON"],
    ["[]", "it must be an object"],
    ['{"check": {}}', 'no setting "check"'],
    ['{"dictionary": 1}', "must be the path of a file"],
    ['{"dictionary": "words.txt"}', "names words.txt, which does not exist"],
    ['{"checks": []}', "must be an object of checks"],
    ['{"checks": {"image-alts": "off"}}', 'no check "image-alts"'],
    ['{"checks": {"image-alt": "none"}}', "must be one of error, warning, info, off"],
  ])("says what is wrong, and uses none of it: %s", async (text, problem) => {
    expect(await found(text)).toEqual([
      "error check-settings .emend/check.json",
      "warning image-alt a.md",
      "error broken-link a.md",
    ]);
    const site = await openSite(memoryTree({ ...files, ".emend/check.json": text }));
    expect((await checkSite(site)).map(({ message }) => message)[0]).toContain(problem);
  });

  it("lists the addresses outside of a site that somebody could ask about, each once", async () => {
    const page =
      "[a](https://a.dev/x#y) [b](https://a.dev/x) [c](http://localhost:3000) [d](https://example.com) [e](https://10.0.0.1/)\n\n[f](https://a.dev/{id}) <https://b.dev> [g](mailto:a@b.dev) [h](h.md) ![i](https://c.dev/i.png)\n";
    const links = await externalLinks(await openSite(memoryTree({ "a.md": page, "h.md": "[a](https://a.dev/x)\n" })));
    expect(links.map(({ url, path, line }) => `${path}:${line} ${url}`)).toEqual([
      "a.md:1 https://a.dev/x",
      "a.md:3 https://c.dev/i.png",
    ]);
  });

  it("lets no change turn off the checks that judge it", async () => {
    const base = await openSite(memoryTree({ "a.md": "# A\n" }));
    const off = '{"checks": {"broken-link": "off"}}';
    const head = await openSite(memoryTree({ "a.md": "# A\n\n[b](missing.md)\n", ".emend/check.json": off }));
    expect((await compareSites(base, head)).introduced.map(({ check }) => check)).toEqual(["broken-link"]);
  });

  it("has every check in its schema, in the published copy (-u updates it) and in the docs", async () => {
    const published = join(import.meta.dirname, "../../../docs/check.schema.json");
    await expect(`${JSON.stringify(settingsSchema, null, 2)}\n`).toMatchFileSnapshot(published);
    expect(Object.keys(settingsSchema.properties.checks.properties)).toEqual(checkIds);
    const docs = readFileSync(new URL("../../../docs/checks.md", import.meta.url), "utf8");
    expect(checkIds.filter((id) => !docs.includes(`\`${id}\``))).toEqual([]);
  });
});
