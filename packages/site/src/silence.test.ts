import { describe, expect, it } from "vitest";
import { type Files, memoryTree } from "../test/support/memory-tree.ts";
import { checkSite } from "./check-site.ts";
import { compareSites } from "./compare-sites.ts";
import { openSite } from "./open-site.ts";

async function found(files: Files, ignore?: unknown): Promise<string[]> {
  const settings: Files = ignore === undefined ? {} : { ".emend/check.json": JSON.stringify({ ignore }) };
  const findings = await checkSite(await openSite(memoryTree({ ...files, ...settings })));
  return findings.map(
    ({ check, path, line, message }) => `${check} ${path}:${line}${check === "silencer" ? ` ${message}` : ""}`,
  );
}

describe("comments that silence findings", () => {
  it.each([
    ["on the line itself", "[a](gone.md) <!-- emend-ignore broken-link: made by the build -->\n"],
    ["above the block", "<!-- emend-ignore broken-link: made by the build -->\n\nText\n[a](gone.md)\n"],
    ["for the page", "[a](gone.md)\n\n[b](gone2.md)\n\n<!-- emend-ignore-page broken-link: made by the build -->\n"],
    ["of several checks", "<!-- emend-ignore broken-link, image-alt: made by the build -->\n[a](gone.md) ![](x.png)\n"],
  ])("silence it %s", async (_, page) => {
    expect(await found({ "a.md": page, "x.png": "" })).toEqual([]);
  });

  it("silences in MDX by MDX's comments, and in MyST by a percent sign", async () => {
    const mdx = "{/* emend-ignore broken-link: made by the build */}\n[a](gone.md)\n";
    expect(await found({ "docs.json": '{"navigation":["a"]}', "a.mdx": mdx })).toEqual([]);
    const myst = {
      "conf.py": "extensions = ['myst_parser']\n",
      "index.md": "# A\n\n% emend-ignore broken-link: x\n[a](gone.md)\n",
    };
    expect(await found(myst)).toEqual([]);
    // In plain Markdown, these are text.
    expect(await found({ "a.md": mdx })).toEqual(["broken-link a.md:2"]);
  });

  it("silences no other check, no other block, and nothing without a reason", async () => {
    expect(await found({ "a.md": "<!-- emend-ignore image-alt: x -->\n[a](gone.md)\n" })).toEqual([
      "silencer a.md:1 This comment silences no finding of `image-alt`; remove it.",
      "broken-link a.md:2",
    ]);
    expect(await found({ "a.md": "<!-- emend-ignore broken-link: x -->\n[a](gone.md)\n\n[b](gone.md)\n" })).toEqual([
      "broken-link a.md:4",
    ]);
    const bare = "This comment silences nothing: name the check and the reason, as `emend-ignore broken-link: reason`.";
    expect(await found({ "a.md": "<!-- emend-ignore broken-link -->\n[a](gone.md)\n" })).toEqual([
      `silencer a.md:1 ${bare}`,
      "broken-link a.md:2",
    ]);
    expect(await found({ "a.md": "<!-- emend-ignore broken-lnk: x -->\nText\n" })).toEqual([
      "silencer a.md:1 This comment silences nothing: there is no check `broken-lnk`. Correct its name.",
    ]);
  });

  it("takes one that is shown as code for text, and one of a check that did not run for needed", async () => {
    expect(
      await found({
        "a.md": "`<!-- emend-ignore broken-link: x -->`\n\n```html\n<!-- emend-ignore broken-link: x -->\n```\n",
      }),
    ).toEqual([]);
    expect(await found({ "a.md": "<!-- emend-ignore spelling, stale-reference: x -->\nText\n" })).toEqual([]);
  });
});

