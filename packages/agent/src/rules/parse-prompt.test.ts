import { renameOrders } from "@emend/base/repair-prompt.ts";
import { anyText } from "@emend/testkit/any-text.ts";
import { quickRows } from "@emend/testkit/tier.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exampleOn } from "./hints.ts";
import type { Instruction } from "./instruction.ts";
import { forms, parsePrompt } from "./parse-prompt.ts";

function understood(prompt: string): readonly Instruction[] {
  const parsed = parsePrompt(prompt);
  if (parsed.kind === "not_understood") throw new Error(`${parsed.clause}: ${parsed.reason}`);
  return parsed.instructions;
}

function refusal(prompt: string): { clause: string; reason: string } {
  const parsed = parsePrompt(prompt);
  if (parsed.kind === "understood") throw new Error(`understood: ${JSON.stringify(parsed.instructions)}`);
  return parsed;
}

const replaceToken = { kind: "replace_term", from: "API token", to: "access key", includeCode: false };
const moveAuth = { kind: "move_page", from: "guides/auth", to: "security/authentication" };

describe("a comment on a line of a page", () => {
  const page = "guides/limits.mdx";
  const onPage = { ...replaceToken, under: page };
  it.each([
    ['In guides/limits.mdx, line 5: replace "API token" with "access key"', [onPage]],
    ['In guides/limits.mdx, removed line 5: Please replace "API token" with "access key".', [onPage]],
    ['In guides/limits.mdx: replace "API token" with "access key"', [onPage]],
    ['In guides/limits.mdx, line 5: use "access key" instead of "API token"', [onPage]],
    [
      'In my guides/the limits, v2.mdx, line 5: change "API token" to "access key"',
      [{ ...onPage, under: "my guides/the limits, v2.mdx" }],
    ],
    ["In guides/limits.mdx, line 5: fix broken links", [{ kind: "fix_links", under: page }]],
    [
      'In guides/limits.mdx, line 5: set the description to "Limits"',
      [{ kind: "set_front_matter", page, field: "description", value: "Limits" }],
    ],
    [
      'In guides/limits.mdx, line 5: rename the heading "Old" to "New"',
      [{ kind: "rename_heading", page, from: "Old", to: "New" }],
    ],
    // It says where itself.
    ["In guides/limits.mdx, line 5: move guides/auth to security/authentication", [moveAuth]],
    ['In guides/limits.mdx, line 5: replace "API token" with "access key" everywhere', [replaceToken]],
    ['In guides/limits.mdx, line 5: replace "API token" with "access key" in all the pages', [replaceToken]],
    [
      'In guides/limits.mdx, line 5: replace "API token" with "access key" in guides/auth',
      [{ ...onPage, under: "guides/auth" }],
    ],
    // What follows is about the same page, up to the next comment of the review.
    [
      'In guides/limits.mdx, line 5: replace "API token" with "access key". Then fix broken links.\n\nIn a.md, line 1: fix broken links',
      [onPage, { kind: "fix_links", under: page }, { kind: "fix_links", under: "a.md" }],
    ],
  ])("%s", (prompt, instructions) => {
    expect(understood(prompt)).toEqual(instructions);
  });

  it("is refused with its own words where it is not understood, and never taken for the whole site", () => {
    expect(refusal("In guides/limits.mdx, line 5: make this nicer").clause).toBe("make this nicer");
    expect(refusal('In guides/limits.mdx, line 5: rename "API token" to "access key"').reason).toContain(
      "term or a heading",
    );
    expect(refusal("In guides/limits.mdx, line 5:").reason).toContain("no instruction");
  });
});

