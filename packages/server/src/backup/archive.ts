/**
 * An archive is a folder: `manifest.json`, a gzipped file of JSON lines a table, and a git bundle for each repository of
 * the local forge. Rows are text, so an archive outlives Postgres versions; columns are named, so it outlives ours.
 */
export interface Manifest {
  format: 1;
  createdAt: string;
  /** The migrations that its database had seen. */
  migrations: readonly string[];
  /** Tells whether a secret is the one that sealed the archive's credentials, and nothing else about it. */
  secretMark: string;
  /** In an order in which they can be filled. */
  tables: readonly ArchivedTable[];
  repositories: readonly ArchivedRepository[];
  /** What an archive says is carried out on restoring, so nobody may have written in it since. */
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
  /** Null: it holds nothing yet. */
  bundle: { file: string; sha256: string } | null;
}

export const manifestFile = "manifest.json";
