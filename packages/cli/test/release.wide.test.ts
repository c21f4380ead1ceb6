import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { writeSbom } from "../../../scripts/sbom.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const manifestOf = async (name: string) =>
  JSON.parse(await readFile(join(root, "packages", name, "package.json"), "utf8")) as {
    version: string;
    dependencies?: Record<string, string>;
  };

test("the SBOM has every dependency at its version, the licences are listed, and both are the same each time", async () => {
  const dir = await mkdtemp(join(tmpdir(), "emend-sbom-"));
  try {
    await writeSbom(dir, "packages/cli");
    const text = await readFile(join(dir, "sbom.cdx.json"), "utf8");
    const bom = JSON.parse(text);
    expect(bom).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name: "@emend/cli" } } });
    const found = new Set(
      bom.components.map(({ name, version }: { name: string; version: string }) => `${name}@${version}`),
    );
    const manifests = await Promise.all(["cli", "server", "agent", "mcp", "chat", "knowledge", "site"].map(manifestOf));
    const wanted = manifests.flatMap(({ dependencies = {} }) => Object.entries(dependencies));
    for (const [name, version] of wanted.filter(([one]) => !one.startsWith("@emend/"))) {
      expect([...found]).toContain(`${name}@${version}`);
    }
    // What only tests use is not shipped.
    expect(text).not.toContain('"name": "vitest"');
    expect(text).not.toContain(root);
    expect(await readFile(join(dir, "THIRD-PARTY-LICENSES.md"), "utf8")).toContain("| fastify | ");
    await writeSbom(dir, "packages/cli");
    expect(await readFile(join(dir, "sbom.cdx.json"), "utf8")).toBe(text);
  } finally {
    await rm(dir, { recursive: true });
  }
});

test("the release workflow stores no token and publishes with provenance", async () => {
  const text = await readFile(join(root, ".github/workflows/release.yml"), "utf8");
  const { jobs, permissions } = parse(text);
  expect(permissions).toEqual({ contents: "read" });
  expect(jobs.npm.permissions["id-token"]).toBe("write");
  expect(jobs.npm.steps.map(({ run }: { run?: string }) => run)).toContain("npm run release");
  expect(text).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN/);
  expect(await readFile(join(root, "scripts/release.ts"), "utf8")).toContain('"--provenance"');
});
