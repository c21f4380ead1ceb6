import { matchesGlob } from "../lib/matches-glob.ts";
import type { OverlayEntry } from "../tree/tree.ts";
import type { Policy, Violation } from "./review.ts";

const ciFiles =
  /^(?:jenkinsfile.*|\.?travis\.ya?ml|\.?appveyor\.ya?ml|\.?azure-pipelines.*|bitbucket-pipelines\.ya?ml|\.drone\.ya?ml|\.woodpecker.*|\.circleci|\.buildkite|\.teamcity|\.semaphore|\.cirrus\.ya?ml|\.forgejo|\.gitea|\.ci|cloudbuild\.ya?ml|buildspec.*\.ya?ml|codefresh\.ya?ml|wercker\.ya?ml|dagger\.json|earthfile)$/;
const agentFiles =
  /^(?:agents(?:\..+)?\.md|claude(?:\..+)?\.md|gemini\.md|warp\.md|\.cursor.*|\.windsurf.*|\.claude|\.codex|\.emend|\.aider.*|\.clinerules.*|\.continue.*|\.roo.*|\.junie|\.amazonq|\.goosehints|\.mcp\.json|\.opencode)$/;

/** Why policy refuses a change of this path; null where it does not. */
export function refusedBy(policy: Pick<Policy, "docsDir" | "allowedPaths">, path: string): string | null {
  if (policy.allowedPaths.some((pattern) => matchesGlob(pattern, path))) return null;
  const docsDir = policy.docsDir.replace(/\/+$/, "");
  if (docsDir !== "" && !path.startsWith(`${docsDir}/`)) return `outside the documentation folder ${docsDir}`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path)) return "the name holds characters that cannot be seen";
  const segments = path.split("/").map(plain);
  if (segments.some((segment) => segment.startsWith(".git"))) return "git and forge settings are not changed by jobs";
  if (segments.some((segment) => ciFiles.test(segment))) return "CI settings are not changed by jobs";
  if (segments.some((segment) => agentFiles.test(segment))) return "instructions for agents are not changed by jobs";
  if (segments.at(-1) === "codeowners") return "CODEOWNERS is not changed by jobs";
  return null;
}

/** Everything about a change that policy forbids. */
export function violationsOf(policy: Policy, entries: readonly OverlayEntry[]): readonly Violation[] {
  const violations: Violation[] = [];
  for (const { path } of entries) {
    const rule = refusedBy(policy, path);
    if (rule !== null) violations.push({ path, rule });
  }
  if (entries.length > policy.filesMax) {
    violations.push({ path: "", rule: `${entries.length} files changed, more than the ${policy.filesMax} allowed` });
  }
  const bytes = entries.reduce((sum, entry) => sum + (entry.content?.byteLength ?? 0), 0);
  if (bytes > policy.bytesMax) {
    violations.push({ path: "", rule: `${bytes} bytes written, more than the ${policy.bytesMax} allowed` });
  }
  return violations;
}

/** As a file system that folds case or drops trailing dots would see the name. */
function plain(segment: string): string {
  return segment
    .normalize("NFKC")
    .replace(/[. ]+$/, "")
    .toLowerCase();
}
