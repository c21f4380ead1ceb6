// A worker process that publishes one job, and dies or freezes at a given point.

import { createLogger } from "@emend/base/logger.ts";
import { createGit } from "@emend/tree";
import { createPool } from "../../server/src/db/pool.ts";
import { openLocalForge } from "../../server/src/forge/local/local-forge.ts";
import { createCrashPoint } from "../../server/src/run/crash-points.ts";
import { publishTestJob } from "./publish-job.ts";

export interface PublishOrder {
  databaseUrl: string;
  forgeDir: string;
  mirrorsDir: string;
  publicUrl: string;
  projectId: string;
  jobId: string;
  /** For git over HTTP, as with any forge. */
  authorization: string;
  crashAt?: string;
  freezeAt?: string;
}

const order: PublishOrder = JSON.parse(process.argv[2] ?? "");
const pool = createPool({ url: order.databaseUrl, connectionsMax: 2, log: createLogger({ level: "silent" }) });
const git = createGit({ allowedProtocols: ["http", "file"] });
const local = { git, forgeDir: order.forgeDir, pool, publicUrl: () => order.publicUrl };
const forge = {
  ...openLocalForge(local, order.projectId),
  gitRemote: async () => ({
    url: `${order.publicUrl}/git/${order.projectId}.git`,
    authorization: order.authorization,
  }),
};
const crash = createCrashPoint(order.crashAt);
const publication = await publishTestJob({ pool, git, forge, mirrorsDir: order.mirrorsDir }, order.jobId, {
  deps: () => ({
    crashPoint(name) {
      crash(name);
      if (name === order.freezeAt) process.kill(process.pid, "SIGSTOP");
    },
  }),
});
console.log(JSON.stringify(publication));
await pool.end();
