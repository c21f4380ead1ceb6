import { describe, expect, it } from "vitest";
import { checkSite, compareSites, fixLinks, movePage, openSite, outsideOf, tallyLinks } from "../src/index.ts";
import { editsOf, type Files, memoryTree } from "./support/memory-tree.ts";

function starlight(base: string): Files {
  const links = ["a", "b", "c", "d"].map((name) => `[${name}](/acme/guides/${name}/)`).join(" ");
  const files: Record<string, string> = {
    "astro.config.mjs": `import starlight from '@astrojs/starlight';
export default defineConfig({
  ${base}
  integrations: [starlight({ title: 'Acme' })],
});
`,
    "src/content/docs/index.md": `---\ntitle: Home\n---\n\n${links} [gone](/acme/guides/none-such/)\n`,
  };
  for (const name of ["a", "b", "c", "d"]) files[`src/content/docs/guides/${name}.md`] = `---\ntitle: ${name}\n---\n`;
  return files;
}

describe("a base path that the configuration computes", () => {
  it("is taken from the links, which stay as they are and follow a page", async () => {
    const tree = memoryTree(starlight("base: process.env.BASE,"));
    const site = await openSite(tree);
    expect((await checkSite(site)).map(({ check, message }) => `${check} ${message}`)).toEqual([
      "broken-link `/acme/guides/none-such/` links to a missing page; correct or remove the link.",
    ]);
    expect(editsOf(await fixLinks(site)).size).toBe(0);
    const after = tree.with(editsOf(await movePage(site, { from: "guides/a", to: "intro/a" })));
    expect(after.text("src/content/docs/index.md")).toContain("[a](/acme/intro/a/)");
    expect(after.text("astro.config.mjs")).toContain("'/guides/a': '/acme/intro/a'");
  });

  it("leaves absolute links unjudged where no link shows it", async () => {
    const files = starlight("base: process.env.BASE,");
    const home = "---\ntitle: Home\n---\n\n[x](/somewhere/guide/a/) [y](/else/b/)\n";
    const site = await openSite(memoryTree({ ...files, "src/content/docs/index.md": home }));
    expect(await checkSite(site)).toEqual([]);
    expect(await tallyLinks(site)).toEqual({
      links: 2,
      unjudged: 2,
      reasons: { "below a base path that the configuration computes": 2 },
    });
  });
});

it("offers no fix where most absolute links link to a missing page, and says why", async () => {
  const links = Array.from({ length: 8 }, (_, i) => `[l${i}](/help/topic-${i}/a)`).join(" ");
  const site = await openSite(
    memoryTree({
      ...starlight(""),
      "src/content/docs/index.md": `---\ntitle: Home\n---\n\n${links} [c](/guides/c/)\n`,
    }),
  );
  const findings = await checkSite(site);
  expect(findings).toHaveLength(8);
  for (const finding of findings) {
    expect(finding).toMatchObject({
      severity: "warning",
      certainty: "likely",
      why: expect.stringContaining("most absolute"),
    });
    expect(finding.fix).toBeUndefined();
  }
  expect(editsOf(await fixLinks(site)).size).toBe(0);
});

it("reports a moved folder whose links were not updated, for any number of links", async () => {
  const links = Array.from({ length: 9 }, (_, i) => `[l${i}](/guides/p${i}/)`).join(" ");
  const files: Record<string, string> = { ...(starlight("") as Record<string, string>) };
  files["src/content/docs/index.md"] = `---\ntitle: Home\n---\n\n${links}\n`;
  const moved = { ...files };
  for (let i = 0; i < 9; i++) {
    files[`src/content/docs/guides/p${i}.md`] = "---\ntitle: P\n---\n";
    moved[`src/content/docs/p${i}.md`] = "---\ntitle: P\n---\n";
  }
  const { introduced } = await compareSites(await openSite(memoryTree(files)), await openSite(memoryTree(moved)));
  const broken = introduced.filter(({ check }) => check === "broken-link");
  expect(broken).toHaveLength(9);
  expect(broken.every(({ severity, certainty }) => severity === "error" && certainty === undefined)).toBe(true);
});

