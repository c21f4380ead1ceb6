import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The programs behind runner/…, as npm has them. */
export const programs = [
  { runner: "claude-code", package: "@anthropic-ai/claude-code", version: "2.1.325", command: "claude", model: "" },
  // Its own default composes tools by a program of the vendor's, which no scripted vendor speaks.
  { runner: "codex", package: "@openai/codex", version: "0.166.0", command: "codex", model: "/gpt-5" },
  { runner: "opencode", package: "opencode-ai", version: "1.18.33", command: "opencode", model: "" },
] as const;

const home = join(import.meta.dirname, "../../../node_modules/.cache/emend-programs");
export const programsBin = join(home, "node_modules/.bin");

/** Into a folder of their own: no lock file of ours knows them. */
export async function installPrograms(chosen: readonly (typeof programs)[number][]): Promise<void> {
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "package.json"), JSON.stringify({ private: true }));
  for (const { package: name, version } of chosen)
    runHere("npm", ["install", "--no-audit", "--no-fund", "--save-exact", `${name}@${version}`]);
}

export function runHere(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: home, encoding: "utf8", timeout: 600_000 });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
}
