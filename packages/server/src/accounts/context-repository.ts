import type { ForgeName } from "@emend/contract";

/** A repository that a project's jobs may read and never write, under a name of its own. */
export interface ContextRepository {
  id: string;
  projectId: string;
  name: string;
  forge: ForgeName;
  /** Without credentials. */
  repositoryUrl: string;
  /** Null: the repository's default branch. */
  baseRef: string | null;
  hasCredential: boolean;
  createdAt: Date;
}

export const contextRepositoryColumns = `id, project_id as "projectId", name, forge, repository_url as "repositoryUrl",
  base_ref as "baseRef", credential is not null as "hasCredential", created_at as "createdAt"`;

export function contextCredentialContext(id: string): string {
  return `context/${id}/credential`;
}