it("warns of an anchor that fits by its letters alone, with the exact one and without a fix", async () => {
  const site = await openSite(
    memoryTree({ "SUMMARY.md": "* [Home](README.md)\n", "README.md": "# Home\n\n## Api Keys\n\n[a](#apikeys)\n" }),
  );
  expect(await checkSite(site)).toEqual([
    expect.objectContaining({
      check: "broken-anchor",
      severity: "warning",
      certainty: "likely",
      message: "No heading on this page has the id `apikeys` to the letter; use `#api-keys` instead.",
    }),
  ]);
});

it("counts links that only the build can judge, refuses a move that could follow none, and flags one made by hand", async () => {
  const tree = memoryTree({
    "content/_index.md":
      '# Home\n\n[a]({{site.baseurl}}/guides/keys) [b](<{{% ref "guides/keys.md" %}}>) [c](./other.md)\n',
    "content/other.md": "# Other\n",
    "content/guides/keys.md": "# Keys\n",
  });
  const base = await openSite(tree);
  expect(await movePage(base, { from: "content/guides/keys", to: "content/keys" })).toEqual({
    kind: "refused",
    reason: expect.stringMatching(/^2 of the 3 links .* \(most are written by a template\).*nothing was changed/),
  });
  const moved = { "content/guides/keys.md": null, "content/keys.md": Buffer.from("# Keys\n") };
  const head = await openSite(tree.with(new Map(Object.entries(moved))));
  const { introduced, tally } = await compareSites(base, head);
  expect(tally).toEqual({ links: 3, unjudged: 2, reasons: { "written by a template": 2 } });
  expect(introduced).toEqual([
    expect.objectContaining({
      check: "unfollowed-links",
      certainty: "unknown",
      message: expect.stringContaining("2 links"),
    }),
  ]);
});

it("chooses the site with most pages and says what lies outside", async () => {
  const files: Record<string, string> = {};
  for (const [language, pages] of [
    ["az", 1],
    ["en", 4],
    ["pt", 2],
  ] as const) {
    files[`docs/${language}/mkdocs.yml`] = "site_name: Acme\n";
    for (let i = 0; i < pages; i++) files[`docs/${language}/docs/page-${i}.md`] = "# Page\n";
  }
  const site = await openSite(memoryTree({ ...files, "examples/big/mkdocs.yml": "site_name: Example\n" }));
  expect(site.root).toBe("docs/en/docs");
  expect(outsideOf(site)).toEqual({
    documents: 3,
    sites: [
      { framework: "mkdocs", root: "docs/pt/docs", pages: 2 },
      { framework: "mkdocs", root: "docs/az/docs", pages: 1 },
    ],
  });
});

it("is certain of a link to a page that the change itself deletes, also where absolute links are doubtful", async () => {
  const links = Array.from({ length: 8 }, (_, i) => `[l${i}](/help/topic-${i}/a)`).join(" ");
  const tree = memoryTree({
    ...starlight(""),
    "src/content/docs/index.md": `---\ntitle: Home\n---\n\n${links} [c](/guides/c/)\n`,
  });
  const head = tree.with(new Map([["src/content/docs/guides/c.md", null]]));
  const { introduced } = await compareSites(await openSite(tree), await openSite(head));
  const [link] = introduced.filter(({ check }) => check === "broken-link");
  expect(link).toMatchObject({ severity: "error", path: "src/content/docs/index.md" });
  expect(link?.certainty).toBeUndefined();
});

