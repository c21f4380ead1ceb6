import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Examination } from "./examine.ts";

const oldest = [2, 38] as const;

export async function examineGit(): Promise<Examination> {
  try {
    const { stdout } = await promisify(execFile)("git", ["--version"], { timeout: 5000, maxBuffer: 10_000 });
    const version = stdout.trim();
    const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(version) ?? [];
    const isOld = Number(major) < oldest[0] || (Number(major) === oldest[0] && Number(minor) < oldest[1]);
    if (!isOld) return { name: "git", verdict: "good", detail: version };
    return { name: "git", verdict: "bad", detail: version, advice: `Install git ${oldest.join(".")} or newer.` };
  } catch (error) {
    const detail =
      error instanceof Error && "code" in error && error.code === "ENOENT" ? "not found" : "does not answer";
    return { name: "git", verdict: "bad", detail, advice: `Install git ${oldest.join(".")} or newer.` };
  }
}
