import { isAbsolute, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Finding, type LiveFolder, openLiveFolder, openLiveSite, type Site, watchFolder } from "@emend/site";
import { mapText, type TextMap } from "./positions.ts";

/** Events for the editor. */
export interface Listener {
  /** The site was checked. */
  onChecked(workspace: Workspace, site: Site, findings: readonly Finding[]): Promise<void>;
  /** A message for the person, once. */
  onNews(message: string, isFault: boolean): void;
}

/** A folder that is open in an editor, as a site that follows unsaved changes. */
export interface Workspace {
  root: string;
  /** The path of a file of this folder, or null. */
  pathOf(uri: string): string | null;
  uriOf(path: string): string;
  setText(uri: string, path: string, text: string | null): void;
  /** Files changed on disk. */
  changed(paths: readonly string[]): void;
  /** The current site. Null if the folder has none. */
  site(): Promise<Site | null>;
  /** The same, after its diagnostics are published. */
  checked(): Promise<Site | null>;
  text(path: string): Promise<TextMap>;
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  docs: string;
  /** The editor reports changes on disk. */
  isTold: boolean;
}

// About the pause between typed words.
const pauseMs = 120;
// The full MDX parser takes about ten milliseconds per page. Above this number of pages, only open ones are parsed with
// it.
const mdxPagesMax = 300;

export function openWorkspace(uri: string, options: WorkspaceOptions, { onChecked, onNews }: Listener): Workspace {
  const root = fileURLToPath(uri);
  const folder: LiveFolder = openLiveFolder(root);
  const live = openLiveSite(folder, { docsDir: options.docs });
  /** The editor's URIs of open files, which may be written differently from ours. */
  const open = new Map<string, string>();
  const touched = new Set<string>();
  let site: Site | null = null;
  let isStale = true;
  let isChecked = false;
  let last = "";
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let watching: { close(): void } | null = null;
  // Serialized: a site is opened from the previous one.
  let queue: Promise<unknown> = start();

  async function start(): Promise<void> {
    if (options.isTold) touched.add("");
    else {
      const onChange = (): void => expire();
      const onFault = (error: Error): void => onNews(`${error.message}. Changes on disk are not seen.`, true);
      watching = await watchFolder(folder, { onChange, onFault }).catch((error: Error) => {
        onFault(error);
        touched.add("");
        return null;
      });
      if (isClosed) watching?.close();
    }
  }

  function expire(): void {
    isStale = true;
    isChecked = false;
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => void workspace.checked(), pauseMs);
  }

  function once(message: string, isFault: boolean): void {
    if (message !== last) onNews(message, isFault);
    last = message;
  }

  async function bringUpToDate(): Promise<Site | null> {
    if (isClosed) return null;
    if (!isStale) return site;
    isStale = false;
    try {
      const paths = [...touched];
      touched.clear();
      if (paths.length > 0) await folder.refresh(paths);
      const opened = await live.open();
      site = opened.pages.length === 0 ? null : opened;
      const what = `${opened.framework} site with ${opened.pages.length} ${opened.pages.length === 1 ? "page" : "pages"}`;
      if (site === null) {
        once(
          `There is no page of documentation in ${root}. Open another folder, or set "docs" in the settings.`,
          false,
        );
      } else if (!last.startsWith(`${root}: ${opened.framework}`)) once(`${root}: ${what}`, false);
    } catch (error) {
      once(`${root} cannot be read: ${(error as Error).message}`, true);
    }
    return site;
  }

  async function check(): Promise<Site | null> {
    const now = await bringUpToDate();
    if (isChecked || isClosed) return now;
    isChecked = true;
    if (now === null) return null;
    const mdx = now.pages.map(({ path }) => path).filter((path) => now.model.dialect(path).syntax === "mdx");
    const judged = mdx.length > mdxPagesMax ? mdx.filter((path) => open.has(path)) : mdx;
    try {
      await onChecked(workspace, now, await live.check(now, judged));
    } catch (error) {
      once(`${root} cannot be checked: ${(error as Error).message}`, true);
    }
    return now;
  }

  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  }

  const workspace: Workspace = {
    root,
    pathOf(address) {
      if (!address.startsWith("file:")) return null;
      const path = relative(root, fileURLToPath(address));
      return path === "" || path.startsWith("..") || isAbsolute(path) ? null : path.replaceAll(sep, "/");
    },
    uriOf: (path) => open.get(path) ?? pathToFileURL(`${root}/${path}`).href,
    setText(address, path, text) {
      if (text === null) open.delete(path);
      else open.set(path, address);
      folder.setText(path, text);
      expire();
    },
    changed(paths) {
      for (const path of paths) touched.add(path);
      expire();
    },
    site: () => enqueue(bringUpToDate),
    checked: () => enqueue(check),
    text: async (path) => mapText((await folder.tree.read(path)) ?? new Uint8Array()),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      watching?.close();
      await queue;
    },
  };
  return workspace;
}
