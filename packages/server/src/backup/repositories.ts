import { initRepository } from "../forge/local/create-repository.ts";
import { ask, type Repository, type RepositoryDeps, repositoryOf, tell } from "../forge/local/repository.ts";
import type { ArchivedRepository } from "./archive.ts";
import { fileDigest } from "./manifest.ts";

const bundleMsMax = 30 * 60_000;

/** Bundles all refs of a local repository, pull request heads included, into one file. */
export async function bundleRepository(
  deps: RepositoryDeps,
  projectId: string,
  options: { path: string; file: string; signal: AbortSignal },
): Promise<ArchivedRepository> {
  const repository = repositoryOf(deps, projectId);
  const { signal } = options;
  const head = await tell(repository, ["symbolic-ref", "HEAD"], signal);
  const objectFormat = (await tell(repository, ["rev-parse", "--show-object-format"], signal)) as "sha1" | "sha256";
  const about = { projectId, defaultBranch: head.replace(/^refs\/heads\//, ""), objectFormat };
  const refs = await ask(repository, ["for-each-ref", "--count=1"], signal);
  // git cannot make an empty bundle.
  if (refs.output === "") return { ...about, bundle: null };
  const { git, gitDir } = repository;
  const args = ["bundle", "create", "--quiet", options.path, "--all"];
  await git.must({ gitDir, args, timeMsMax: bundleMsMax, outputBytesMax: 1024 }, signal);
  return { ...about, bundle: { file: options.file, sha256: await fileDigest(options.path) } };
}

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
