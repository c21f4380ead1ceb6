import { access, constants, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Examination } from "./examine.ts";

const freeBytesMin = 1024 ** 3;

export async function examineDataDir(dataDir: string): Promise<Examination> {
  const name = "data";
  const exists = await can(dataDir, constants.F_OK);
  const folder = exists ? dataDir : await nearestParent(dataDir);
  if (!(await can(folder, constants.W_OK | constants.X_OK))) {
    return {
      name,
      verdict: "bad",
      detail: `${folder} cannot be written`,
      advice: "Set EMEND_DATA_DIR to a folder that you can write to.",
    };
  }
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const free = `${(freeBytes / 1024 ** 3).toFixed(1)} GiB free`;
  if (freeBytes < freeBytesMin) {
    return {
      name,
      verdict: "bad",
      detail: `${dataDir}, ${free}`,
      advice: "Make room: a database on a full disk stops.",
    };
  }
  if (!exists) return { name, verdict: "note", detail: `${dataDir} is not there yet; serve makes it (${free})` };
  return { name, verdict: "good", detail: `${dataDir}, ${free}` };
}

async function nearestParent(path: string): Promise<string> {
  let folder = path;
  while (!(await can(folder, constants.F_OK)) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

function can(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
