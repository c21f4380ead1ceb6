const scripts = new Set(["demo", "emend", "start"]);

/** npm runs a workspace's scripts at its root, but `../docs` means the folder where the person typed it. */
export function homeOfPerson(env: NodeJS.ProcessEnv, cwd: string): string {
  const isOurScript = env.npm_package_name === "emend-workspace" && scripts.has(env.npm_lifecycle_event ?? "");
  return (isOurScript && env.INIT_CWD) || cwd;
}
