import type { IgnoreEntry } from "@emend/site";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay } from "@emend/tree";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool, describeTools } from "./registry.ts";
import { createSiteSession } from "./site-session.ts";
import type { ToolContext } from "./tool.ts";

let trees: TestTrees;
let base: CommitTree;

const page = (title: string, body: string) => `---\ntitle: ${title}\n---\n\n${body}\n`;
const navigation = {
  languages: [
    {
      language: "en",
      tabs: [
        {
          tab: "Docs",
          groups: [
            { group: "Guides", pages: ["index", "guides/auth"] },
            { group: "Overview", root: "start/index", pages: ["start/install"] },
          ],
        },
        { tab: "API", groups: [{ group: "Overview", pages: ["api/intro", "api/gone"] }] },
      ],
    },
    { language: "es", groups: [{ group: "Guías", pages: ["es/index", "es/guides/auth"] }] },
  ],
};
const auth = page(
  "Auth",
  [
    "Intro, see [keys](#keys).",
    "",
    "## Keys",
    "",
    "A key. See [limits](#limits) and [home](/index).",
    "",
    "### Rotation",
    "",
    "Rotate keys.",
    "",
    "## Limits",
    "",
    "Seven, as [keys](#keys) say.",
  ].join("\n"),
);

beforeAll(async () => {
  trees = await openTestTrees();
  base = await trees.open({
    "docs.json": `${JSON.stringify({ name: "D", navigation }, null, 2)}\n`,
    "index.mdx": page(
      "Home",
      `See [rotation](/guides/auth#rotation). ${"long ".repeat(300)}needle ${"long ".repeat(50)}`,
    ),
    "guides/auth.mdx": auth,
    "start/index.mdx": page("Start", "x"),
    "start/install.mdx": page("Install", "token token"),
    "api/intro.mdx": page("Intro", "token\n\ncurl https://a/x\n\ncurl https://b/x"),
    "es/index.mdx": page("Inicio", "needle"),
    "es/guides/auth.mdx": page("Auth", "token"),
    "images/logo.png": "png",
    "tool.py": "needle = 1\n",
  });
});
afterAll(() => trees.close());

async function open(ignore: readonly IgnoreEntry[] = []) {
  const overlay = await createOverlay(base);
  const context: ToolContext = {
    overlay,
    base,
    context: { names: [], open: () => Promise.reject(new Error("none")) },
    site: createSiteSession({ base, overlay, docsDir: "", ignore }),
    pictures: [],
    docsDir: "",
    history: async () => [{ id: "abcdef0123456", date: "2026-01-02", author: "Ann", message: "Say why" }],
    commit: async (id, path) => (id === "abcdef0" ? `abcdef0 Say why\n\ndiff --git a/${path} b/${path}\n` : null),
    pull: async () => null,
    outputBytesMax: 4_000,
    handedOver: null,
    isFollowUp: false,
    attachments: [],
    refusePath: (path) => (path.startsWith(".github/") ? "CI settings are not changed by jobs" : null),
  };
  const call = async (name: string, input: unknown) => {
    const { output, isError } = await callTool(context, { id: "1", name, input }, new AbortController().signal);
    return isError ? `refused: ${output}` : output;
  };
  return { call, overlay, context, read: async (path: string) => (await overlay.read(path))?.toString() ?? null };
}

describe("a page that policy keeps", () => {
  it("is left alone with the reason, and does not keep other pages from a replacement or their links", async () => {
    const { call, context, read } = await open();
    context.refusePath = (path) => (path.startsWith("api/") ? "the name has invisible characters" : null);
    const replaced = await call("replace_term", { from: "token", to: "key" });
    expect(replaced).toContain("files: 1\n");
    expect(replaced).toContain(
      'api/intro.mdx:5: "token" stays where jobs write nothing (the name has invisible characters)',
    );
    expect([await read("start/install.mdx"), await read("api/intro.mdx")]).toEqual([
      page("Install", "key key"),
      page("Intro", "token\n\ncurl https://a/x\n\ncurl https://b/x"),
    ]);
    expect(await call("replace_term", { from: "token", to: "key", under: "api/intro" })).toMatch(
      /^refused: .*invisible/,
    );
    await context.overlay.set("api/intro.mdx", Buffer.from(page("Intro", "[A](/guides/auth.mdx#Keys)")));
    await context.overlay.set("start/install.mdx", Buffer.from(page("Install", "[A](/guides/auth.mdx#Keys)")));
    const fixed = await call("fix_links", {});
    expect(fixed).toContain("api/intro.mdx:1: its links stay: the name has invisible characters");
    expect(await read("start/install.mdx")).toContain("#keys");
    expect(await read("api/intro.mdx")).toContain("#Keys");
  });
});

