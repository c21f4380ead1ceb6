// Publishes @emend/cli and @emend/sdk. `npm run release -- --dry-run` does all of it except for publishing. The workflow
// .github/workflows/release.yml publishes, without a stored token: npm trusts the workflow (trusted publishing).
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { buildPackage } from "./build.ts";
import { buildSdk } from "./build-sdk.ts";
import { writeSbom } from "./sbom.ts";

const root = dirname(import.meta.dirname);
const run = promisify(execFile);
const isDryRun = process.argv.includes("--dry-run");

const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const problems = await whyNotReady();
if (!isDryRun && process.env.GITHUB_ACTIONS !== "true") {
  problems.push("Only the workflow release.yml publishes, so that npm can show where the package was built.");
}
for (const problem of problems) console.log(`problem  ${problem}`);
if (problems.length > 0 && !isDryRun) process.exit(1);

for (const [workspace, build] of [
  ["packages/cli", buildPackage],
  ["packages/sdk", buildSdk],
] as const) {
  const outDir = join(root, workspace, "dist");
  await build(outDir);
  const licences = await writeSbom(outDir, workspace);
  const { stdout } = await run("npm", ["pack", outDir, "--dry-run", "--json"], { cwd: root, maxBuffer: 2 ** 28 });
  const packed: unknown = JSON.parse(stdout);
  const [about] = Object.values(packed as object) as {
    name: string;
    size: number;
    files: unknown[];
    integrity: string;
  }[];
  const kinds = new Set(licences.map(({ licence }) => licence));
  console.log(`package  ${about?.name} ${version}: ${about?.files.length} files, ${Math.ceil((about?.size ?? 0) / 1024)} kB
hash     ${about?.integrity}
sbom     ${relative(root, join(outDir, "sbom.cdx.json"))}: ${licences.length} dependencies
licences ${[...kinds].toSorted().join(", ")}`);
  const publish = ["publish", outDir, "--provenance", "--access=public"];
  if (isDryRun) console.log(`would run: npm publish ./${relative(root, outDir)} --provenance --access=public\n`);
  else await run("npm", publish, { cwd: root });
}

async function whyNotReady(): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(join(root, "packages"))) {
    const text = await readFile(join(root, "packages", name, "package.json"), "utf8").catch(() => null);
    if (text !== null && JSON.parse(text).version !== version) found.push(`packages/${name} is not at ${version}.`);
  }
  const changelog = await readFile(join(root, "CHANGELOG.md"), "utf8");
  if (!changelog.includes(`\n## ${version}`)) found.push(`CHANGELOG.md has no heading ${version}.`);
  const tag = process.env.GITHUB_REF_NAME;
  if (tag !== undefined && tag !== `v${version}`) found.push(`The tag is ${tag}, not v${version}.`);
  return found;
}
