import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Repository, tell } from "./repository.ts";

/**
 * The settings of a repository that strangers push to. They stand in its own file because git drops configuration
 * given by environment when it starts the other end of a transfer between two folders.
 */
const settings = `
	hooksPath = /dev/null
	logAllRefUpdates = false
	fsmonitor = false
	useReplaceRefs = false
[gc]
	auto = 0
[maintenance]
	auto = false
[transfer]
	fsckObjects = true
[receive]
	autogc = false
	maxInputSize = 2g
	hideRefs = refs/pull
[uploadpack]
	# A job's base is fetched by id when its branch has moved on.
	allowAnySHA1InWant = true
	allowFilter = true
`;

/** An empty bare repository whose first branch is still to come. */
export async function initRepository(
  repository: Repository,
  options: { defaultBranch: string; objectFormat: "sha1" | "sha256" },
  signal: AbortSignal,
): Promise<void> {
  // No template: not even a sample hook.
  await tell(
    repository,
    [
      "init",
      "--quiet",
      "--bare",
      "--template=",
      `--object-format=${options.objectFormat}`,
      `--initial-branch=${options.defaultBranch}`,
    ],
    signal,
  );
  const isSha256 = options.objectFormat === "sha256";
  const format = `[core]
	repositoryformatversion = ${isSha256 ? 1 : 0}
	filemode = true
	bare = true${settings}${isSha256 ? "[extensions]\n\tobjectFormat = sha256\n" : ""}`;
  await writeFile(join(repository.gitDir, "config"), format);
}
