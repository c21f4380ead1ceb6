import { initRepository } from "../forge/local/init-repository.ts";
import type { Repository } from "../forge/local/repository.ts";
import type { ArchivedRepository } from "./archive.ts";

const unbundleMsMax = 30 * 60_000;

export async function unbundleRepository(
  repository: Repository,
  archived: ArchivedRepository,
  options: { bundlePath: string | null; signal: AbortSignal },
): Promise<void> {
  await initRepository(repository, archived, options.signal);
  if (options.bundlePath === null) return;
  const { git, gitDir } = repository;
  const args = ["fetch", "--quiet", "--no-auto-gc", "--no-write-fetch-head", options.bundlePath, "+refs/*:refs/*"];
  await git.must({ gitDir, args, timeMsMax: unbundleMsMax, outputBytesMax: 1024 }, options.signal);
}
