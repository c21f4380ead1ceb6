import type { ForgeName } from "@emend/contract";
import { type ProjectSettings, parseProjectSettings } from "./project-settings.ts";

/** A docs repository on a forge, with its settings. */
export interface Project {
  id: string;
  name: string;
  forge: ForgeName;
  /** Without credentials. */
  repositoryUrl: string;
  /** Null: the repository's default branch. */
  baseRef: string | null;
  docsDir: string;
  settings: ProjectSettings;
  hasCredential: boolean;
  createdAt: Date;
}

export interface ProjectRow {
  id: string;
  name: string;
  forge: ForgeName;
  repository_url: string;
  base_ref: string | null;
  docs_dir: string;
  settings: unknown;
  has_credential: boolean;
  created_at: Date;
}

export const projectColumns = `id, name, forge, repository_url, base_ref, docs_dir, settings,
  credential is not null as has_credential, created_at`;

export function toProject(row: ProjectRow): Project {
  return {
    id: row.id,
    name: row.name,
    forge: row.forge,
    repositoryUrl: row.repository_url,
    baseRef: row.base_ref,
    docsDir: row.docs_dir,
    settings: parseProjectSettings(row.settings),
    hasCredential: row.has_credential,
    createdAt: row.created_at,
  };
}
