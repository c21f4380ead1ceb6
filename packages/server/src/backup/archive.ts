/**
 * An archive is a folder: `manifest.json`, a gzipped file of JSON lines per table, and a git bundle for each local
 * repository. Rows are text with named columns, so an archive survives upgrades of Postgres and Emend.
 */
export interface Manifest {
  format: 1;
  createdAt: string;
  /** The applied migrations of its database. */
  migrations: readonly string[];
  /** Tells whether a secret is the one that encrypted the archive's credentials, and nothing else. */
  secretMark: string;
  /** In an order in which they can be filled. */
  tables: readonly ArchivedTable[];
  repositories: readonly ArchivedRepository[];
  /** A signature: restoring trusts the archive, so it must not have been modified. */
  seal: string;
}

export interface ArchivedTable {
  name: string;
  columns: readonly string[];
  rows: number;
  file: string;
  sha256: string;
}

export interface ArchivedRepository {
  projectId: string;
  defaultBranch: string;
  objectFormat: "sha1" | "sha256";
  /** Null if it is empty. */
  bundle: { file: string; sha256: string } | null;
}

export const manifestFile = "manifest.json";
