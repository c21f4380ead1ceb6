import { createHash, createHmac, hkdfSync } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError } from "../errors.ts";

const fileForm = /^(tables|repositories)\/[A-Za-z0-9_-]+\.(jsonl\.gz|bundle)$/;

/** The archive's manifest, after verifying all files that it names. */
export async function readManifest(folder: string, secret: string): Promise<Manifest> {
  const manifest = await readSealed(folder, secret);
  const files = [...manifest.tables, ...manifest.repositories.flatMap(({ bundle }) => bundle ?? [])];
  for (const { file, sha256 } of files) {
    if (!fileForm.test(file)) throw invalid(`${file} is not a file of a backup`);
    const digest = await fileDigest(join(folder, file)).catch(() => null);
    if (digest !== sha256) throw invalid(`${file} is ${digest === null ? "missing" : "not as it was written"}`);
  }
  return manifest;
}

/** Checks that need only the manifest. A secret that does not exist yet is not the right one. */
export async function readSealed(folder: string, secret: string | null): Promise<Manifest> {
  const text = await readFile(join(folder, manifestFile), "utf8").catch(() => null);
  if (text === null) throw invalid(`${folder} has no ${manifestFile}, so it is not an Emend backup`);
  const manifest = parse(text);
  if (manifest?.format !== 1) throw invalid(`${manifestFile} is of a form that this Emend does not know`);
  if (secret === null || manifest.secretMark !== secretMark(secret)) {
    const kept = "where none was set, it is in the file `secret` of the old data folder";
    throw invalid(`the archive's credentials were sealed with another EMEND_SECRET: set that one (${kept})`);
  }
  const { seal, ...sealed } = manifest;
  if (seal !== sealOf(secret, sealed)) throw invalid(`${manifestFile} is not as it was written`);
  return manifest;
}

function parse(text: string): Manifest | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

export function secretMark(secret: string): string {
  return Buffer.from(hkdfSync("sha256", secret, "", "emend archive", 16)).toString("hex");
}

/** A signature over the manifest and, through its digests, over every file. Only the secret's owner can make it. */
export function sealOf(secret: string, manifest: Omit<Manifest, "seal">): string {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "emend archive seal", 32));
  return createHmac("sha256", key).update(JSON.stringify(manifest)).digest("hex");
}

export async function fileDigest(path: string): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(createReadStream(path), digest);
  return digest.digest("hex");
}

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
