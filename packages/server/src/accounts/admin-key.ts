/** Admin keys: who may call, for which projects, to read or also to write. */

export type KeyScope = "read" | "write";

/** What a valid key grants to the request that carries it. */
export interface KeyGrant {
  readonly keyId: string;
  readonly projectIds: ReadonlySet<string>;
  readonly scope: KeyScope;
}

/** A key as lists show it: never its secret. */
export interface AdminKey {
  id: string;
  /** The first characters, to recognise it by. */
  hint: string;
  name: string;
  projectIds: readonly string[];
  scope: KeyScope;
  expiresAt: Date | null;
  /** Null: every address. */
  allowList: readonly string[] | null;
  createdBy: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}
