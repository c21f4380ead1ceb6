// Costly: an editor starts the language server and speaks to its streams.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import {
  CodeActionRequest,
  CompletionRequest,
  DefinitionRequest,
  type Diagnostic,
  DiagnosticSeverity,
  DidChangeWatchedFilesNotification,
  DidChangeWorkspaceFoldersNotification,
  DidCloseTextDocumentNotification,
  DocumentLinkRequest,
  FileChangeType,
  HoverRequest,
  PrepareRenameRequest,
  ReferencesRequest,
  RenameRequest,
  WillRenameFilesRequest,
} from "vscode-languageserver-protocol/node";
import { applyTo, type Editor, type Files, makeSite, placeOf, startEditor, writePage } from "./support/editor.ts";

const mkdocs: Files = {
  "mkdocs.yml": "site_name: Test\nnav:\n  - Home: index.md\n  - Install: guides/install.md\n",
  "docs/index.md": "# Home\n\n日本語 🎉 [install](guides/install.md#first-steps) and [gone](guides/instal.md) here\n",
  "docs/guides/install.md": "# Install\n\n## First steps\n\nSee [usage](usage.md) and [steps](#first-steps).\n",
  "docs/guides/usage.md": "# Usage\n\n🎉🎉 [back](install.md#first-steps)\n\n## Second\n",
};
const mintlify: Files = {
  "docs.json":
    '{ "name": "T", "navigation": { "groups": [{ "group": "G", "pages": ["index", "guides/auth"] }] },\n  "redirects": [] }\n',
  "index.mdx": '---\ntitle: "Start"\n---\n\n[auth](/guides/auth#api-keys)\n\n<Card href="/guides/auth" />\n',
  "guides/auth.mdx": '---\ntitle: "Auth"\n---\n\n## API keys\n\n[home](/)\n',
};
const docusaurus: Files = {
  "docusaurus.config.js":
    "export default {\n  title: 'T', url: 'https://x.test', baseUrl: '/',\n  presets: [['classic', { docs: { sidebarPath: './sidebars.js' } }]],\n};\n",
  "sidebars.js": "module.exports = {\n  docs: ['intro', 'guides/keys'],\n};\n",
  "docs/intro.md": "# Intro\n\n[keys](./guides/keys.md) and [rotate](guides/keys.md#rotate-keys)\n",
  "docs/guides/keys.md": "# Keys\n\n## Rotate keys\n\n[intro](../intro.md)\n",
};

const at = (editor: Editor, path: string, text: string, piece: string, inside = 1) => ({
  textDocument: { uri: editor.uri(path) },
  position: placeOf(text, piece, inside),
});
const pick = (text: string, { range }: Pick<Diagnostic, "range">) =>
  text.split("\n")[range.start.line]?.slice(range.start.character, range.end.character);

test("reports problems while typing, at the right column after emoji, and fixes certain ones", async () => {
  const dir = await makeSite(mkdocs);
  const editor = await startEditor([dir]);
  const text = mkdocs["docs/index.md"] ?? "";
  const [found] = await editor.untilDiagnosed("docs/index.md", ({ length }) => length === 1);
  expect(found).toMatchObject({ code: "broken-link", source: "emend", severity: DiagnosticSeverity.Error });
  expect(pick(text, found as Diagnostic)).toBe("guides/instal.md");
  // Not saved: the buffer counts, and so do other pages' current contents.
  await editor.open("docs/guides/install.md", "# Install\n");
  const both = await editor.untilDiagnosed("docs/index.md", ({ length }) => length === 2);
  expect(both[0]).toMatchObject({
    code: "broken-anchor",
    relatedInformation: [{ location: { uri: editor.uri("docs/guides/install.md") }, message: /Install/ }],
  });
  expect(pick(text, both[0] as Diagnostic)).toBe("guides/install.md#first-steps");
  const actions = await editor.connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: editor.uri("docs/index.md") },
    range: (found as Diagnostic).range,
    context: { diagnostics: [] },
  });
  expect(actions).toMatchObject([
    { title: "Link to guides/install.md", kind: "quickfix", isPreferred: true },
    { kind: "source.fixAll.emend" },
  ]);
  const [fix] = actions as { edit: Parameters<typeof applyTo>[1] }[];
  expect(applyTo(text, fix?.edit ?? {}, editor.uri("docs/index.md"))).toContain("[gone](guides/install.md) here");
  // Closed without saving: the file on disk counts again.
  await editor.connection.sendNotification(DidCloseTextDocumentNotification.type, {
    textDocument: { uri: editor.uri("docs/guides/install.md") },
  });
  await editor.untilDiagnosed("docs/index.md", ({ length }) => length === 1);
  await editor.open("docs/index.md", "# Home\n\n[x](#");
  await editor.untilDiagnosed("docs/index.md", ({ length }) => length === 0);
  // The editor sends no notification, but changes on disk are seen anyway.
  await writePage(dir, "docs/guides/usage.md", "# Usage\n\n[x](none.md)\n");
  await editor.untilDiagnosed("docs/guides/usage.md", ({ length }) => length === 1);
  expect(await editor.close()).toBe(0);
}, 60_000);

