/** Whether a forge's pattern covers a branch. GitLab's star takes slashes in; Gitea's only where it is doubled. */
export function matchesBranch(pattern: string, branch: string, options: { starCrossesSlash: boolean }): boolean {
  const one = options.starCrossesSlash ? ".*" : "[^/]*";
  const parts = pattern.split(/(\*+)/).map((part) => {
    if (!part.startsWith("*")) return part.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
    return part.length > 1 ? ".*" : one;
  });
  return new RegExp(`^${parts.join("")}$`).test(branch);
}