describe("a finding is certain only if", () => {
  async function findings(files: Files): Promise<string[]> {
    const found = await checkSite(await openSite(memoryTree(files)));
    return found
      .filter(({ severity }) => severity !== "info")
      .map((one) => `${one.check} ${one.certainty ?? "certain"} ${one.why ?? ""}`.trim());
  }
  const config = `import starlight from '@astrojs/starlight';\nexport default { integrations: [starlight({ title: 'A' })] };\n`;
  const docs = "src/content/docs";
  const page = (body: string): string => `---\ntitle: A\n---\n\n${body}\n`;

  it("the page has no component that may draw headings", async () => {
    const of = (body: string): Promise<string[]> =>
      findings({ "astro.config.mjs": config, [`${docs}/a.mdx`]: page("[b](/b/#x)"), [`${docs}/b.mdx`]: page(body) });
    expect(await of("<Card>text</Card>")).toEqual(["broken-anchor certain"]);
    expect(await of("<Rules />")).toEqual([
      "broken-anchor likely `<Rules>` may give the page more ids, and only the build can tell",
    ]);
  });

  it("no hook and no plugin of the project may draw headings, and no translation has the heading", async () => {
    const files = { "docs/a.md": "# A\n\n[b](b.md#x)\n", "docs/b.md": "# B\n", "mkdocs.yml": "site_name: x\n" };
    expect(await findings(files)).toEqual(["broken-anchor certain"]);
    expect(await findings({ ...files, "mkdocs.yml": "site_name: x\nhooks:\n  - h.py\n" })).toEqual([
      "broken-anchor likely hooks of `mkdocs.yml` may give the page more ids, and only the build can tell",
    ]);
    const french = { "docs/a.fr.md": "# A\n\n[b](b.md#y)\n", "docs/b.fr.md": "# B\n\n## Y\n" };
    expect(await findings({ ...files, ...french, "docs/a.md": "# A\n" })).toEqual([
      "broken-anchor likely `docs/b.fr.md` has it, and the site may lead there in its language",
    ]);
  });

  it("its folder has pages, or only one page can be meant", async () => {
    const of = (links: string): Promise<string[]> =>
      findings({
        "docs/a.md": links,
        "docs/in/b.md": "# B\n",
        "mkdocs.yml": "site_name: x\nsite_url: https://x.org/\n",
      });
    const absent = (folder: string): string =>
      `broken-link likely this repository has no page in \`${folder}/\`, so the build or another site may serve it`;
    expect(await of("[x](in/c.md) [y](none.md)")).toEqual(["broken-link certain", "broken-link certain"]);
    expect(await of("[x](far/c.md)")).toEqual([absent("docs/far")]);
    expect(await of("[x](far/b.md)")).toEqual(["broken-link certain"]);
    expect(await of("[x](/in/c/) [y](/none/)")).toEqual(["broken-link certain", "broken-link certain"]);
    expect(await of("[x](/far/c/)")).toEqual([absent("/far")]);
    expect(await of("[x](/in/)")).toEqual([
      "broken-link likely the folder has pages but no front page: the build may make one",
    ]);
    expect(await of("[x](../../../far/c.md)")).toEqual([
      "broken-link likely it leads above this repository, where another site may be",
    ]);
  });

  it("it is about a page, and not about what other programs make, serve or list", async () => {
    const files = {
      "docs/a.md": "![x](x.png) [pdf](x.pdf)\n",
      "mkdocs.yml":
        "site_name: x\nnav: [a.md, none.md]\nplugins:\n  - redirects:\n      redirect_maps:\n        old.md: gone.md\n",
    };
    expect((await findings(files)).toSorted()).toEqual([
      "broken-link likely the build may make or fetch this file",
      "broken-navigation likely the build may make this page",
      "broken-redirect likely the host or another site may serve this address",
      "missing-file likely the build may make or fetch this file",
    ]);
    const loop = files["mkdocs.yml"].replace("gone.md", "older.md\n        older.md: old.md");
    expect(await findings({ ...files, "mkdocs.yml": loop })).toContain("broken-redirect certain");
  });

  it("or if a change is the first to break it", async () => {
    const config = "site_name: x\nnav: [a.md, in/b.md]\n";
    const open = async (files: Files) => openSite(memoryTree({ "mkdocs.yml": config, "docs/a.md": "# A\n", ...files }));
    const between = async (before: Files, after: Files): Promise<string[]> => {
      const { introduced } = await compareSites(await open(before), await open(after));
      return introduced.map(({ check, certainty = "certain" }) => `${check} ${certainty}`);
    };
    const text = "![x](x.png) [b](in/b.md)\n";
    const before = { "docs/a.md": text, "docs/x.png": "x", "docs/in/b.md": "# B\n" };
    expect((await between(before, { "docs/a.md": `More. ${text}` })).toSorted()).toEqual([
      "broken-link certain",
      "broken-navigation certain",
      "missing-file certain",
      "removed-page certain",
    ]);
    // A site that has such links already may have such pages.
    const far = (names: string): Files => ({ "docs/in/b.md": "# B\n", "docs/a.md": `${names}\n` });
    expect(await between(far(""), far("[x](far/x.md)"))).toEqual(["broken-link certain"]);
    expect(await between(far("[x](far/x.md)"), far("[x](far/x.md) [y](far/y.md)"))).toEqual(["broken-link likely"]);
  });

  it("git does not ignore what is missing", async () => {
    const files = {
      "astro.config.mjs": config,
      [`${docs}/a.mdx`]: page("[b](/rules/b/)"),
      [`${docs}/rules/c.md`]: page(""),
    };
    expect(await findings(files)).toEqual(["broken-link certain"]);
    expect(await findings({ ...files, ".gitignore": `/${docs}/rules/\n` })).toEqual([
      "broken-link likely `.gitignore` names it, so the build may make it",
    ]);
    expect(await findings({ ...files, [`${docs}/rules/.gitignore`]: "*.mdx\n" })).toEqual([
      "broken-link likely `.gitignore` names it, so the build may make it",
    ]);
  });

  it("no file of the host names the address, and no redirects are computed", async () => {
    const files = { "astro.config.mjs": config, [`${docs}/a.mdx`]: page("[b](/old)") };
    expect(await findings({ ...files, "vercel.json": '{ "redirects": [{ "source": "/old" }] }' })).toEqual([
      "broken-link likely `vercel.json` names this address, so a plugin or the host may serve it",
    ]);
    const computed = config.replace("integrations", "redirects: readAll(), integrations");
    expect(await findings({ ...files, "astro.config.mjs": computed })).toEqual([
      "broken-link likely `astro.config.mjs` computes its redirects, so the address may lead elsewhere",
    ]);
  });

  it("most entries of a navigation file have a page; otherwise the file is reported once", async () => {
    const pages = Object.fromEntries(["a", "b", "c"].map((name) => [`docs/${name}.md`, "# A\n"]));
    const nav = (...names: string[]): Files => ({
      ...pages,
      "mkdocs.yml": `site_name: x\nnav:\n${names.map((name) => `  - ${name}.md\n`).join("")}`,
    });
    expect(await findings(nav("a", "b", "c", "d"))).toEqual(["broken-navigation likely the build may make this page"]);
    expect((await findings(nav("a", "b", "c", "d", "e", "f", "g", "h"))).map((one) => one.slice(0, 29))).toEqual([
      "broken-navigation likely one ",
    ]);
  });

  it("offers no page of another language as a fix", async () => {
    const files = (dir: string): Files => ({
      "astro.config.mjs": config,
      [`${docs}/a.mdx`]: page("[b](/rules/keys/)"),
      [`${docs}/${dir}/actions/keys.mdx`]: page("text"),
    });
    const fixesOf = async (dir: string): Promise<number> =>
      (await checkSite(await openSite(memoryTree(files(dir))))).filter(({ fix }) => fix !== undefined).length;
    expect(await fixesOf("guides")).toBe(1);
    expect(await fixesOf("pl")).toBe(0);
  });
});

