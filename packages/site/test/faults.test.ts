import { describe, expect, it } from "vitest";
import { forms, tallyOwn } from "../bench/plant.ts";
import { checkSite, type Finding, openSite } from "../src/index.ts";
import { type Files, memoryTree } from "./support/memory-tree.ts";

/** The findings of a site, without notes. */
async function reported(files: Files): Promise<string[]> {
  const findings = await checkSite(await openSite(memoryTree(files)));
  return findings
    .filter(({ severity }) => severity !== "info")
    .map(({ check, path, line }) => `${check} ${path}:${line}`);
}

/** The target of a broken link. */
function targetOf({ message }: Finding): string {
  return /`([^`]+)`/.exec(message)?.[1] ?? "";
}

const summary = "# Table of contents\n\n* [Home](README.md)\n* [Api](api.md)\n";

describe("anchors that a builder makes", () => {
  it("of an API description in GitBook are not judged", async () => {
    const api =
      '# Api\n\n{% openapi src="./api.yaml" path="/users" method="get" %}\n[api.yaml](api.yaml)\n{% endopenapi %}\n';
    const files = { "SUMMARY.md": summary, "README.md": "# Home\n\n[users](api.md#get-users)\n", "api.yaml": "x" };
    expect(await reported({ ...files, "api.md": api })).toEqual([]);
    expect(await reported({ ...files, "api.md": "# Api\n" })).toEqual(["broken-anchor README.md:3"]);
  });

  it("of what mkdocstrings writes in MkDocs are not judged", async () => {
    const files = {
      "mkdocs.yml": "site_name: Acme\n",
      "docs/index.md": "# A\n\n[b](api.md#acme.Client) [c](other.md#acme.Client)\n",
      "docs/api.md": "::: acme\n",
      "docs/other.md": "# Other\n",
    };
    expect(await reported(files)).toEqual(["broken-anchor docs/index.md:3"]);
  });

  it.each([
    ["", ["broken-navigation mkdocs.yml:4"]],
    ["hooks: [made.py]\n", []],
    ["plugins: [gen-files]\n", []],
  ])("and pages that code of a MkDocs project makes are not judged: %j", async (more, found) => {
    const files = {
      "mkdocs.yml": `site_name: Acme\nnav:\n  - index.md\n  - changelog.md\n${more}`,
      "docs/index.md": "# A\n",
    };
    expect(await reported(files)).toEqual(found);
  });

  it("are in small letters in GitBook", async () => {
    const home = "# Home\n\n[a](api.md#The-users)\n\n[b](api.md#the-users)\n";
    const files = { "SUMMARY.md": summary, "README.md": home, "api.md": "# Api\n\n## The users\n" };
    expect(await reported(files)).toEqual(["broken-anchor README.md:3"]);
  });

  it("of footnotes and attribute lists in MkDocs are known", async () => {
    const page =
      '# Home\n\nText[^1]. [a](#fn:1) [b](#own) [c](#inline) [d](#none)\n\n[^1]: Note.\n\n## Title { id="own" }\n\nText **bold**{ #inline }.\n';
    expect(await reported({ "mkdocs.yml": "site_name: x\n", "docs/index.md": page })).toEqual([
      "broken-anchor docs/index.md:3",
    ]);
  });
});

describe("faults", () => {
  it("finds an unclosed code block, but not one that ends with its list", async () => {
    const files = { "mkdocs.yml": "site_name: x\n" };
    expect(await reported({ ...files, "docs/index.md": "# Home\n\n```sh\nls\n\nText\n" })).toEqual([
      "unclosed-fence docs/index.md:3",
    ]);
    expect(await reported({ ...files, "docs/index.md": "# Home\n\n- a\n\n  ```sh\n  ls\n\nText\n" })).toEqual([]);
  });

  it("finds a file that VitePress shows and that is not there", async () => {
    const page = "# Home\n\n<<< @/snippets/a.ts#region{1,2} [title]\n\n<<< ./snippets/none.ts\n\n<<< @/none.ts\n";
    const files = { "docs/.vitepress/config.ts": "export default {};\n", "docs/snippets/a.ts": "x" };
    expect(await reported({ ...files, "docs/index.md": page })).toEqual([
      "missing-file docs/index.md:5",
      "missing-file docs/index.md:7",
    ]);
  });

  it("finds broken absolute links in MkDocs and GitBook, below the site's own address", async () => {
    const page = "# Home\n\n[a](/start/) [b](/none/) [c](/base/start/) [d](/base/none/)\n";
    const files = { "docs/index.md": page, "docs/start.md": "# Start\n" };
    const address = (url: string) => ({ ...files, "mkdocs.yml": `site_name: x\nsite_url: ${url}\n` });
    const places = async (all: Files) =>
      (await checkSite(await openSite(memoryTree(all)))).filter(({ check }) => check === "broken-link").map(targetOf);
    expect(await places(address("https://example.org/"))).toEqual(["/none/", "/base/start/", "/base/none/"]);
    // Other paths on the host may be other sites.
    expect(await places(address("https://example.org/base/"))).toEqual(["/base/none/"]);
    const book = { "SUMMARY.md": summary, "README.md": "# Home\n\n[a](/api) [b](/none)\n", "api.md": "# Api\n" };
    expect(await places(book)).toEqual(["/none"]);
  });
});

describe("pages", () => {
  it("of a blog need no navigation entry in MkDocs", async () => {
    const config = "site_name: x\nplugins:\n  - blog\nnav:\n  - index.md\n";
    const files = {
      "docs/index.md": "# Home\n",
      "docs/blog/posts/first.md": "# First\n",
      "docs/other.md": "# Other\n",
    };
    expect(await reported({ ...files, "mkdocs.yml": config })).toEqual(["orphan-page docs/other.md:1"]);
  });

  it("of Docusaurus are accepted at both addresses where the last version is computed", async () => {
    const config = (last: string) =>
      `export default { presets: [["classic", { docs: { path: "docs", lastVersion: ${last} } }]] };\n`;
    const files = {
      "versions.json": '["1.0"]\n',
      "docs/new.md": "# New\n\n[a](/docs/new) [b](/docs/next/new) [c](/docs/old) [d](/docs/1.0/old) [e](/docs/none)\n",
      "versioned_docs/version-1.0/old.md": "# Old\n",
    };
    const places = async (last: string) =>
      (await checkSite(await openSite(memoryTree({ ...files, "docusaurus.config.js": config(last) }))))
        .filter(({ check }) => check === "broken-link")
        .map(targetOf);
    expect(await places('isDev ? "current" : undefined')).toEqual(["/docs/none"]);
    expect(await places('"current"')).toEqual(["/docs/next/new", "/docs/old", "/docs/none"]);
  });
});

describe("planted faults", () => {
  it.each(forms)("are all found in a $name site, and nothing else is", async (form) => {
    const { planted, found, others, missed } = await tallyOwn(form, 1);
    expect({ found, others, missed }).toEqual({ found: planted, others: 0, missed: [] });
    expect(planted).toBeGreaterThanOrEqual(50);
  });
});