describe("search", () => {
  it("counts translations instead of showing them, and shows them where they are asked for", async () => {
    const { call } = await open();
    const all = await call("search", { pattern: "needle" });
    expect(all).toMatch(
      /^2 matches in 2 files\nalso, not shown: es 1 \(use include\)\nindex\.mdx\n5: …[^\n]*needle[^\n]*…\ntool\.py\n1: needle = 1$/,
    );
    expect(await call("search", { pattern: "needle", include: "es" })).toBe(
      "1 match in 1 file\nes/index.mdx\n5: needle",
    );
  });

  it("filters by globs, lists files with counts, shows lines around and goes on at an offset", async () => {
    const { call, context } = await open();
    const files = await call("search", { pattern: "token", filesOnly: true, exclude: "api/**" });
    expect(files).toBe("1 match in 1 file\nalso, not shown: es 1 (use include)\nstart/install.mdx (1)");
    expect(await call("search", { pattern: "b/x", include: "{api,start}/*.mdx", context: 2 })).toBe(
      "1 match in 1 file\napi/intro.mdx\n7- curl https://a/x\n8- \n9: curl https://b/x",
    );
    context.outputBytesMax = 480;
    const first = await call("search", { pattern: "e", include: "*.mdx" });
    const [, left, offset] = /… (\d+) more matches; go on with offset: (\d+)$/.exec(first) ?? [];
    const [, total] = /^(\d+) matches/.exec(first) ?? [];
    expect(Number(left) + Number(offset)).toBe(Number(total));
    expect(await call("search", { pattern: "nothing", include: "nowhere/**" })).toBe(
      "no matches: no file fits nowhere/**",
    );
  });

  it("understands what other dialects write", async () => {
    const { call } = await open();
    expect(await call("search", { pattern: "needle = \\d(?:x)?", regex: true })).toContain("tool.py");
    expect(await call("search", { pattern: "x[", regex: true })).toMatch(
      /^refused: The pattern is not a valid regular expression/,
    );
  });
});