describe("one instruction", () => {
  it.each([
    'replace "API token" with "access key"',
    "Replace “API token” by “access key”.",
    "replace 'API token' with 'access key'!",
    "replace ‘API token’ with ‘access key’",
    "replace «API token» with „access key“",
    "replace `API token` with ``access key``",
    "  please REPLACE every occurrence of the term API token with access key \t\r\n",
    'change "API token" to "access key" everywhere, please',
    'rename the term "API token" to "access key"',
    'rename "API token" to "access key" across the docs',
    'use "access key" instead of "API token"',
    'Replace "API token"\nwith "access key"',
    "- [ ] replace API token with access key",
    'Hello! Replace "API token" with "access key". Thank you!',
  ])("replaces a term: %s", (prompt) => {
    expect(understood(prompt)).toEqual([replaceToken]);
  });

  it("replaces a term below a folder, and in code only when asked", () => {
    expect(understood('replace "API token" with "access key" only in guides/, also in code')).toEqual([
      { ...replaceToken, under: "guides/", includeCode: true },
    ]);
    expect(understood('replace "API token" with "access key" on the page guides/auth')).toEqual([
      { ...replaceToken, under: "guides/auth" },
    ]);
  });

  it.each([
    "Move guides/auth to security/authentication",
    "rename guides/auth to security/authentication with a redirect",
    "rename the page /guides/auth to /security/authentication",
    'relocate the file "guides/auth" to "security/authentication"',
  ])("moves a page: %s", (prompt) => {
    expect(understood(prompt)).toEqual([moveAuth]);
  });

  it("moves a page into a folder, and a folder as a whole", () => {
    expect(understood("move guides/auth into security")).toEqual([{ ...moveAuth, to: "security/auth" }]);
    expect(understood("move guides/auth to security/")).toEqual([{ ...moveAuth, to: "security/auth" }]);
    expect(understood("move the folder guides to help")).toEqual([{ kind: "move_page", from: "guides/", to: "help" }]);
  });

  it("leaves a bare rename open until the site is known", () => {
    expect(understood('rename "Quickstart" to "Start here"')).toEqual([
      { kind: "rename", from: "Quickstart", to: "Start here" },
    ]);
  });

  it("adds a page from a fenced block and lists it", () => {
    const prompt = [
      'Add a page guides/webhooks titled "Webhooks" with this text:',
      "",
      "```md",
      "Don't panic. Move a to b?",
      "",
      "## Next",
      "```",
      "and list it in the navigation under Guides.",
    ].join("\n");
    expect(understood(prompt)).toEqual([
      {
        kind: "add_page",
        path: "guides/webhooks",
        title: "Webhooks",
        content: "Don't panic. Move a to b?\n\n## Next",
        group: "Guides",
      },
    ]);
    expect(understood('add a page faq titled "FAQ". Add faq to the navigation.')).toHaveLength(1);
  });

  it("adds a page from a quotation, with its description", () => {
    expect(
      understood(
        'create a new page faq with the title "FAQ" and description "Asked often." saying "None yet." to the navigation under "Help"',
      ),
    ).toEqual([
      { kind: "add_page", path: "faq", title: "FAQ", content: "None yet.", group: "Help" },
      { kind: "set_front_matter", page: "faq", field: "description", value: "Asked often." },
    ]);
  });

  it.each<[string, Instruction]>([
    ["fix all the broken links", { kind: "fix_links" }],
    ["FIX DEAD LINKS EVERYWHERE", { kind: "fix_links" }],
    ['add faq to the navigation under "Help"', { kind: "list_page", page: "faq", group: "Help" }],
    [
      "put guides/b after guides/a in the sidebar",
      { kind: "list_page", page: "guides/b", after: "guides/a", move: true },
    ],
    [
      "order the navigation group Guides as: a/x, a/y and a/z",
      { kind: "order_navigation", group: "Guides", pages: ["a/x", "a/y", "a/z"] },
    ],
    [
      'set description of guides/auth to "How to sign."',
      { kind: "set_front_matter", page: "guides/auth", field: "description", value: "How to sign." },
    ],
    [
      "set the front matter field order of guides/auth to 3",
      { kind: "set_front_matter", page: "guides/auth", field: "order", value: 3 },
    ],
    ["set hidden to TRUE on the page faq", { kind: "set_front_matter", page: "faq", field: "hidden", value: true }],
    ["add a redirect from /old to /new", { kind: "add_redirect", from: "/old", to: "/new" }],
    [
      'rename the heading "Setup" in faq to "Install"',
      { kind: "rename_heading", page: "faq", from: "Setup", to: "Install" },
    ],
  ])("%s", (prompt, instruction) => {
    expect(understood(prompt)).toEqual([instruction]);
  });

  it.each(forms.map((form) => exampleOn(form.example)))("its own example: %s", (example) => {
    expect(understood(example).length).toBeGreaterThan(0);
  });
});

