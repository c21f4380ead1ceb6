import { describe, expect, it } from "vitest";
import { editsOf, memoryTree } from "../../test/support/memory-tree.ts";
import { mintlifySite } from "../../test/support/mintlify-site.ts";
import { openSite } from "../open-site.ts";
import { addPage } from "./add-page.ts";
import { renameHeading } from "./anchors.ts";
import { addToNavigation, orderNavigation, renameGroup } from "./edit-navigation.ts";
import { fixLinks } from "./fix-links.ts";
import { addRedirect } from "./redirects.ts";
import { replaceTerm } from "./replace-term.ts";
import { setFrontMatter } from "./set-front-matter.ts";

describe("replaceTerm", () => {
  it("replaces prose only, keeps case and leaves code, targets, keys and addresses alone", async () => {
    const page = `---
title: Widget guide
widget: "yes"
---

# The widget

A Widget and WIDGET, two widgets; see [the widget](/widget.mdx) at https://widget.dev/widget or widget.com.
\`widget\` <Card title="A widget" id="widget">widget</Card>

    not code in MDX: widget

\`\`\`js
widget()
\`\`\`
`;
    const tree = memoryTree({
      "docs.json": '{"navigation":{"groups":[{"group":"Widget basics","pages":["widget"]}]}}',
      "widget.mdx": page,
    });
    const done = await replaceTerm(await openSite(tree), { from: "widget", to: "gadget", wordForms: true });
    const after = tree.with(editsOf(done));
    expect(after.text("widget.mdx")).toBe(`---
title: Gadget guide
widget: "yes"
---

# The gadget

A Gadget and GADGET, two gadgets; see [the gadget](/widget.mdx) at https://widget.dev/widget or widget.com.
\`widget\` <Card title="A gadget" id="widget">gadget</Card>

    not code in MDX: gadget

\`\`\`js
widget()
\`\`\`
`);
    expect(after.text("docs.json")).toContain('"Gadget basics"');
    const again = await replaceTerm(await openSite(after), { from: "widget", to: "gadget", wordForms: true });
    expect(editsOf(again).size).toBe(0);
  });

  it("is idempotent if the new term contains the old one, and updates links to changed headings", async () => {
    const tree = memoryTree({
      "a.md": "# About Auth\n\nSee [b](b.md#auth-keys) and [above](#about-auth).\n",
      "b.md": "# B\n\n## Auth keys\n\nAuth.\n",
    });
    const once = tree.with(editsOf(await replaceTerm(await openSite(tree), { from: "Auth", to: "Auth Service" })));
    expect(once.text("a.md")).toBe(
      "# About Auth Service\n\nSee [b](b.md#auth-service-keys) and [above](#about-auth-service).\n",
    );
    expect(editsOf(await replaceTerm(await openSite(once), { from: "Auth", to: "Auth Service" })).size).toBe(0);
  });

  it("preserves CRLF, a byte order mark and bytes that are no UTF-8", async () => {
    const bytes = Buffer.concat([
      Buffer.from("\ufeff# One\r\n\r\nold \u00e9t\u00e9 old\r\n\r\n"),
      Buffer.from([0xff, 0xfe, 10]),
      Buffer.from("\nold\r\n"),
    ]);
    const tree = memoryTree({ "a.md": bytes });
    const after = tree.with(editsOf(await replaceTerm(await openSite(tree), { from: "old", to: "new" })));
    const expected = Buffer.concat([
      Buffer.from("\ufeff# One\r\n\r\nnew \u00e9t\u00e9 new\r\n\r\n"),
      Buffer.from([0xff, 0xfe, 10]),
      Buffer.from("\nnew\r\n"),
    ]);
    expect(Buffer.from(after.files.get("a.md") ?? [])).toEqual(expected);
  });
});

describe("renameHeading", () => {
  it("renames a heading and every link to it", async () => {
    const tree = memoryTree(mintlifySite);
    const done = await renameHeading(await openSite(tree), { page: "guides/auth", from: "Keys", to: "API keys" });
    const after = tree.with(editsOf(done));
    expect(done).toMatchObject({ counts: { headings: 1, links: 3 } });
    expect(after.text("guides/auth.mdx")).toContain("## API keys\n");
    expect(after.text("guides/auth.mdx")).toContain("[keys](#api-keys)");
    expect(after.text("index.mdx")).toContain('/guides/auth#api-keys "Auth"');
  });

  it("refuses a text that another heading of the page has", async () => {
    const site = await openSite(memoryTree(mintlifySite));
    expect(await renameHeading(site, { page: "guides/auth", from: "Keys", to: "scopes" })).toEqual({
      kind: "refused",
      reason: expect.stringMatching(
        /^guides\/auth\.mdx already has a heading "Scopes" on line \d+; choose another text$/,
      ),
    });
  });
});