describe("reading", () => {
  it("takes routes, ranges and several paths at a time, with totals", async () => {
    const { call } = await open();
    const output = await call("read_file", { paths: ["/guides/auth:3-5", "start/install", "nowhere"] });
    expect(output).toContain("== guides/auth.mdx (lines 3-5 of 17)\n3\t---\n4\t\n5\tIntro");
    expect(output).toContain("== start/install.mdx (5 lines)");
    expect(output).toContain('== nowhere: there is no file "nowhere"');
  });

  it("gives a large file the room that small ones leave", async () => {
    const { call, context } = await open();
    context.outputBytesMax = 1_200;
    const output = await call("read_file", {
      paths: ["guides/auth", "start/index", "start/install", "es/guides/auth"],
    });
    expect(output).toContain("17\tSeven, as [keys](#keys) say.");
    context.outputBytesMax = 420;
    const less = await call("read_file", { paths: ["guides/auth", "start/index", "start/install", "es/guides/auth"] });
    expect(less).toMatch(/more lines; go on with guides\/auth\.mdx/);
    expect(less).toContain("== start/install.mdx (5 lines)");
  });

  it("does not take a search over two repositories for one without matches", async () => {
    const { call, context } = await open();
    context.context = { names: ["cli"], open: () => Promise.reject(new Error("none")) };
    expect(await call("search", { pattern: "token", include: "{api/**,@cli/src/**}" })).toBe(
      "refused: search one repository at a time: @cli needs a call of its own",
    );
  });

  it("lists files by folder without media and translations, unless they are asked for", async () => {
    const { call } = await open();
    expect(await call("list_files", {})).toBe(
      "7 files; not listed: es/ 2, media files 1\n./ docs.json index.mdx tool.py\napi/ intro.mdx\nguides/ auth.mdx\nstart/ index.mdx install.mdx",
    );
    expect(await call("list_files", { show: "all" })).toContain("images/ logo.png");
    expect(await call("list_files", { all: true })).toContain("images/ logo.png");
    expect(await call("list_files", { show: "titles", under: "install" })).toContain(
      "start/install.mdx\t/start/install",
    );
    expect(await call("list_files", { under: "es" })).toContain("es/guides/ auth.mdx");
    expect(await call("list_files", { under: "s*/inst*" })).toBe("1 file\nstart/ install.mdx");
  });

  it("folds the navigation of translations", async () => {
    const { call } = await open();
    const map = await call("list_files", { show: "navigation" });
    expect(map).toContain("mintlify, 7 pages, 5 here; not shown: es 2");
    expect(map).not.toContain("Guías");
    expect(await call("list_files", { show: "titles", under: "es" })).toContain("es/index.mdx\t/es/index\tInicio");
  });

  it("shows a file's log and the edits so far, and restores a file", async () => {
    const { call, overlay } = await open();
    expect(await call("git", { command: "log", path: "index.mdx" })).toBe("abcdef012 2026-01-02 Ann: Say why");
    expect(await call("git", { command: "diff" })).toBe("nothing is edited");
    await call("write_file", { path: "new.mdx", content: "New.\n" });
    await call("edit_file", { path: "start/install.mdx", edits: [{ oldText: "token token", newText: "token" }] });
    const diff = await call("git", { command: "diff" });
    expect(diff).toContain("--- a/start/install.mdx\n+++ b/start/install.mdx\n@@");
    expect(diff).toContain("-token token\n+token");
    expect(diff).toContain("+++ b/new.mdx");
    expect(diff).not.toMatch(/^index /m);
    await call("git", { command: "restore", path: "new.mdx" });
    expect(await call("git", { command: "restore", path: "start/install.mdx" })).toContain("as it was before");
    expect(overlay.entries()).toEqual([]);
    expect(await call("git", { command: "restore", path: "x" })).toContain("refused: x is not edited");
  });
});

describe("edit_file", () => {
  it("makes several edits or none, and says where", async () => {
    const { call, read } = await open();
    const edits = [
      { oldText: "A key.", newText: "An access key." },
      { oldText: "Rotate keys.", newText: "Rotate them." },
    ];
    expect(await call("edit_file", { path: "guides/auth.mdx", edits })).toBe("edited guides/auth.mdx, lines 9, 13");
    const failing = [
      { oldText: "Seven", newText: "Eight" },
      { oldText: "nowhere", newText: "x" },
    ];
    expect(await call("edit_file", { path: "guides/auth.mdx", edits: failing })).toMatch(
      /^refused: edit 2: oldText does not occur in guides\/auth\.mdx; its 18 lines hold nothing like it; none of the edits was made$/,
    );
    expect(await read("guides/auth.mdx")).toContain("Seven");
  });

  it("tells the lines of a text that occurs more than once, and of one that differs in its spaces", async () => {
    const { call } = await open();
    const twice = { path: "api/intro.mdx", edits: [{ oldText: "curl", newText: "wget" }] };
    expect(await call("edit_file", twice)).toMatch(/more than once in api\/intro\.mdx: 2 times, lines 7, 9;/);
    const spaced = { path: "api/intro.mdx", edits: [{ oldText: "curl  https://a/x", newText: "y" }] };
    expect(await call("edit_file", spaced)).toContain("its first line is like line 7");
    const word = { path: "guides/auth.mdx", edits: [{ oldText: "Seven, as [keys](#keys) tell.", newText: "y" }] };
    expect(await call("edit_file", word)).toContain('line 17 is nearest: "Seven, as [keys](#keys) say."');
    const strange = { path: "guides/auth.mdx", edits: [{ oldText: "Something else entirely", newText: "y" }] };
    expect(await call("edit_file", strange)).toContain("hold nothing like it");
  });

  it("replaces over a glob, where policy lets it, or nowhere", async () => {
    const { call, read, context } = await open();
    const edits = [{ oldText: "token", newText: "key" }];
    expect(await call("edit_file", { path: "{api,start}/**", edits })).toBe(
      "replaced 3 times in 2 of 3 files\napi/intro.mdx (1)\nstart/install.mdx (2)",
    );
    expect(await read("es/guides/auth.mdx")).toContain("token");
    const refusing = { ...context, refusePath: (path: string) => (path === "start/install.mdx" ? "no" : null) };
    const input = { path: "**/*.mdx", edits: [{ oldText: "key", newText: "token" }] };
    const { output } = await callTool(refusing, { id: "1", name: "edit_file", input }, new AbortController().signal);
    expect(output).toContain("no file was changed");
    expect(await read("api/intro.mdx")).toContain("key");
    expect(await call("edit_file", { path: "no/**", edits })).toBe("refused: no file fits no/**");
  });
});