describe("several instructions", () => {
  const three = [moveAuth, replaceToken, { kind: "fix_links" }];

  it.each([
    'Move guides/auth to security/authentication, replace "API token" with "access key", and fix broken links.',
    'Move guides/auth to security/authentication; replace "API token" with "access key"; fix broken links',
    'First move guides/auth to security/authentication and replace "API token" with "access key". Finally, please fix broken links!',
    'Please do the following:\n\n1. Move guides/auth to security/authentication\n2. Replace "API token" with "access key".\n3) fix broken links\n',
    '- move guides/auth to security/authentication\n- replace "API token" with "access key"\n\n* fix broken links',
    "Move guides/auth to\nsecurity/authentication\nreplace API token with access key then fix broken links. Fix broken links.",
  ])("%s", (prompt) => {
    expect(understood(prompt)).toEqual(three);
  });
});

describe("all or nothing", () => {
  it.each([
    ["don't rename X to Y", "don't rename X to Y"],
    ["Do not move guides/a to guides/b.", "Do not move guides/a to guides/b"],
    ['Fix broken links. Never replace "a" with "b".', 'Never replace "a" with "b"'],
    ['replace "a" with "b" except in guides/', 'replace "a" with "b" except in guides/'],
    ["fix broken links, but leave guides/a alone", "fix broken links, but leave guides/a alone"],
    ["If it helps, fix broken links", "If it helps"],
    ["Should we rename X to Y?", "Should we rename X to Y?"],
    ["Fix broken links and rewrite the intro.", "rewrite the intro"],
    ["Fix broken links. Just kidding.", "Just kidding"],
    ["- fix broken links\n- [x] move a/b to c/d", "[x] move a/b to c/d"],
    ["<!--\nfix broken links\n-->", "<!--"],
    ["~~fix broken links~~", "~~fix broken links~~"],
    ["> fix broken links", "> fix broken links"],
    ["Example: fix broken links", "Example: fix broken links"],
    ['He said "fix broken links"', 'He said "fix broken links"'],
    ['"fix broken links"', '"fix broken links"'],
    ["```\nfix broken links\n```", "```\nfix broken links\n```"],
    ["move it to guides/b", "move it to guides/b"],
    ["move everything to archive/", "move everything to archive/"],
    ["list it in the navigation", "list it in the navigation"],
    ["add a page about webhooks", "add a page about webhooks"],
    ["add a page guides/webhooks", "add a page guides/webhooks"],
    ["delete the page guides/a", "delete the page guides/a"],
    ["replace x with y in code", "replace x with y in code"],
    ["replace token with key soon", "replace token with key soon"],
    ["replace token with access key", "replace token with access key"],
    ['replace "token" with access key', 'replace "token" with access key'],
    ["rename guides/auth to authentication", "rename guides/auth to authentication"],
    ['rename "Setup" to "Install" in guides/a', 'rename "Setup" to "Install" in guides/a'],
    ['set the heading of faq to "X"', 'set the heading of faq to "X"'],
    ["fix broken links in guides/a in guides/b", "fix broken links in guides/a in guides/b"],
    ['replace "a" with "b" in guides/ in faq', 'replace "a" with "b" in guides/ in faq'],
  ])("%s", (prompt, clause) => {
    expect(refusal(prompt).clause).toBe(clause);
  });

  it.each([
    ["don’t rename X to Y", "what not to do"],
    ["fix broken links when ready", "depend on something"],
    ["fix broken links?", "question"],
    ["replace token with key tonight", "put them in quotation marks"],
    ["rename x/y to z", "write rename x/y to x/z, or move x/y to z"],
    ["add a page faq", "neither a title nor a text"],
    ["explain the docs", "not among the instructions"],
  ])("says why it refuses: %s", (prompt, reason) => {
    expect(refusal(prompt).reason).toContain(reason);
  });

  it("asks whose the full stop inside the quotation marks is", () => {
    expect(refusal('replace "API token" with "access key."').reason).toContain('ends with "."');
    expect(refusal('replace "API token" with "access key," and fix broken links').reason).toContain('ends with ","');
    expect(understood('replace "Yahoo" with "Yahoo!".')).toHaveLength(1);
    expect(understood('replace "Inc." with "Corp."')).toHaveLength(1);
  });

  it.each([
    ['replace "a" with "b" and replace "A" with "c"', "same term"],
    ['Replace "a" with "b". In guides/x, replace "a" with "c".', "same term"],
    ['In guides, replace "a" with "b". In guides/x, replace "a" with "c".', "same term"],
    ['replace "a" with "b" and replace "b" with "c"', "one undoes or continues the other"],
    ['rename "a" to "b" everywhere. Change "b" to "a".', "one undoes or continues the other"],
    ["move k/x to m/x, move k/x to n/x", "same page to two places"],
    ["move k/x to n/x, move m/x to n/x.mdx", "two pages to the same place"],
    ["move k/x to m/x and move m/x to n/x", "one moves what the other has moved"],
    ['move k/x to m/x and set title of /k/x.mdx to "X"', "name the page by its new place"],
    ['move the folder k to m and set title of k/x to "X"', "name the page by its new place"],
    ['set title of k to "X" and set title of k to "Y"', "same field twice"],
    ['add a page k titled "X" and add a page k titled "Y"', "same page twice"],
    ["redirect k to m and redirect k to n", "same address to two places"],
  ])("refuses a conflict: %s", (prompt, reason) => {
    expect(refusal(prompt).reason).toContain(reason);
  });

  it("takes renames of one name on several pages for what they are, as the gate asks for them", () => {
    const renamed = { from: "--out-file", to: "--output-file" };
    const paths = ["guides/a.md", "guides/b.mdx", "run.md", "the first page.md"];
    const places = paths.map((path) => ({ path, line: 1, message: "", renamed }));
    const understoodOf = understood(renameOrders(places).join("\n"));
    expect(understoodOf.map((one) => one.kind === "replace_term" && one.under)).toEqual(paths);
    expect(understood('In k, replace "a" with "b". In m, replace "a" with "c".')).toHaveLength(2);
    expect(understood('In k, replace "a" with "b". In m, replace "b" with "c".')).toHaveLength(2);
  });

  it("refuses what two forms read in two ways", () => {
    const [replace] = forms;
    if (!replace) throw new Error("no form");
    const other = {
      ...replace,
      read: () => ({ kind: "orders" as const, instructions: [{ kind: "fix_links" as const }] }),
    };
    const parsed = parsePrompt('replace "x" with "y"', { known: [replace, other] });
    expect(parsed).toMatchObject({ kind: "not_understood", reason: expect.stringContaining("more than one way") });
  });

  it("refuses a quotation or a fence that is not closed", () => {
    expect(refusal('replace "a with b').clause).toBe('"a with b');
    expect(refusal("add a page x with the text\n```\nhello").clause).toBe("```\nhello");
  });

  it("refuses a prompt without an instruction", () => {
    for (const prompt of [" ", "\n\n", "please", "Thanks!", "-", "…", "\u200b"]) refusal(prompt);
  });

  it("refuses more instructions than one prompt may hold", () => {
    const prompt = Array.from({ length: 51 }, (_, index) => `- redirect old${index} to new`).join("\n");
    expect(refusal(prompt).reason).toContain("50 instructions");
  });
});

