import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generateSite, type SiteStyle } from "./generate.ts";

/** Writes a generated site into a folder; answers how many files. */
export async function writeSite(folder: string, pages: number, style: SiteStyle): Promise<number> {
  let files = 0;
  for (const { path, content } of generateSite(pages, style)) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
    files++;
  }
  return files;
}
