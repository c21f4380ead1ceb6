import type { ContextRepository } from "../accounts/projects/context-repositories.ts";
import type { Actor } from "../db/transaction.ts";
import type { NewWebhook } from "../notify/webhooks.ts";

/** Project actions that need the forge or the installation's secret; `compose.ts` has both. */
export interface ProjectAdmin {
  /** `notice`: why its repository could not be checked. */
  add(input: NewProject, by: Actor): Promise<{ id: string; notice?: string }>;
  /** SSRF guard: refuses a forge's URL that points to an internal address. */
  assertReachable(url: string): Promise<void>;
  /** Checks everything that a job needs from the forge. Changes nothing. */
  diagnose(projectId: string): Promise<Diagnosis>;
  setCredential(project: { id: string; forge: string }, credential: string, by: Actor): Promise<void>;
  /** The repository's new URL, or `follow`: the one that the forge reports. It is checked first. */
  move(
    projectId: string,
    to: { repo: string | "follow"; credential?: string },
    by: Actor,
  ): Promise<{ repositoryUrl: string }>;
  /** Null removes the project's own key. */
  setModelKey(input: { projectId: string; vendor: string; key: string | null }, by: Actor): Promise<void>;
  addWebhook(input: NewWebhook, by: Actor): Promise<{ id: string; secret: string }>;
  /** The old secret also signs until `oldUntil`. Null if the webhook does not exist. */
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
  /** How to set up the forge's webhook. Null on the local forge, which needs none. */
  webhook: { url: string; secret: string } | null;
}
