import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { inside } from "@emend/runners";
import { readOrSkip, type Tree } from "@emend/tree";
import type { BuildLimits } from "./limits.ts";
import type { Plan } from "./plan.ts";
import { own, runScript, type ScriptDeps } from "./run-script.ts";

export type BuildEnd =
  | { kind: "ended"; code: number; output: string }
  /** Stopped by us, or never started. `words`: why. */
  | { kind: "stopped"; words: string };

const homeBytesMax = 64 * 2 ** 20;
const unpack = fileURLToPath(new URL("./unpack.ts", import.meta.url));

/**
 * Builds a tree in the sandbox: without a network and a credential, on a work tree in memory that only the sandbox has.
 * It is gone with the sandbox's last process, whatever the builder did to it. `siteFile` gets the built site; it stays
 * empty if there is none.
 */
export async function runBuild(
  deps: ScriptDeps,
  { tree, plan, siteFile }: { tree: Tree; plan: Plan; siteFile: string },
  signal: AbortSignal,
): Promise<BuildEnd> {
  const { limits } = deps;
  const packed = own("site.packed");
  await writeFile(siteFile, "");
  const end = await runScript(
    deps,
    {
      script: unpack,
      args: [plan.folder || ".", plan.site ?? "", packed, ...plan.command],
      mounts: [
        ...["--bind", siteFile, packed],
        ...["--size", String(homeBytesMax), "--tmpfs", inside.home],
        ...["--size", String(limits.diskBytesMax), "--tmpfs", inside.work],
        ...plan.mounts,
      ],
      env: environmentOf(plan),
      stdin: filesOf(tree, plan.packageFolders),
      timeoutMs: limits.timeoutMs,
    },
    signal,
  );
  switch (end.kind) {
    case "timed out":
      return { kind: "stopped", words: `${plan.name} did not end within ${limits.timeoutMs / 1000} s` };
    case "too large":
      return { kind: "stopped", words: `${plan.name} used ${end.words}, more than is allowed` };
    case "exited":
      return end.stderr === ""
        ? { kind: "ended", code: end.code ?? 1, output: end.stdout }
        : { kind: "stopped", words: whyNotStarted(plan, limits, end.stderr) };
  }
}

function whyNotStarted(plan: Plan, { diskBytesMax }: BuildLimits, words: string): string {
  if (words.startsWith("ENOSPC"))
    return `the repository has more than the ${diskBytesMax / 2 ** 20} MiB that a build may use`;
  return `${plan.name} could not start: ${words.trim().slice(0, 300)}`;
}

/** Nothing of the server's environment. */
function environmentOf({ packageFolders }: Plan): Readonly<Record<string, string>> {
  const programs = packageFolders.map((folder) => `${inside.work}/${folder}/.bin`);
  return {
    PATH: [...programs, inside.path].join(":"),
    TERM: "dumb",
    NO_COLOR: "1",
    CI: "1",
    NODE_ENV: "production",
    JEKYLL_ENV: "production",
    ASTRO_TELEMETRY_DISABLED: "1",
    NEXT_TELEMETRY_DISABLED: "1",
    GOCACHE: "/tmp/go-cache",
  };
}

/** The plain files of a tree, as `unpack.ts` reads them. Links and submodules are left out. */
async function* filesOf(tree: Tree, packageFolders: readonly string[]): AsyncGenerator<Buffer> {
  const isPackage = (path: string) => packageFolders.some((folder) => path.startsWith(`${folder}/`));
  for (const { path, mode } of await tree.list()) {
    if ((mode !== "100644" && mode !== "100755") || isPackage(path)) continue;
    const content = await readOrSkip(tree, path);
    if (content === null) continue;
    yield block(Buffer.from(JSON.stringify({ path, mode: mode === "100755" ? 0o755 : 0o644 })));
    yield block(content);
  }
}

function block(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.byteLength);
  return Buffer.concat([length, bytes]);
}
