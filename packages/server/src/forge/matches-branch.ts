/** Whether a forge's pattern matches a branch. GitLab's `*` matches slashes; Gitea's only if doubled. */
export function matchesBranch(pattern: string, branch: string, options: { starCrossesSlash: boolean }): boolean {
  const one = options.starCrossesSlash ? ".*" : "[^/]*";
  const parts = pattern.split(/(\*+)/).map((part) => {
    if (!part.startsWith("*")) return part.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
    return part.length > 1 ? ".*" : one;
  });
  return new RegExp(`^${parts.join("")}$`).test(branch);
}
