import { movePage, openSite, outlineOf, type Refactoring, renameHeading, type Site, type SiteTree } from "@emend/site";
import type {
  CreateFile,
  DeleteFile,
  Position,
  Range,
  TextDocumentEdit,
  TextEdit,
  WorkspaceEdit,
} from "vscode-languageserver/node";
import type { Asked } from "./answers.ts";
import { diffTexts, isWithin } from "./positions.ts";
import type { Workspace } from "./workspace.ts";

/** What the editor supports for edits of many files. */
export interface EditAbilities {
  /** Supports `documentChanges`. */
  hasVersions: boolean;
  creates: boolean;
  deletes: boolean;
  versionOf(uri: string): number | null;
}

export type Renaming =
  | { kind: "edit"; edit: WorkspaceEdit; left: readonly string[] }
  | { kind: "refused"; reason: string };

async function headingAt({ workspace, site, path }: Asked, position: Position) {
  const text = await workspace.text(path);
  const { headings } = await outlineOf(site, path);
  const heading = headings.find(({ start, end }) => isWithin(text.range(start, end), position));
  return heading === undefined ? null : { ...heading, range: text.range(heading.start, heading.end) };
}

/** The heading that would be renamed. */
export async function prepareRename(
  asked: Asked,
  position: Position,
): Promise<{ range: Range; placeholder: string } | null> {
  const heading = await headingAt(asked, position);
  return heading === null ? null : { range: heading.range, placeholder: heading.text };
}

export async function renameAt(
  asked: Asked,
  position: Position,
  to: string,
  abilities: EditAbilities,
): Promise<Renaming> {
  const { workspace, site, path } = asked;
  const heading = await headingAt(asked, position);
  if (heading === null)
    return { kind: "refused", reason: "there is no heading here; put the cursor on the text of one" };
  const done = await renameHeading(site, { page: path, from: heading.id || heading.text, to });
  return toRenaming(workspace, site, done, new Map(), abilities);
}

/** The edits for moved files: links, navigation and redirects. The editor moves the files. */
export async function renameFiles(
  workspace: Workspace,
  opened: Site,
  files: readonly { from: string; to: string }[],
  abilities: EditAbilities,
): Promise<Renaming> {
  const edits = new Map<string, Uint8Array | null>();
  const moved = new Map<string, string>();
  const left: string[] = [];
  let site = opened;
  for (const { from, to } of files) {
    const isKnown = opened.index.files.has(from) || opened.index.folders().has(from);
    const isPage = [...opened.index.nodes.keys()].some((path) => path === from || path.startsWith(`${from}/`));
    if (!isKnown || !isPage) continue;
    const done = await movePage(site, { from, to });
    if (done.kind === "refused") return done;
    for (const [path, bytes] of done.edits) edits.set(path, bytes);
    for (const path of opened.index.files.keys()) {
      if (path === from) moved.set(path, to);
      else if (path.startsWith(`${from}/`)) moved.set(path, to + path.slice(from.length));
    }
    const strange = [...moved].find(([path, goal]) => edits.get(path) !== null || !edits.get(goal));
    if (strange !== undefined) return { kind: "refused", reason: `${strange[0]} cannot be moved to ${strange[1]}` };
    left.push(...done.skipped.map(({ path, line, reason }) => `${path}:${line} ${reason}`));
    site = await openSite(withEdits(opened.tree, edits), { docsDir: opened.docsDir, previous: site });
  }
  const all: Refactoring = { kind: "done", edits, counts: {}, skipped: [] };
  const renaming = await toRenaming(workspace, opened, all, moved, abilities);
  return renaming.kind === "edit" ? { ...renaming, left: [...left, ...renaming.left] } : renaming;
}

let overlays = 0;

/** A tree with some edits. */
function withEdits(tree: SiteTree, edits: ReadonlyMap<string, Uint8Array | null>): SiteTree {
  const state = overlays++;
  return {
    async list() {
      const files = new Map((await tree.list()).map((file) => [file.path, file]));
      for (const [path, bytes] of edits) {
        if (bytes === null) files.delete(path);
        else files.set(path, { path, hash: `${path}@moved-${state}` });
      }
      return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    },
    read: async (path) => (edits.has(path) ? (edits.get(path) ?? null) : tree.read(path)),
  };
}

/**
 * A refactoring as a workspace edit. `moved`: files that the editor moves itself, which are edited at their current
 * place.
 */
async function toRenaming(
  workspace: Workspace,
  site: Site,
  done: Refactoring,
  moved: ReadonlyMap<string, string>,
  abilities: EditAbilities,
): Promise<Renaming> {
  if (done.kind === "refused") return done;
  const origins = new Map([...moved].map(([from, to]) => [to, from]));
  const left = done.skipped.map(({ path, line, reason }) => `${path}:${line} ${reason}`);
  const changes: Record<string, TextEdit[]> = {};
  const created: { file: CreateFile; text: string }[] = [];
  const deleted: DeleteFile[] = [];
  for (const [path, bytes] of done.edits) {
    if (moved.has(path)) continue;
    const source = origins.get(path) ?? path;
    const uri = workspace.uriOf(source);
    const before = await site.tree.read(source);
    if (bytes === null) {
      if (abilities.deletes) deleted.push({ kind: "delete", uri });
      else left.push(`${path} must be deleted by hand`);
    } else if (before !== null) {
      const edits = diffTexts(before, bytes);
      if (edits.length > 0) changes[uri] = edits;
    } else if (abilities.creates) {
      created.push({ file: { kind: "create", uri }, text: Buffer.from(bytes).toString("utf8") });
    } else left.push(`${path} must be created by hand`);
  }
  if (!abilities.hasVersions) return { kind: "edit", edit: { changes }, left };
  const edit = (uri: string, edits: TextEdit[]): TextDocumentEdit => ({
    textDocument: { uri, version: abilities.versionOf(uri) },
    edits,
  });
  const start = { line: 0, character: 0 };
  return {
    kind: "edit",
    left,
    edit: {
      documentChanges: [
        ...Object.entries(changes).map(([uri, edits]) => edit(uri, edits)),
        ...created.flatMap(({ file, text }) => [
          file,
          edit(file.uri, [{ range: { start, end: start }, newText: text }]),
        ]),
        ...deleted,
      ],
    },
  };
}
