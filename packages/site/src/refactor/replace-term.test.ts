import { describe, expect, it } from "vitest";
import { editsOf, type Files, memoryTree } from "../../test/support/memory-tree.ts";
import { openSite } from "../open-site.ts";
import { type ReplaceTerm, replaceTerm } from "./replace-term.ts";

async function replace(files: Files, input: ReplaceTerm): Promise<{ text: string; left: string[] }> {
  const tree = memoryTree(files);
  const done = await replaceTerm(await openSite(tree), input);
  if (done.kind === "refused") throw new Error(done.reason);
  const left = done.skipped.map(({ path, line, reason }) => `${path}:${line} ${reason}`);
  return { text: tree.with(editsOf(done)).text("a.md"), left };
}

describe("replaceTerm", () => {
  it.each([
    ["API tokens expire. An API token is new.", "Access keys expire. An access key is new."],
    ["New. API tokens expire", "New. Access keys expire"],
    ["New, e.g. API tokens", "New, e.g. access keys"],
    ["# API tokens", "# Access keys"],
    ["- **API token**: text", "- **Access key**: text"],
    ["Two\nAPI tokens", "Two\naccess keys"],
    ["Two.\nAPI tokens", "Two.\nAccess keys"],
    ["| API token | API Tokens |\n| - | - |", "| Access key | Access Keys |\n| - | - |"],
    ["Use `x` API tokens: API tokens", "Use `x` access keys: access keys"],
    ["é. API token é API token", "é. Access key é access key"],
  ])("puts the new term's capital where a sentence begins: %j", async (before, after) => {
    const input = { from: "API token", to: "access key", wordForms: true };
    expect((await replace({ "a.md": `${before}\n` }, input)).text).toBe(`${after}\n`);
  });

  it.each([
    ["Widgets and a widget", { from: "widget", to: "gadget" }, "Gadgets and a gadget"],
    ["Phones and a phone", { from: "phone", to: "iPhone" }, "iPhones and an iPhone".replace("an ", "a ")],
    ["Yarn is yarn", { from: "Yarn", to: "npm" }, "npm is npm"],
  ])("keeps plurals, capitals and brands: %j", async (before, input, after) => {
    expect((await replace({ "a.md": `${before}\n` }, { ...input, wordForms: true })).text).toBe(`${after}\n`);
  });

  it("leaves plurals alone where no word forms are asked for", async () => {
    expect((await replace({ "a.md": "keys, key\n" }, { from: "key", to: "secret" })).text).toBe("keys, secret\n");
  });

  it("tells what it left alone, and in what", async () => {
    const page = [
      "---",
      "token: x",
      "layout: token",
      "title: Token",
      "---",
      "",
      "Token `token` and token.js, [a](/token) <b class='token'>token</b>",
      "",
      "```sh",
      "echo token token",
      "```",
      "",
      "tokens tokenize",
      "",
    ].join("\n");
    const { left, text } = await replace({ "a.md": page }, { from: "token", to: "key", wordForms: true });
    expect(left).toEqual([
      'a.md:2 "token" stays in a front-matter key',
      'a.md:3 "token" stays in front matter',
      'a.md:7 "token" stays in code',
      'a.md:7 "token" stays in a name',
      'a.md:7 "token" stays in a link\'s target',
      'a.md:7 "token" stays in markup',
      'a.md:10 "token" stays in code',
    ]);
    expect(text).toContain("Key `token` and token.js, [a](/token) <b class='token'>key</b>");
    const included = await replace({ "a.md": page }, { from: "token", to: "key", wordForms: true, includeCode: true });
    expect(included.left.filter((one) => one.endsWith("in code"))).toEqual([]);
  });

  it("skips paths and reports it, unless the term contains a slash", async () => {
    const page = [
      "---",
      'title: "DELETE /messages/{id}"',
      "---",
      "",
      "A message in docs/message or é/my-message, a message/note, and/or a message / note.",
      "",
    ].join("\n");
    const kept = await replace({ "a.md": page }, { from: "message", to: "note", wordForms: true });
    expect(kept.left).toEqual(['a.md:2 "message" stays in a path', 'a.md:5 "message" stays in a path']);
    expect(kept.text).toContain("A note in docs/message or é/my-message, a message/note, and/or a note / note.");
    expect(kept.text).toContain("DELETE /messages/{id}");
    const named = await replace({ "a.md": page }, { from: "/messages", to: "/notes" });
    expect(named.text).toContain("DELETE /notes/{id}");
  });

  it.each([
    ["the vite-plugin-inspect plugin", "plugin", "the vite-plugin-inspect addon", "in a name"],
    ["config.plugins and a plugin.", "plugin", "config.plugins and a addon.", "in a name"],
    ["my_plugin, _plugin_ and _a plugin_", "plugin", "my_plugin, _addon_ and _a addon_", "in a name"],
    ["@plugin, plugin@1 --plugin plugin() core::plugin $plugin", "plugin", "", "in a name"],
    ['<Card title="api.plugin">The plugin</Card>', "plugin", '<Card title="api.plugin">The addon</Card>', "in a name"],
    ["::: plugin.Main", "plugin", "", "in a directive"],
    ['!!! plugin "The plugin"', "plugin", '!!! plugin "The addon"', "in a directive"],
    ["> [!PLUGIN]\n> A plugin", "plugin", "> [!PLUGIN]\n> A addon", "in a directive"],
    [
      ":plugin[x] {plugin}`x` {{< plugin >}} a plugin",
      "plugin",
      ":plugin[x] {plugin}`x` {{< plugin >}} a addon",
      "in a directive",
    ],
  ])("leaves names and directives alone and says so: %j", async (before, from, after, where) => {
    const { text, left } = await replace({ "a.md": `${before}\n` }, { from, to: "addon", wordForms: true });
    expect(text).toBe(`${after || before}\n`);
    expect(left).toContain(`a.md:1 "${from}" stays ${where}`);
  });

  it.each([
    ["a plugin; plugins—a plugin--the plugin...", "plugin", "addon", "a addon; addons—a addon--the addon..."],
    ["Documentation, documentations", "documentation", "docs", "Docs, documentations"],
    ["Children, a child", "child", "kid", "Children, a kid"],
    ["Programs, a program", "program", "software", "Programs, a software"],
    ["Guides: there are guides for each", "Guides", "Handbook", "Handbook: there are guides for each"],
    ["Guides: our guides", "Guides", "Tutorials", "Tutorials: our tutorials"],
    ["Classes of a class", "class", "type", "Types of a type"],
  ])("forms plurals only where both are regular: %j", async (before, from, to, after) => {
    expect((await replace({ "a.md": `${before}\n` }, { from, to, wordForms: true })).text).toBe(`${after}\n`);
  });

  it("lists a plural that it cannot form, and keeps names in code", async () => {
    const left = await replace({ "a.md": "documentations\n" }, { from: "documentation", to: "docs", wordForms: true });
    expect(left.left).toEqual(['a.md:1 "documentation" stays in the plural']);
    const code = await replace({ "a.md": "`my_token token`\n" }, { from: "token", to: "key", includeCode: true });
    expect(code.text).toBe("`my_token key`\n");
  });

  it("names text that is not valid UTF-8, keeps its bytes, and finds lines behind other letters", async () => {
    const invalid = Buffer.concat([Buffer.from("A token "), Buffer.from([0xff, 0xfe]), Buffer.from("\n\nA token\n")]);
    const tree = memoryTree({ "a.md": invalid, "b.md": "é\n\nééé `token`\n" });
    const done = await replaceTerm(await openSite(tree), { from: "token", to: "key" });
    expect(done).toMatchObject({
      skipped: [
        { path: "a.md", line: 1, reason: '"token" stays in text that is not valid UTF-8' },
        { path: "b.md", line: 3, reason: '"token" stays in code' },
      ],
    });
    expect(Buffer.from(editsOf(done).get("a.md") ?? []).toString("latin1")).toBe("A token \xff\xfe\n\nA key\n");
  });

  it("reports nothing left if the new term contains the old one", async () => {
    const { left, text } = await replace({ "a.md": "A key\n" }, { from: "key", to: "access key" });
    expect([text, left]).toEqual(["A access key\n", []]);
  });
});