describe("move_section", () => {
  it("moves a section to another page: links to it, from it and within it lead where they led", async () => {
    const { call, read } = await open();
    const report = await call("move_section", { page: "guides/auth", heading: "Keys", to: "start/install" });
    expect(report).toBe("files: 3\nlinks: 3\nsections: 1");
    expect(await read("guides/auth.mdx")).toBe(
      page(
        "Auth",
        "Intro, see [keys](/start/install#keys).\n\n## Limits\n\nSeven, as [keys](/start/install#keys) say.",
      ),
    );
    expect(await read("start/install.mdx")).toBe(
      page(
        "Install",
        "token token\n\n## Keys\n\nA key. See [limits](/guides/auth#limits) and [home](/index).\n\n### Rotation\n\nRotate keys.",
      ),
    );
    expect(await read("index.mdx")).toContain("(/start/install#rotation)");
    expect(await call("check", {})).toMatch(/^0 new/);
  });

  it("checks without what the project's settings silence", async () => {
    const edit = { path: "index.mdx", content: page("Home", "[gone](/none)") };
    const told = async (ignore: readonly IgnoreEntry[]) => {
      const { call } = await open(ignore);
      await call("write_file", edit);
      return call("check", {});
    };
    expect(await told([])).toContain("broken-link");
    expect(await told([{ check: "broken-link", path: "index.mdx", reason: "made by the build" }])).not.toContain(
      "/none",
    );
  });

  it("adds the page that is not there, with the heading as its title", async () => {
    const { call, read } = await open();
    await call("move_section", { page: "guides/auth", heading: "Keys", to: "guides/keys" });
    expect(await read("guides/keys.mdx")).toBe(
      page("Keys", "A key. See [limits](/guides/auth#limits) and [home](/index).\n\n## Rotation\n\nRotate keys."),
    );
    expect(await read("guides/auth.mdx")).toContain("Intro, see [keys](/guides/keys).");
    expect(await read("docs.json")).toMatch(/"guides\/auth",\s*"guides\/keys"/);
    expect(await call("check", {})).toMatch(/^0 new/);
  });

  it("renames a heading alone", async () => {
    const { call, read } = await open();
    await call("move_section", { page: "guides/auth", heading: "Limits", rename: "Quotas" });
    expect(await read("guides/auth.mdx")).toContain("[limits](#quotas)");
  });

  it("is followed by check, which repairs the links where the heading was moved by hand", async () => {
    const { call, read } = await open();
    const section = "### Rotation\n\nRotate keys.\n\n";
    await call("edit_file", { path: "guides/auth.mdx", edits: [{ oldText: section, newText: "" }] });
    await call("edit_file", {
      path: "start/install.mdx",
      edits: [{ oldText: "token token", newText: section.trim().replace("###", "##") }],
    });
    expect(await call("check", {})).toContain("it is at `start/install.mdx#rotation` now: update the links");
    expect(await call("check", { fix: true })).toMatch(/links: 1\n0 new/);
    expect(await read("index.mdx")).toContain("(/start/install#rotation)");
    expect(await call("check", {})).toMatch(/^0 new/);
  });
});

