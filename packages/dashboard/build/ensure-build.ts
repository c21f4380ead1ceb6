import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../", import.meta.url));
const dist = join(root, "dist");
const modules = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
const sources = ["index.html", "package.json", "vite.config.ts", "src", "build", "../contract/src", "../../docs"];

/** Builds the dashboard unless the existing build has the same sources. A manual build leaves no stamp. */
export async function ensureBuild(): Promise<void> {
  const stamp = await hashOf(sources);
  if ((await readFile(join(dist, "stamp"), "utf8").catch(() => "")) === stamp) return;
  // Built elsewhere first, so that a starting server finds the old build or the new one.
  const outDir = join(modules, ".cache", `dashboard-${randomUUID()}`);
  await mkdir(outDir, { recursive: true });
  try {
    // In a separate process: in this one, which runs tests, React differs.
    const args = [join(modules, "vite/bin/vite.js"), "build", "--outDir", outDir, "--logLevel", "warn"];
    await promisify(execFile)(process.execPath, args, { cwd: root, env: { ...process.env, NODE_ENV: "production" } });
    await writeFile(join(outDir, "stamp"), stamp);
    await rm(dist, { recursive: true, force: true });
    await rename(outDir, dist);
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}

async function hashOf(paths: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of paths) {
    const whole = join(root, path);
    for (const file of (await filesBelow(whole)).sort())
      hash.update(file.slice(root.length)).update(await readFile(file));
  }
  return hash.digest("hex");
}

async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === "ENOTDIR") return null;
    throw error;
  });
  if (!entries) return [path];
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** The message for a failed build, on its own between empty lines, because npm prints before and after. */
export function describeBuildFailure(error: Error & { stderr?: string }): string {
  const lines = (error.stderr || error.message).split("\n").map((line) => line.trim());
  // Only the first sentence of the bundler's message; its advice is to delete the lock file.
  const [reason] = (lines.find((line) => /^(\w*error\b|cannot find)/i.test(line)) ?? lines[0] ?? "").split(". ");
  return `
The dashboard was not built: ${reason}
The API, the command line and git work without it. Pull requests of the local forge are shown in the dashboard.
To build it, remove node_modules and run "npm install" again. If it fails again, "npm run build:dashboard" prints the whole error.
`;
}

// After `npm install`.
if (import.meta.main) {
  if (process.execPath.startsWith(modules)) {
    console.log(
      `This machine's Node is older than 22.18: here Emend runs on Node ${process.versions.node} from node_modules.`,
    );
  }
  await ensureBuild().catch((error) => console.error(describeBuildFailure(error)));
}
