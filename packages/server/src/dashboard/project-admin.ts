import type { ContextRepository } from "../accounts/projects/context-repositories.ts";
import type { Actor } from "../db/acting.ts";
import type { NewWebhook } from "../notify/webhooks.ts";

/** What is done to a project and needs its forge, or the installation's secret: `compose.ts` has both. */
export interface ProjectAdmin {
  /** `notice`: why its repository could not be looked at. */
  add(input: NewProject, by: Actor): Promise<{ id: string; notice?: string }>;
  /** Refuses, in words, a forge's address that would lead this server to what only it can reach. */
  assertReachable(url: string): Promise<void>;
  /** Looks at everything that a job needs of the forge, and changes nothing. */
  diagnose(projectId: string): Promise<Diagnosis>;
  setCredential(project: { id: string; forge: string }, credential: string, by: Actor): Promise<void>;
  /** The repository's new address, or `follow`: whatever the forge says that it is. Looked at first. */
  move(
    projectId: string,
    to: { repo: string | "follow"; credential?: string },
    by: Actor,
  ): Promise<{ repositoryUrl: string }>;
  /** Null takes the project's own key away. */
  setModelKey(input: { projectId: string; vendor: string; key: string | null }, by: Actor): Promise<void>;
  addWebhook(input: NewWebhook, by: Actor): Promise<{ id: string; secret: string }>;
  /** The old secret signs too until `oldUntil`. Null: there is no such webhook. */
  rotateWebhookSecret(id: string, by: Actor): Promise<{ secret: string; oldUntil: Date } | null>;
  addContext(input: NewContext, by: Actor): Promise<ContextRepository>;
}

export interface NewProject {
  name: string;
  forge: string;
  repo?: string;
  base?: string;
  docsDir?: string;
  credential?: string;
  settings?: Readonly<Record<string, unknown>>;
}

interface NewContext {
  projectId: string;
  name: string;
  forge: string;
  repo: string;
  base?: string;
  credential?: string;
}

export interface Diagnosis {
  checks: readonly { name: string; verdict: "ok" | "problem" | "unknown"; words: string }[];
  /** For whoever sets the forge's webhook up; null on the local forge, which needs none. */
  webhook: { url: string; secret: string } | null;
}
