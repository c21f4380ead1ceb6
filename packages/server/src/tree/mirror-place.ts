import { join } from "node:path";
import { AppError } from "../errors.ts";

/** Where a mirror and its locks lie. */
export interface MirrorPlace {
  gitDir: string;
  /** Exclusive: one fetch at a time. */
  fetchLock: string;
  /** Shared by who writes refs or objects, exclusive for who collects, repairs or removes; taken after `fetchLock`. */
  storeLock: string;
}

/** Ids become file and ref names; ours are made of nothing else. */
const plainId = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;
const suffix = ".git";

export function mirrorPlace(dir: string, projectId: string): MirrorPlace {
  checkId(projectId);
  const stem = join(dir, projectId);
  return { gitDir: `${stem}${suffix}`, fetchLock: `${stem}.fetch.lock`, storeLock: `${stem}.store.lock` };
}

/** The project of a file in the mirrors' folder; null where it is no mirror. */
export function projectOfMirror(fileName: string): string | null {
  const id = fileName.endsWith(suffix) ? fileName.slice(0, -suffix.length) : "";
  return plainId.test(id) ? id : null;
}

export function checkId(id: string): void {
  if (plainId.test(id)) return;
  throw new AppError("internal", { publicMessage: "An id holds characters that cannot be part of a file name." });
}