describe("fixLinks", () => {
  it("repairs what can mean only one page and reports the rest", async () => {
    const tree = memoryTree({
      "index.md": "[a](guides/instal.md#setpu) [b](/nowhere/at-all) [c](./old/install.md)\n\n# Setup\n\n[d](#set-up)\n",
      "guides/install.md": "# Install\n\n## Setup\n",
    });
    const done = await fixLinks(await openSite(tree));
    const after = tree.with(editsOf(done));
    expect(after.text("index.md")).toContain(
      "[a](guides/install.md#setpu) [b](/nowhere/at-all) [c](./guides/install.md)",
    );
    expect(after.text("index.md")).toContain("[d](#setup)");
    expect(done).toMatchObject({ skipped: [{ path: "index.md", line: 1 }] });
    const twice = after.with(editsOf(await fixLinks(await openSite(after))));
    expect(twice.text("index.md")).toContain("guides/install.md#setup)");
  });
});

describe("navigation", () => {
  it("adds a page and lists it in its group, in the style of its neighbours", async () => {
    const tree = memoryTree(mintlifySite);
    const done = await addPage(await openSite(tree), {
      path: "guides/teams",
      title: "Teams",
      content: "Text",
      group: "Guides",
    });
    const after = tree.with(editsOf(done));
    expect(after.text("guides/teams.mdx")).toBe("---\ntitle: Teams\n---\n\nText\n");
    expect(after.text("docs.json")).toContain('"guides/billing",\n              "guides/teams"\n            ]');
  });

  it("inserts before a page, once", async () => {
    const tree = memoryTree({ ...mintlifySite, "extra.mdx": "# Extra\n" });
    const site = await openSite(tree);
    const after = tree.with(editsOf(await addToNavigation(site, { page: "extra", before: "quickstart" })));
    expect(after.text("docs.json")).toContain('["index", "extra", "quickstart"]');
    expect(editsOf(await addToNavigation(await openSite(after), { page: "extra" })).size).toBe(0);
  });

  it("orders the pages of a group", async () => {
    const tree = memoryTree(mintlifySite);
    const done = await orderNavigation(await openSite(tree), { pages: ["guides/billing", "guides/auth"] });
    expect(tree.with(editsOf(done)).text("docs.json")).toContain('"guides/billing",\n              "guides/auth"\n');
  });

  it("tells groups of one name apart by their place", async () => {
    const groups = [
      { group: "Guides", pages: ["a"] },
      { group: "Guides", pages: ["b"] },
    ];
    const config = JSON.stringify({ navigation: { groups } }, null, 1);
    const tree = memoryTree({ "docs.json": config, "a.mdx": "", "b.mdx": "", "c.mdx": "" });
    const site = await openSite(tree);
    const refused = await addToNavigation(site, { page: "c", group: "Guides" });
    expect(refused).toMatchObject({ reason: expect.stringContaining("Guides (docs.json:7); Guides (docs.json:13)") });
    const added = await addToNavigation(site, { page: "c", group: "Guides (docs.json:13)" });
    expect(tree.with(editsOf(added)).text("docs.json")).toMatch(/"b",\s+"c"/);
    expect(await renameGroup(site, { from: "Guides", to: "How-to" })).toMatchObject({
      reason: expect.stringMatching(/name one as Guides \(docs\.json:\d+\) or Guides \(docs\.json:\d+\)/),
    });
  });

  it("says which groups there are", async () => {
    const site = await openSite(memoryTree({ ...mintlifySite, "extra.mdx": "# Extra\n" }));
    const refused = await addToNavigation(site, { page: "extra", group: "Guide" });
    expect(refused).toEqual({ kind: "refused", reason: 'the navigation has no group "Guide"; there is Guides, Start' });
  });
});

describe("addRedirect", () => {
  it("adds one, once, and refuses to shadow a page", async () => {
    const tree = memoryTree(mintlifySite);
    const after = tree.with(editsOf(await addRedirect(await openSite(tree), { from: "/old", to: "guides/auth" })));
    expect(after.text("docs.json")).toContain('{ "source": "/old", "destination": "/guides/auth" }');
    expect(editsOf(await addRedirect(await openSite(after), { from: "old", to: "/guides/auth" })).size).toBe(0);
    expect(await addRedirect(await openSite(tree), { from: "/quickstart", to: "/guides/auth" })).toMatchObject({
      kind: "refused",
    });
  });
});

describe("setFrontMatter", () => {
  it.each([
    ["---\ntitle: A # note\nother: 1\n---\n", "---\ntitle: New # note\nother: 1\n---\n"],
    ["---\ntitle: >\n  long\n  text\nother: 1\n---\n", "---\ntitle: New\nother: 1\n---\n"],
    ["---\r\nother: 1\r\n---\r\nText", "---\r\nother: 1\r\ntitle: New\r\n---\r\nText"],
    ["# Text\n", "---\ntitle: New\n---\n\n# Text\n"],
    ['+++\ntitle = "A"\n[x]\ny = 1\n+++\n', '+++\ntitle = "New"\n[x]\ny = 1\n+++\n'],
  ])("sets a field of %j", async (before, expected) => {
    const tree = memoryTree({ "a.md": before });
    const after = tree.with(
      editsOf(await setFrontMatter(await openSite(tree), { page: "a", field: "title", value: "New" })),
    );
    expect(after.text("a.md")).toBe(expected);
    expect(editsOf(await setFrontMatter(await openSite(after), { page: "a", field: "title", value: "New" })).size).toBe(
      0,
    );
  });
});