describe("patterns that silence findings", () => {
  const files: Files = { "a.md": "[a](gone.md)\n", "old/b.md": "[a](gone.md)\n", "old/deep/c.md": "[a](other.md)\n" };

  it("silence by check, path and message", async () => {
    expect(await found(files, [{ check: "broken-link", path: "old/**", reason: "frozen" }])).toEqual([
      "broken-link a.md:1",
    ]);
    expect(await found(files, [{ check: "broken-link", path: "old/*", reason: "frozen" }])).toEqual([
      "broken-link a.md:1",
      "broken-link old/deep/c.md:1",
    ]);
    expect(await found(files, [{ check: "broken-link", message: "gone.md", reason: "made" }])).toEqual([
      "broken-link old/deep/c.md:1",
    ]);
  });

  it("are findings if they have no effect", async () => {
    expect((await found({ "a.md": "Text\n" }, [{ check: "broken-link", reason: "x" }]))[0]).toBe(
      'silencer .emend/check.json:1 "ignore" 1 silences no finding of `broken-link`; remove it.',
    );
  });

  it("come from the project's settings too, beside those of the repository, and are findings without effect", async () => {
    const ignored = async (pages: Files, ...entries: readonly [check: string, path?: string, message?: string][]) => {
      const ignore = entries.map(([check, path, message]) => ({
        ...{ check, reason: "frozen" },
        ...(path !== undefined && { path }),
        ...(message !== undefined && { message }),
      }));
      const findings = await checkSite(await openSite(memoryTree(pages), { ignore }));
      return findings.map(({ path, check, message: words }) => (check === "silencer" ? `${path} ${words}` : path));
    };
    const own = {
      ".emend/check.json": JSON.stringify({ ignore: [{ check: "broken-link", path: "a.md", reason: "x" }] }),
    };
    expect(await ignored({ ...files, ...own }, ["broken-link", "old/**"])).toEqual([]);
    // An invalid file turns none of the project's settings off.
    expect(await ignored({ ...files, ".emend/check.json": "{" }, ["broken-link"])).toEqual([".emend/check.json"]);
    expect(await ignored(files, ["broken-link", "old/**", "other.md"])).toEqual(["a.md", "old/b.md"]);
    const pages = { "a.md": "Text\n" };
    const unused = 'project settings "checks.ignore" 1 in the project\'s settings silences';
    expect(await ignored(pages, ["broken-link"])).toEqual([`${unused} no finding of \`broken-link\`; remove it.`]);
    const unknown = "nothing: there is no check `dead-link`. Correct its name.";
    expect(await ignored(pages, ["dead-link"])).toEqual([`${unused} ${unknown}`]);
    // Only where the code is at hand can somebody tell.
    expect(await ignored(pages, ["stale-reference"])).toEqual([]);
  });

  it.each([
    [{}, "must be a list"],
    [[1], "must be an object"],
    [[{ check: "broken-link" }], 'has no "reason"'],
    [[{ check: "broken-link", reason: " " }], 'has no "reason"'],
    [[{ check: "none", reason: "x" }], "names no check"],
    [[{ check: "broken-link", reason: "x", pages: "a" }], 'no setting "pages"'],
    [[{ check: "broken-link", reason: "x", path: 1 }], "must be text"],
  ])("say what is wrong: %j", async (ignore, problem) => {
    const tree = memoryTree({ "a.md": "Text\n", ".emend/check.json": JSON.stringify({ ignore }) });
    expect((await checkSite(await openSite(tree)))[0]?.message).toContain(problem);
  });
});

describe("a change", () => {
  const introduced = async (before: string, after: string, silencers?: "head") => {
    const [base, head] = [
      await openSite(memoryTree({ "a.md": before })),
      await openSite(memoryTree({ "a.md": after })),
    ];
    const found = await compareSites(base, head, silencers === undefined ? {} : { silencers });
    return found.introduced.map(({ check }) => check);
  };
  const comment = "<!-- emend-ignore broken-link: x -->\n";

  it("does not silence what judges it, unless a person made it", async () => {
    expect(await introduced("Text\n", `${comment}[a](gone.md)\n`)).toContain("broken-link");
    expect(await introduced("Text\n", `${comment}[a](gone.md)\n`, "head")).toEqual([]);
    expect(await introduced(`${comment}[a](old.md)\n`, `${comment}[a](gone.md)\n`)).toEqual([]);
    const ignore = [{ check: "broken-link", reason: "x" }];
    const [base, head] = [
      await openSite(memoryTree({ "a.md": "[a](old.md)\n" }), { ignore }),
      await openSite(memoryTree({ "a.md": "[a](old.md) [b](gone.md)\n" })),
    ];
    expect((await compareSites(base, head)).introduced).toEqual([]);
  });
});
