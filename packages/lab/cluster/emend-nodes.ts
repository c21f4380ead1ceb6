import { once } from "node:events";
import { join } from "node:path";
import type { FarEnd } from "@emend/testkit/forges/far-end.ts";
import { openAdmin } from "../../server/src/admin/open-admin.ts";
import { loadConfig } from "../../server/src/config/config.ts";
import type { Target } from "../chaos/post-job.ts";
import { type ServeProcess, startServe } from "../chaos/serve-process.ts";

/** Two api and three worker nodes of Emend, each a process that can be killed. */
export interface EmendNodes {
  /** A project whose quota is never used up, and one with this quota. */
  open(): Target;
  limited(): Target;
  quota: number;
  /** Kills one of each kind. Returns what replaces them. */
  kill(): Promise<() => Promise<void>>;
  stop(): void;
}

const ports = [4611, 4612];
const workers = 3;
const quota = 20;

export async function startEmendNodes(
  dir: string,
  settings: Record<string, string>,
  far: Pick<FarEnd, "repositoryUrl" | "token">,
): Promise<EmendNodes> {
  const env = {
    ...settings,
    EMEND_SECRET: "the secret of an experiment, and of nothing else",
    EMEND_PUBLIC_URL: `http://127.0.0.1:${ports[0]}`,
  };
  const { key, open, limited } = await addProjects({ ...env, EMEND_DATA_DIR: join(dir, "admin") }, far);
  const nodes = new Map<string, ServeProcess>();
  async function start(name: string, port: number | null): Promise<void> {
    const own = { EMEND_ROLE: port === null ? "worker" : "api", EMEND_DATA_DIR: join(dir, name) };
    // A worker serves nothing, whatever its port.
    nodes.set(name, await startServe({ ...env, ...own }, undefined, port ?? 1));
  }
  const api = ports.map((port) => [`api ${port}`, port] as const);
  const working = Array.from({ length: workers }, (_, n) => [`worker ${n + 1}`, null] as const);
  await Promise.all([...api, ...working].map(([name, port]) => start(name, port)));
  const target = (projectId: string) => () => ({ ports, projectId, key });
  return {
    open: target(open),
    limited: target(limited),
    quota,
    async kill() {
      const killed = [api[0], working[0]].filter((one) => one !== undefined);
      for (const [name] of killed) {
        const child = nodes.get(name)?.child;
        child?.kill("SIGKILL");
        if (child) await once(child, "exit");
      }
      return async () => {
        for (const [name, port] of killed) await start(name, port);
      };
    },
    stop() {
      for (const { child } of nodes.values()) child.kill("SIGKILL");
    },
  };
}

async function addProjects(env: Record<string, string>, far: Pick<FarEnd, "repositoryUrl" | "token">) {
  const admin = await openAdmin(loadConfig(env));
  try {
    const repository = { forge: "gitea" as const, repo: far.repositoryUrl, credential: far.token };
    const settings = { lanes: 8, secondReader: false };
    const open = await admin.addProject({
      ...{ name: "Open", ...repository },
      settings: { ...settings, createsPerHourMax: 1_000_000 },
    });
    const limited = await admin.addProject({
      ...{ name: "Limited", ...repository },
      settings: { ...settings, createsPerHourMax: quota },
    });
    const projectIds = [open.id, limited.id];
    const { key } = await admin.createKey({ projectIds, name: "cluster", scope: "write" });
    return { key, open: open.id, limited: limited.id };
  } finally {
    await admin.close();
  }
}
