import { access } from "node:fs/promises";
import { join } from "node:path";

const configurations = [
  "docs.json",
  "mint.json",
  "docusaurus.config.js",
  "docusaurus.config.ts",
  "mkdocs.yml",
  "book.toml",
];
const folders = ["", "docs", "documentation", "website"];

/** The folder of a repository that holds a docs site's configuration; the whole repository where none does. */
export async function findDocsDir(repository: string): Promise<string> {
  for (const folder of folders) {
    for (const file of configurations) {
      if (await exists(join(repository, folder, file))) return folder;
    }
  }
  return "";
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
