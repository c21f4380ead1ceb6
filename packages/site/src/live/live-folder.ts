import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { applySettings, readCheckSettings } from "../check-settings.ts";
import { checkSite } from "../check-site.ts";
import { isSkipped, walkFolder } from "../folder-tree.ts";
import { isBelow } from "../links/target.ts";
import { openSite } from "../open-site.ts";
import { checkMdx } from "../parse/check-mdx.ts";
import { silenceFindings } from "../silence.ts";
import type { Site } from "../site.ts";
import type { Finding, SiteFile, SiteTree } from "../types.ts";

/**
 * A folder on disk as a tree that is updated by change events, so that listing it is free. Text from an editor replaces
 * the file on disk. A file's hash is a change counter, valid only in this process.
 */
export interface LiveFolder {
  root: string;
  tree: SiteTree;
  /** Every known folder, by path. "" is the root. */
  folders: ReadonlySet<string>;
  /** Rereads changed paths: files, whole folders, or deleted ones. */
  refresh(paths: Iterable<string>): Promise<void>;
  /** The editor's text of a file, saved or not. Null: use the file on disk again. */
  setText(path: string, text: string | null): void;
}

const looksAtOnce = 32;

export function openLiveFolder(root: string): LiveFolder {
  const onDisk = new Map<string, SiteFile>();
  const folders = new Set<string>();
  const held = new Map<string, { bytes: Uint8Array; file: SiteFile }>();
  let listed: readonly SiteFile[] | null = null;
  let changes = 0;

  function fileOf(path: string): SiteFile {
    listed = null;
    return { path, hash: `${path}@${changes++}` };
  }

  function forget(path: string): void {
    listed = null;
    onDisk.delete(path);
    if (!folders.has(path)) return;
    for (const folder of folders) if (folder === path || isBelow(folder, path)) folders.delete(folder);
    for (const file of onDisk.keys()) if (isBelow(file, path)) onDisk.delete(file);
  }

  async function look(path: string): Promise<void> {
    const info = await lstat(join(root, path)).catch(ignoreAbsent);
    if (info?.isFile() === true) {
      onDisk.set(path, fileOf(path));
      return;
    }
    forget(path);
    if (info?.isDirectory() !== true) return;
    await walkFolder(
      root,
      path,
      (file) => onDisk.set(file, fileOf(file)),
      (folder) => folders.add(folder),
      // The path may be deleted before it is read: then another change event follows.
    ).catch(ignoreAbsent);
  }

  return {
    root,
    folders,
    tree: {
      async list() {
        const files = new Map(onDisk);
        for (const [path, { file }] of held) files.set(path, file);
        listed ??= [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
        return listed;
      },
      async read(path) {
        return held.get(path)?.bytes ?? (await readFile(join(root, path)).catch(ignoreAbsent)) ?? null;
      },
    },
    async refresh(paths) {
      const named = new Set(paths);
      const wanted = named.has("") ? [""] : [...named].filter((path) => !isSkipped(path));
      for (let from = 0; from < wanted.length; from += looksAtOnce) {
        await Promise.all(wanted.slice(from, from + looksAtOnce).map(look));
      }
    },
    setText(path, text) {
      if (isSkipped(path)) return;
      const file = fileOf(path);
      if (text !== null) held.set(path, { bytes: Buffer.from(text), file });
      else if (held.delete(path) && onDisk.has(path)) onDisk.set(path, file);
    },
  };
}

const gone = new Set(["ENOENT", "ENOTDIR"]);

/** Ignores only missing files. An unreadable file is an error for the caller. */
function ignoreAbsent(error: unknown): undefined {
  if (!gone.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
}

/** A site for repeated opening and checking: unchanged parts are neither read nor checked again. */
export interface LiveSite {
  open(signal?: AbortSignal): Promise<Site>;
  /** The findings of `checkSite`, and of the full MDX parser for these pages. */
  check(site: Site, mdxPages: Iterable<string>, signal?: AbortSignal): Promise<readonly Finding[]>;
}

export function openLiveSite({ tree }: LiveFolder, { docsDir = "" }: { docsDir?: string } = {}): LiveSite {
  let latest: Site | undefined;
  const judged = new Map<string, { hash: string; findings: readonly Finding[] }>();

  async function judgeMdx(site: Site, pages: Iterable<string>, signal?: AbortSignal): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (const path of pages) {
      const node = site.index.nodes.get(path);
      if (node === undefined || site.model.dialect(path).syntax !== "mdx") continue;
      let known = judged.get(path);
      if (known?.hash !== node.hash) {
        const findings = await checkMdx(site, [path], signal === undefined ? {} : { signal });
        known = { hash: node.hash, findings };
        judged.set(path, known);
      }
      findings.push(...known.findings);
    }
    return findings;
  }

  return {
    async open(signal) {
      const options = { docsDir, ...(latest === undefined ? {} : { previous: latest }) };
      latest = await openSite(tree, signal === undefined ? options : { ...options, signal });
      return latest;
    },
    async check(site, mdxPages, signal) {
      const findings = await checkSite(site, signal === undefined ? {} : { signal });
      const ofMdx = await judgeMdx(site, mdxPages, signal);
      if (ofMdx.length === 0) return findings;
      const settings = await readCheckSettings(site);
      // Not every page was parsed, so an ignore comment without effect here may still be needed.
      const silent = silenceFindings(site, applySettings(ofMdx, settings), { settings, ran: new Set() });
      return [...findings, ...silent];
    },
  };
}