describe("update_navigation", () => {
  it("finds same-named groups by those around them, a group's own page, and entries without a page", async () => {
    const { call, read } = await open();
    await call("write_file", { path: "api/new.mdx", content: page("New", "x") });
    expect(await call("update_navigation", { add: "api/new", group: "Overview" })).toContain("several groups");
    expect(await call("update_navigation", { add: "api/new", group: "API › Overview" })).toContain("navigation: 1");
    expect(await call("update_navigation", { remove: "api/gone" })).toContain("navigation: 1");
    expect(await read("docs.json")).not.toContain("api/gone");
    await call("write_file", { path: "start/first.mdx", content: page("First", "x") });
    await call("update_navigation", { page: "start/first", after: "start/index" });
    expect(await read("docs.json")).toMatch(/"start\/first",\s*"start\/install"/);
    await call("update_navigation", { page: "start/first", group: "Guides" });
    expect(await read("docs.json")).toMatch(/"guides\/auth",\s*"start\/first"/);
  });
});

it("a new page is written and listed at once, and an old address redirected", async () => {
  const { call, read } = await open();
  const content = page("Teams", "x");
  expect(await call("write_file", { path: "guides/teams", content, group: "Guides" })).toContain("navigation: 1");
  expect(await read("guides/teams.mdx")).toBe(content);
  expect(await read("docs.json")).toMatch(/"guides\/auth",\s*"guides\/teams"/);
  expect(await call("write_file", { path: "guides/teams", content, group: "Guides" })).toContain("already exists");
  await call("update_navigation", { redirect: "/people", to: "/guides/teams" });
  expect(JSON.parse((await read("docs.json")) ?? "").redirects).toEqual([
    { source: "/people", destination: "/guides/teams" },
  ]);
  expect(await call("update_navigation", { redirect: "/people" })).toContain("redirect needs");
});

describe("set_front_matter", () => {
  it("writes a list as a list, and quotes as they were", async () => {
    const { call, read } = await open();
    await call("write_file", { path: "q.mdx", content: '---\ntitle: "Old"\ntags:\n  - a\n---\n\nx\n' });
    await call("set_front_matter", { page: "q", field: "title", value: "New" });
    await call("set_front_matter", { page: "q", field: "tags", value: ["b", "c: d"] });
    await call("set_front_matter", { page: "q", field: "keywords", value: ["x, y", "z"] });
    expect(await read("q.mdx")).toBe(
      '---\ntitle: "New"\ntags:\n  - b\n  - "c: d"\nkeywords: ["x, y", "z"]\n---\n\nx\n',
    );
    expect(await call("set_front_matter", { page: "q", field: "tags", value: { a: 1 } })).toContain(
      "refused: value must",
    );
  });
});

describe("replace_term", () => {
  it("leaves translations alone and counts what stays there, unless they are asked for", async () => {
    const { call, read } = await open();
    const report = await call("replace_term", { from: "token", to: "key" });
    expect(report).toMatch(/- es\/guides\/auth\.mdx:\d+: "token" stays in es\/: \d+ lines? of 1 page/);
    expect(await read("start/install.mdx")).toContain("key key");
    expect(await read("es/guides/auth.mdx")).toContain("token");
    await call("replace_term", { from: "token", to: "key", under: "es/" });
    expect(await read("es/guides/auth.mdx")).not.toContain("token");
  });

  it("leaves excluded pages alone", async () => {
    const { call, read } = await open();
    await call("replace_term", { from: "token", to: "key", exclude: "start/**" });
    expect(await read("api/intro.mdx")).toContain("key");
    expect(await read("start/install.mdx")).toContain("token token");
  });
});

it("the tools cost a turn half of what they did in release 0.1.0", () => {
  const characters = describeTools().reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);
  expect(characters / 4).toBeLessThanOrEqual(1_120);
});