it("is not sure of anchors by GitBook's rule, which is not published", async () => {
  const site = await openSite(
    memoryTree({
      "SUMMARY.md": "# Contents\n\n* [A](a.md)\n",
      "a.md": "# A\n\n## `--secret <id>`\n\n[x](#secret-less-than-id-greater-than) and [y](#none)\n",
    }),
  );
  const found = (await checkSite(site)).filter(({ check }) => check === "broken-anchor");
  expect(found.map(({ certainty, why }) => `${certainty} ${why}`)).toEqual(
    Array(2).fill(
      "likely GitBook's rule for ids, which is not published, may give the page more ids, and only the build can tell",
    ),
  );
});

it("is not sure of anchors on a Jekyll page that a template writes to", async () => {
  const page = (line: string): Files => ({
    "_config.yml": "title: T\n",
    Gemfile: "gem 'jekyll'\n",
    "a.md": `---\ntitle: A\n---\n\n## One\n\n${line}\n\n[x](#none)\n`,
  });
  const certainties = async (line: string): Promise<unknown[]> =>
    (await checkSite(await openSite(memoryTree(page(line)))))
      .filter(({ check }) => check === "broken-anchor")
      .map(({ certainty, why }) => [certainty, why?.slice(0, 10)]);
  expect(await certainties("{{ site.data.snippets.note }}")).toEqual([["likely", "a template"]]);
  expect(await certainties("Version {{ site.version }} of it.")).toEqual([[undefined, undefined]]);
});
