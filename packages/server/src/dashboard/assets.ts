import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { createStaticFile, type StaticFile } from "../http/send-json.ts";

export interface Assets {
  /** The single page, with placeholders for the base path. */
  page: string;
  /** By name; each name contains a content hash. */
  files: ReadonlyMap<string, StaticFile>;
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Their names change with their content. */
const cacheControl = "public, max-age=31536000, immutable";

/** The location in a checkout's build and in the published package. */
export const assetsDir = new URL("../../../dashboard/dist/", import.meta.url);

export function isDashboardBuilt(): boolean {
  return existsSync(new URL("index.html", assetsDir));
}

/** Reads all built files into memory: a few hundred kilobytes, and no request path reaches the disk. */
export function readAssets(dir: URL): Assets | null {
  const page = read(new URL("index.html", dir));
  if (!page) return null;
  const folder = new URL("assets/", dir);
  const files = readdirSync(folder).flatMap((name): [string, StaticFile][] => {
    const type = types[extname(name)];
    const bytes = type && read(new URL(name, folder));
    return type && bytes ? [[name, createStaticFile({ bytes, type, cacheControl })]] : [];
  });
  return { page: page.toString("utf8"), files: new Map(files) };
}

function read(file: URL): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
