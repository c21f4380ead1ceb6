import { stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { CliError } from "../cli.ts";

/** Refuses a missing folder, and docs outside of it: checking nothing must not look like finding nothing. */
export async function requireFolder(dir: string, docs: string | undefined): Promise<void> {
  await requireOne(dir, "name the folder that holds the docs");
  if (docs === undefined) return;
  const inside = relative(dir, join(dir, docs));
  if (isAbsolute(docs) || inside === ".." || inside.startsWith(`..${sep}`)) {
    throw new CliError("usage", `--docs: ${docs} is not inside ${dir}; name a folder below it`);
  }
  await requireOne(join(dir, docs), "--docs names a folder inside the one that is checked");
}

async function requireOne(dir: string, advice: string): Promise<void> {
  const info = await stat(dir).catch((error: NodeJS.ErrnoException) => error.code ?? "unknown");
  if (typeof info !== "string") {
    if (info.isDirectory()) return;
    throw new CliError("usage", `${dir} is no folder but a file; ${advice}`);
  }
  const isAbsent = info === "ENOENT" || info === "ENOTDIR";
  throw new CliError("usage", isAbsent ? `there is no folder ${dir}; ${advice}` : `${dir} cannot be read (${info})`);
}
