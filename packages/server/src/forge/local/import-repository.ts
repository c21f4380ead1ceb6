import { pathToFileURL } from "node:url";
import { AppError } from "../../errors.ts";
import { isBranchName } from "../../lib/branch-name.ts";
import { initRepository } from "./init-repository.ts";
import { ask, type Repository, tell } from "./repository.ts";
import { openSourceRepository } from "./source-repository.ts";

const importMsMax = 30 * 60_000;

/** Every branch and tag of an existing repository, which is only read. Returns the default branch. */
export async function importRepository(
  repository: Repository,
  sourceGitDir: string,
  signal: AbortSignal,
): Promise<string> {
  const source = await openSourceRepository(sourceGitDir);
  try {
    const head = source.headBranch !== null && isBranchName(source.headBranch) ? source.headBranch : "main";
    await initRepository(repository, { defaultBranch: head, objectFormat: source.objectFormat }, signal);
    const url = pathToFileURL(source.gitDir).href;
    const { git, gitDir } = repository;
    const fetched = await git.run(
      {
        gitDir,
        args: [
          "fetch",
          "--quiet",
          "--no-auto-gc",
          "--no-write-fetch-head",
          "--",
          url,
          "+refs/heads/*:refs/heads/*",
          "+refs/tags/*:refs/tags/*",
        ],
        remote: { url, authorization: null },
        timeMsMax: importMsMax,
        outputBytesMax: 1_024,
      },
      signal,
    );
    if (fetched.code !== 0) {
      const words = fetched.words.replaceAll(source.gitDir, "the repository");
      throw new AppError("repository_unavailable", { publicMessage: `The repository cannot be imported: ${words}.` });
    }
    return settleDefaultBranch(repository, head, signal);
  } finally {
    await source.dispose();
  }
}

/** HEAD may name a branch that is not there, or none (a detached one): then the likeliest. */
async function settleDefaultBranch(repository: Repository, head: string, signal: AbortSignal): Promise<string> {
  const { output } = await ask(repository, ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"], signal);
  const branches = output.split("\n").filter((name) => name !== "");
  const chosen = [head, "main", "master", ...branches].find((name) => branches.includes(name)) ?? head;
  if (chosen !== head) await tell(repository, ["symbolic-ref", "HEAD", `refs/heads/${chosen}`], signal);
  return chosen;
}