test("finds definitions, references and hovers", async () => {
  const dir = await makeSite(mkdocs);
  const editor = await startEditor([dir]);
  const { connection } = editor;
  const text = mkdocs["docs/guides/usage.md"] ?? "";
  const place = at(editor, "docs/guides/usage.md", text, "install.md#first-steps");
  expect(await connection.sendRequest(DefinitionRequest.type, place)).toEqual({
    uri: editor.uri("docs/guides/install.md"),
    range: { start: { line: 2, character: 3 }, end: { line: 2, character: 14 } },
  });
  expect(await connection.sendRequest(HoverRequest.type, place)).toMatchObject({
    contents: { value: "**Install** › First steps\n\n`docs/guides/install.md` · `/guides/install/`" },
  });
  // One UTF-16 unit before the link, there is none.
  const outside = at(editor, "docs/guides/usage.md", text, "install.md#first-steps", -2);
  expect(await connection.sendRequest(DefinitionRequest.type, outside)).toBeNull();
  const install = mkdocs["docs/guides/install.md"] ?? "";
  const references = async (piece: string) =>
    (
      (await connection.sendRequest(ReferencesRequest.type, {
        ...at(editor, "docs/guides/install.md", install, piece),
        context: { includeDeclaration: false },
      })) ?? []
    ).map(({ uri, range }) => `${uri.slice(editor.uri("").length + 1)}:${range.start.line}:${range.start.character}`);
  expect(await references("First steps")).toEqual(
    ["docs/index.md:2:17", "docs/guides/install.md:4:34", "docs/guides/usage.md:2:12"].toSorted(),
  );
  // The page's navigation entry is included.
  expect(await references("# Install")).toEqual(["docs/guides/usage.md:2:12", "docs/index.md:2:17", "mkdocs.yml:3:13"]);
  const nav = at(editor, "mkdocs.yml", mkdocs["mkdocs.yml"] ?? "", "guides/install.md");
  expect(await connection.sendRequest(DefinitionRequest.type, nav)).toMatchObject({
    uri: editor.uri("docs/guides/install.md"),
  });
  const links = await connection.sendRequest(DocumentLinkRequest.type, {
    textDocument: { uri: editor.uri("docs/index.md") },
  });
  expect(links).toMatchObject([{ target: `${editor.uri("docs/guides/install.md")}#L3`, tooltip: "Install" }]);
}, 60_000);

test("completes pages and anchors in the manner of the page and its framework", async () => {
  async function labels(editor: Editor, path: string, text: string): Promise<string[]> {
    const position = placeOf(text, "|");
    await editor.open(path, text.replace("|", ""));
    const textDocument = { uri: editor.uri(path) };
    const list = await editor.connection.sendRequest(CompletionRequest.type, { textDocument, position });
    await editor.connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument });
    return (Array.isArray(list) ? list : (list?.items ?? [])).map(({ label }) => label).sort();
  }
  const material = await startEditor([await makeSite(mkdocs)]);
  const fresh = (text: string): Promise<string[]> => labels(material, "docs/guides/new.md", text);
  expect(await fresh("🎉 [x](|)")).toEqual(["../index.md", "install.md", "usage.md"]);
  expect(await fresh("[x](./|)")).toEqual(["../index.md", "./install.md", "./usage.md"]);
  expect(await fresh("[x](inst|)")).toEqual(["install.md"]);
  expect(await fresh("[x](install.md#|)")).toEqual(["#first-steps", "#install"]);
  expect(await fresh("[x]: usage.md#|")).toEqual(["#second", "#usage"]);
  expect(await fresh("no link (|")).toEqual([]);
  const mint = await startEditor([await makeSite(mintlify)]);
  expect(await labels(mint, "guides/new.mdx", '<Card href="/au|" />')).toEqual(["/guides/auth"]);
  expect(await labels(mint, "guides/new.mdx", "[x](|)")).toEqual(["/guides/auth", "/index"]);
  const docs = await startEditor([await makeSite(docusaurus)]);
  expect(await labels(docs, "docs/new.md", "# New\n\n## Own\n\n[x](#|)")).toEqual(["#own"]);
  expect(await labels(docs, "docs/new.md", "[x](./|)")).toEqual(["./guides/keys.md", "./intro.md"]);
}, 60_000);

