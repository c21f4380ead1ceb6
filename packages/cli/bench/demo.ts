// Measures the demo on a warm install, from the command to the pull request. Target: at most 15 s.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const main = join(import.meta.dirname, "..", "src", "main.ts");
const rounds = 3;
const data = mkdtempSync(join(tmpdir(), "emend-bench-demo-"));
// As root, Postgres runs as another user, who must be able to enter. Otherwise its cluster is stored elsewhere and
// stays.
chmodSync(data, 0o711);
try {
  for (let round = 1; round <= rounds; round += 1) {
    const startedAt = performance.now();
    const { status, stdout } = spawnSync(process.execPath, [main, "demo", "--json", "--data", data], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (status !== 0) throw new Error(`the demo ended with ${status}`);
    const { changedFiles } = JSON.parse(stdout) as { changedFiles: number };
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`demo, round ${round}: ${seconds} s, ${changedFiles} files changed (aim 15 s)`);
  }
} finally {
  rmSync(data, { recursive: true, force: true });
}