describe("a pattern", () => {
  const edits = [{ oldText: "curl (\\S+)", newText: "wget $1", regex: 0 }];

  it("is counted before anything is edited, and edits with its groups once the count is given", async () => {
    const { call, read, overlay } = await open();
    const counted = await call("edit_file", { path: "api/*.mdx", edits });
    expect(counted).toContain("matches 2 places, not 0; repeat it with regex: 2");
    expect(counted).toContain("curl https://a/x → wget https://a/x");
    expect(overlay.entries()).toEqual([]);
    const wrong = await call("edit_file", { path: "api/*.mdx", edits: [{ ...edits[0], regex: 3 }] });
    expect(wrong).toMatch(/^refused: nothing was edited/);
    const done = await call("edit_file", { path: "api/*.mdx", edits: [{ ...edits[0], regex: 2 }] });
    expect(done).toBe("replaced 2 times\napi/intro.mdx (2)");
    expect(await read("api/intro.mdx")).toContain("wget https://a/x\n\nwget https://b/x");
  });

  it("that is none, or never ends, is refused", async () => {
    const { call, overlay } = await open();
    await overlay.set("start/long.mdx", Buffer.from(`${"a".repeat(60)}!\n`));
    const edit = (oldText: string) => ({ path: "start/long.mdx", edits: [{ oldText, newText: "x", regex: 0 }] });
    expect(await call("edit_file", edit("("))).toContain("oldText is no pattern");
    expect(await call("edit_file", edit("^(a+)+$"))).toContain("takes too long");
  });
});

describe("what tools tell", () => {
  it("a hit says whether it is in code", async () => {
    const { call, overlay } = await open();
    await overlay.set(
      "start/code.mdx",
      Buffer.from(page("Code", "Set port.\n\n```sh\nrun --port 1\n```\n\nThe `port` key.")),
    );
    const hits = await call("search", { pattern: "port", include: "start/code.mdx" });
    expect(hits.split("\n").slice(2)).toEqual(["5: Set port.", "8: (code) run --port 1", "11: (code) The `port` key."]);
  });

  it("a deleted page names the pages that link to it, and that nothing redirects", async () => {
    const { call } = await open();
    const plain = await call("delete_file", { path: "guides/auth.mdx" });
    expect(plain).toMatch(/^deleted guides\/auth\.mdx; \d files? still name it: .*index\.mdx.*redirects nowhere/);
    expect(await call("delete_file", { path: "index.mdx", to: "guides/auth" })).toMatch(
      /no page|lead to guides\/auth$/,
    );
  });

  it("check groups by message, lists a path, and what is left on edited pages", async () => {
    const { call, overlay } = await open();
    const broken = "[a](/none-a) [b](/none-a)";
    await overlay.set("start/install.mdx", Buffer.from(page("Install", broken)));
    await overlay.set("api/intro.mdx", Buffer.from(page("Intro", broken)));
    const grouped = await call("check", {});
    expect(grouped.match(/none-a/g)).toHaveLength(1);
    expect(grouped).toMatch(/4 times: .*api\/intro\.mdx:5/);
    expect(await call("check", { path: "start" })).not.toContain("api/intro");
  });

  it("a follow-up sees and restores the pull request's files, and reads its base", async () => {
    const { call, context, overlay, read } = await open();
    const before = await trees.open({
      "guides/auth.mdx": page("Auth", "As it was."),
      "index.mdx": page("Home", "Old."),
    });
    const now = Buffer.from((await read("guides/auth.mdx")) ?? "");
    context.pull = async () => ({
      base: before,
      entries: [{ path: "guides/auth.mdx", mode: "100644", content: now }],
    });
    await overlay.set("index.mdx", Buffer.from(page("Home", "New.")));
    const diff = await call("git", { command: "diff" });
    expect(diff).toContain("-As it was.");
    expect(diff).toContain("+New.");
    expect(await call("read_file", { paths: ["guides/auth.mdx@base"] })).toContain("As it was.");
    const cite = (at: string) =>
      call("finish", { title: "T", summary: "S.", sources: [`guides/auth.mdx:${at}: New.`] });
    expect(await cite("5")).toContain("a change is no source for itself");
    expect(await cite("2-90")).toContain("cites more than 60 lines");
    expect(await cite("2")).toBe("handed over");
    await call("git", { command: "restore", path: "guides/auth.mdx" });
    expect(await read("guides/auth.mdx")).toContain("As it was.");
  });

  it("shows one commit", async () => {
    const { call } = await open();
    expect(await call("git", { command: "show", path: "abcdef0:index.mdx" })).toContain("Say why");
    expect(await call("git", { command: "show", path: "1234567" })).toContain("do not have 1234567");
    expect(await call("git", { command: "show", path: "index.mdx" })).toContain("show needs a commit");
  });
});