test("renames headings and pages with all their links, navigation and redirects", async () => {
  const capabilities = {
    workspace: { workspaceEdit: { documentChanges: true, resourceOperations: ["create" as const, "delete" as const] } },
  };
  const editor = await startEditor([await makeSite(docusaurus)], { capabilities });
  const { connection, uri } = editor;
  const keys = "# Keys 🎉\n\n## Rotate keys\n\n[intro](../intro.md)\n";
  await editor.open("docs/guides/keys.md", keys);
  const heading = at(editor, "docs/guides/keys.md", keys, "Rotate");
  expect(await connection.sendRequest(PrepareRenameRequest.type, heading)).toMatchObject({
    placeholder: "Rotate keys",
  });
  const renamed = await connection.sendRequest(RenameRequest.type, { ...heading, newName: "Change keys" });
  const intro = docusaurus["docs/intro.md"] ?? "";
  expect(applyTo(keys, renamed ?? {}, uri("docs/guides/keys.md"))).toContain("## Change keys\n");
  expect(applyTo(intro, renamed ?? {}, uri("docs/intro.md"))).toContain("(guides/keys.md#change-keys)");
  await expect(connection.sendRequest(RenameRequest.type, { ...heading, newName: "Keys 🎉" })).rejects.toThrow(
    "already has a heading",
  );
  const moved = await connection.sendRequest(WillRenameFilesRequest.type, {
    files: [{ oldUri: uri("docs/guides/keys.md"), newUri: uri("docs/access/tokens.md") }],
  });
  // The editor moves the file, and edits apply at its new path.
  expect(applyTo(keys, moved ?? {}, uri("docs/guides/keys.md"))).toBe(keys);
  expect(applyTo(intro, moved ?? {}, uri("docs/intro.md"))).toContain("[keys](./access/tokens.md)");
  const sidebars = docusaurus["sidebars.js"] ?? "";
  expect(applyTo(sidebars, moved ?? {}, uri("sidebars.js"))).toContain("'access/tokens'");
  await editor.close();

  const mint = await startEditor([await makeSite(mintlify)], { capabilities });
  const folder = await mint.connection.sendRequest(WillRenameFilesRequest.type, {
    files: [{ oldUri: mint.uri("guides"), newUri: mint.uri("access") }],
  });
  const changed = applyTo(mintlify["docs.json"] ?? "", folder ?? {}, mint.uri("docs.json"));
  expect(changed).toContain('"access/auth"');
  expect(changed).toContain('"destination": "/access/auth"');
  const index = applyTo(mintlify["index.mdx"] ?? "", folder ?? {}, mint.uri("index.mdx"));
  expect(index).toContain('[auth](/access/auth#api-keys)\n\n<Card href="/access/auth" />');
  const refused = mint.connection.sendRequest(WillRenameFilesRequest.type, {
    files: [{ oldUri: mint.uri("index.mdx"), newUri: mint.uri("guides/auth.mdx") }],
  });
  expect(await refused).toBeNull();
  expect(await mint.untilTold("this move is not followed")).toContain("already exists");
}, 60_000);

test("serves several folders, hears of files, and says in words what it cannot read", async () => {
  const [one, two, none] = [await makeSite(mkdocs), await makeSite(mintlify), await makeSite({ "a.txt": "x" })];
  const editor = await startEditor([one, two], {
    capabilities: { workspace: { didChangeWatchedFiles: { dynamicRegistration: true }, workspaceFolders: true } },
  });
  const other = (dir: string, path: string): string => pathToFileURL(join(dir, path)).href;
  await editor.untilTold(`${one}: mkdocs site with 3 pages`);
  await editor.untilTold(`${two}: mintlify site with 2 pages`);
  expect(editor.registered).toContain("workspace/didChangeWatchedFiles");
  const hover = await editor.connection.sendRequest(HoverRequest.type, {
    textDocument: { uri: other(two, "index.mdx") },
    position: { line: 4, character: 10 },
  });
  expect(hover).toMatchObject({ contents: { value: expect.stringContaining("**Auth** › API keys") } });
  await rm(join(one, "docs/guides/install.md"));
  await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
    changes: [{ uri: other(one, "docs/guides/install.md"), type: FileChangeType.Deleted }],
  });
  const found = await editor.untilDiagnosed("docs/index.md", ({ length }) => length === 2);
  expect(found.map(({ code }) => code)).toEqual(["broken-link", "broken-link"]);
  await editor.connection.sendNotification(DidChangeWorkspaceFoldersNotification.type, {
    event: {
      added: [{ uri: other(none, ""), name: "none" }],
      removed: [{ uri: pathToFileURL(one).href, name: one }],
    },
  });
  await editor.untilDiagnosed("docs/index.md", ({ length }) => length === 0);
  await editor.untilTold(`There is no page of documentation in ${none}`);
  const lost = { textDocument: { uri: editor.uri("docs/index.md") }, position: { line: 0, character: 0 } };
  expect(await editor.connection.sendRequest(HoverRequest.type, lost)).toBeNull();
  await editor.close();

  const huge = await startEditor([await makeSite({ ...mkdocs, ".emend/check.json": "{" })]);
  const [settings] = await huge.untilDiagnosed(".emend/check.json", ({ length }) => length === 1);
  expect(settings).toMatchObject({ code: "check-settings", message: expect.stringContaining("it is not valid JSON") });
  await huge.open("docs/index.md", `# Home\n${"word ".repeat(900_000)}`);
  await huge.untilDiagnosed("docs/index.md", (all) => all.some(({ code }) => code === "unread-page"));
}, 60_000);