const name = fc.stringMatching(/^[a-z][a-z0-9]{2,8}$/).map((word) => `${word}9`);
const path = fc.tuple(name, name).map(([folder, page]) => `${folder}/${page}`);
const valid = fc.oneof(
  fc.tuple(name, name).map(([from, to]) => `replace "${from}" with "${to}x"`),
  fc.tuple(name, name).map(([from, to]) => `rename ${from} to ${to}x`),
  fc.tuple(path, path).map(([from, to]) => `move ${from} to ${to}x`),
  path.map((page) => `set description of ${page} to "A page"`),
  path.map((page) => `add a page ${page} titled "A page"`),
  path.map((page) => `add ${page} to the navigation under "Guides"`),
  fc.tuple(path, path).map(([from, to]) => `redirect ${from} to ${to}x`),
  fc.tuple(path, name).map(([page, to]) => `rename the heading "Setup" in ${page} to "${to}"`),
  fc.tuple(path, path).map(([a, b]) => `order the navigation group Guides as ${a}, ${b}x`),
  fc.constant("fix broken links"),
);

describe("for any prompt", () => {
  it("understands every valid instruction, so that its negations prove something", () => {
    fc.assert(fc.property(valid, (order) => understood(order).length === 1));
  });

  it("carries out nothing that is negated, conditional, asked or quoted", () => {
    const turned = fc.oneof(
      ...[
        "don't",
        "do not",
        "don’t",
        "DO NOT",
        "never",
        "please don't",
        "you should not",
        "avoid:",
        "stop! Do not",
        "it is wrong to",
        "if possible,",
        "we might",
        "should I",
      ].map((words) => valid.map((order) => `${words} ${order}`)),
      ...[
        "unless it exists",
        "but only if needed",
        "? No",
        "except in guides/",
        "later",
        "(not now)",
        "— just kidding",
        "?",
        " not",
      ].map((words) => valid.map((order) => `${order} ${words}`)),
      valid.map((order) => `“${order}”`),
      valid.map((order) => `~~${order}~~`),
      fc.tuple(valid, valid).map(([one, other]) => `${one}, and don't ${other}`),
      fc.tuple(valid, valid).map(([one, other]) => `don't ${one}, and ${other}`),
      fc.tuple(valid, valid).map(([one, other]) => `- never:\n- ${one}\n- ${other}`),
    );
    fc.assert(
      fc.property(turned, (prompt) => parsePrompt(prompt).kind === "not_understood"),
      { numRuns: 2_000 },
    );
  });

  it("never throws, and never finds an order in garbage", () => {
    const garbage = fc.oneof(anyText({ maxLength: 200 }), fc.lorem({ mode: "sentences" }), fc.json());
    fc.assert(
      fc.property(garbage, (prompt) => parsePrompt(prompt).kind === "not_understood"),
      { numRuns: 2_000 },
    );
    const scraps = [
      "replace",
      "with",
      "to",
      '"',
      "'",
      "`",
      "```",
      "~~~",
      "\n",
      "\n\n",
      "- ",
      ", ",
      ". ",
      "? ",
      "move",
      "a/b",
      "in",
      "and",
      "“",
      "”",
      ":",
      "it",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...scraps), { maxLength: 40 }), (parts) => {
        parsePrompt(parts.join(" "));
        parsePrompt(parts.join(""));
      }),
      { numRuns: 2_000 },
    );
  });

  const starts = ["", "In a.md, line 1: ", "replace ", 'replace "a" with "b" ', "order the navigation group x as "];
  const units = [
    "a",
    " ",
    "\n",
    "\n ",
    '"',
    "' ",
    "'a",
    " 'a' ",
    " 'a",
    "`",
    "` ``",
    "```\n",
    "~ ",
    "~~~\n",
    "“",
    "„“",
    ",",
    ". ",
    "? ",
    "- ",
    "and ",
    "replace ",
    "replace a with ",
    "in a ",
    "a, ",
    "everywhere ",
    "also in code, ",
    "move a/b to c/d ",
    "order navigation as a, ",
    "\u0000",
    "\ud800",
    "’",
    "not ",
    "In a.md, line 1: ",
  ];
  it.each(quickRows(units, 8))("reads 100,000 characters of %j in bounded work", (unit) => {
    const text = unit.repeat(Math.ceil(100_000 / unit.length));
    for (const start of quickRows(starts, 2)) {
      expect(parsePrompt(start + text)).toHaveProperty("kind");
    }
  });
});
