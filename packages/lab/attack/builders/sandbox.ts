import { execFile } from "node:child_process";

/** A known value in the environment of every build. */
export const canaryVariable = "canary-of-the-environment";

export interface Place {
  /** The site, writable, seen as `/work/site`. */
  site: string;
  /** Written to by code that runs, seen as `/hits`. */
  hits: string;
  /** Files outside of the site, seen as `/canary`. */
  canary: string;
  /** Installed packages, seen as `/work/node_modules`. */
  modules: string | null;
}

/** Runs a builder without a network, home, or anything of this machine but its programs. */
export function build(
  place: Place,
  command: readonly string[],
  msMax: number,
): Promise<{ isGood: boolean; log: string }> {
  const args = [
    ...["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"],
    ...[
      "--ro-bind",
      "/usr",
      "/usr",
      "--ro-bind",
      "/etc",
      "/etc",
      "--proc",
      "/proc",
      "--dev",
      "/dev",
      "--tmpfs",
      "/tmp",
    ],
    ...["bin", "lib", "lib64", "sbin"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]),
    ...["--ro-bind-try", "/var/lib", "/var/lib", "--ro-bind", process.execPath, "/node"],
    ...["--bind", place.site, "/work/site", "--bind", place.hits, "/hits", "--ro-bind", place.canary, "/canary"],
    ...(place.modules === null ? [] : ["--ro-bind", place.modules, "/work/node_modules"]),
    ...["--chdir", "/work/site", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp"],
    ...["--setenv", "CANARY_ENV", canaryVariable, "--setenv", "LANG", "C.UTF-8", "--setenv", "CI", "1"],
    ...["ASTRO", "NEXT"].flatMap((name) => ["--setenv", `${name}_TELEMETRY_DISABLED`, "1"]),
  ];
  return new Promise((done) => {
    const options = {
      timeout: msMax,
      killSignal: "SIGKILL",
      maxBuffer: 2 ** 26,
      env: { PATH: process.env.PATH },
    } as const;
    execFile("bwrap", [...args, ...command], options, (error, stdout, stderr) =>
      done({ isGood: error === null, log: `${stdout}\n${stderr}` }),
    );
  });
}
