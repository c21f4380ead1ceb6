import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAdmin } from "../src/admin/open-admin.ts";
import { loadConfig } from "../src/config/config.ts";

export interface ChaosInstallation {
  env: Record<string, string>;
  projectId: string;
  key: string;
  remove(): Promise<void>;
}

/** A local project with a page that jobs can change, for complete servers on one database. */
export async function makeInstallation(databaseUrl: string): Promise<ChaosInstallation> {
  const dir = await mkdtemp(join(tmpdir(), "emend-chaos-"));
  const env = {
    EMEND_DATABASE_URL: databaseUrl,
    EMEND_SECRET: "the secret of an experiment, and of nothing else",
    EMEND_DATA_DIR: join(dir, "data"),
    EMEND_FORGE_DIR: join(dir, "forge"),
  };
  await mkdir(join(dir, "docs"));
  await writeFile(join(dir, "docs", "index.md"), "# Docs\n\nAn API token opens the door.\n");
  const admin = await openAdmin(loadConfig(env));
  try {
    const settings = { createsPerHourMax: 1_000_000, lanes: 8 };
    const project = await admin.addProject({ name: "Docs", forge: "local", repo: join(dir, "docs"), settings });
    const { key } = await admin.createKey({ projectIds: [project.id], name: "chaos", scope: "write" });
    return { env, projectId: project.id, key, remove: () => rm(dir, { recursive: true, force: true }) };
  } finally {
    await admin.close();
  }
}

export const chaosPrompt = 'Replace "API token" with "access key".';
