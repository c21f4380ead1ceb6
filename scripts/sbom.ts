// What a published package consists of: an SBOM (CycloneDX, by npm) and the licences of all its dependencies.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const root = dirname(import.meta.dirname);
const run = promisify(execFile);

/** Licences that allow everybody to use, change and pass on Emend. Another one needs a decision. */
const allowed = [
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Unlicense",
];

interface Component {
  "bom-ref": string;
  name: string;
  version: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
}

interface Bom {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { name: string; version: string } };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

/** Writes `sbom.cdx.json` and `THIRD-PARTY-LICENSES.md` beside a built package. Throws if a licence is not allowed. */
export async function writeSbom(
  outDir: string,
  workspace: string,
): Promise<readonly { name: string; version: string; licence: string }[]> {
  const args = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application"];
  const { stdout } = await run("npm", args, { cwd: root, maxBuffer: 2 ** 28 });
  const { serialNumber: _, ...bom } = JSON.parse(stdout) as Bom;
  // npm's own --omit=dev drops what one workspace needs to run and another one for tests.
  const shipped = reachedFrom(await rootsOf(workspace), bom.dependencies);
  bom.components = bom.components.filter((one) => shipped.has(one["bom-ref"]));
  bom.dependencies = bom.dependencies.filter(({ ref }) => shipped.has(ref));
  const { name, version } = JSON.parse(await readFile(join(root, workspace, "package.json"), "utf8"));
  // The same sources give the same file: no serial number, no time, no folder's name.
  delete bom.metadata.timestamp;
  Object.assign(bom.metadata.component, { name, version, purl: `pkg:npm/${encodeURIComponent(name)}@${version}` });
  const listed = await Promise.all(bom.components.map(licenceOf));
  const refused = listed.filter(({ licence }) => !isAllowed(licence));
  if (refused.length > 0) {
    const words = refused.map((one) => `${one.name} ${one.version}: ${one.licence}`).join("\n");
    throw new Error(`These dependencies have a licence that nobody decided on. Add it to scripts/sbom.ts:\n${words}`);
  }
  await writeFile(join(outDir, "sbom.cdx.json"), `${JSON.stringify(bom, null, 2)}\n`);
  const rows = listed.map((one) => `| ${one.name} | ${one.version} | ${one.licence} |`);
  const head = `# Licences of dependencies\n\n| package | version | licence |\n|---|---|---|\n`;
  await writeFile(join(outDir, "THIRD-PARTY-LICENSES.md"), `${head}${rows.join("\n")}\n`);
  return listed;
}

/** The direct dependencies of a package and of our packages in it, with what the dashboard's bundle contains. */
async function rootsOf(workspace: string): Promise<readonly string[]> {
  const waiting = workspace === "packages/cli" ? [workspace, "packages/dashboard"] : [workspace];
  const seen = new Set<string>();
  const found: string[] = [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      await readFile(join(root, next, "package.json"), "utf8"),
    ) as { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> };
    for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      if (name.startsWith("@emend/")) waiting.push(`packages/${name.slice("@emend/".length)}`);
      else found.push(`${name}@${version}`);
    }
  }
  return found;
}

function reachedFrom(roots: readonly string[], edges: Bom["dependencies"]): ReadonlySet<string> {
  const dependsOn = new Map(edges.map((edge) => [edge.ref, edge.dependsOn ?? []]));
  const reached = new Set<string>();
  const waiting = [...roots];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...(dependsOn.get(next) ?? []));
  }
  return reached;
}

async function licenceOf({ name, version, licenses = [] }: Component) {
  const said = licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? "").join(" OR ");
  if (said !== "") return { name, version, licence: said };
  // npm leaves out an expression that it cannot parse.
  const manifest = JSON.parse(await readFile(join(root, "node_modules", name, "package.json"), "utf8"));
  return { name, version, licence: String(manifest.license ?? "unknown") };
}

function isAllowed(licence: string): boolean {
  const either = licence.replaceAll(/[()]/g, "").split(" OR ");
  return either.some((one) => one.split(" AND ").every((part) => allowed.includes(part.trim())));
}
