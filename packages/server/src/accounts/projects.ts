import { channels } from "../db/channels.ts";
import type { Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import { createFreshMap } from "../lib/fresh-map.ts";
import { getProject } from "./get-project.ts";
import type { Project } from "./project.ts";

const projectsMax = 10_000;

/** Projects as requests need them: remembered, and forgotten as soon as they change. */
export interface Projects {
  get(id: string): Project | undefined | Promise<Project | undefined>;
  close(): void;
}

export function createProjects(deps: { pool: Pool; listener: Listener }): Projects {
  const projects = createFreshMap<Project>(deps.listener, projectsMax);
  const stopListening = [
    deps.listener.on(channels.projectChanged, (id) => projects.delete(id)),
    deps.listener.onReset(() => projects.clear()),
  ];
  return {
    get: (id) => projects.get(id) ?? projects.load(id, () => getProject(deps.pool, id)),
    close() {
      for (const stop of stopListening) stop();
    },
  };
}
