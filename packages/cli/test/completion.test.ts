// Costly: bash reads the script.
import { execFileSync } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import { runEmend, runInProcess } from "./support/run-emend.ts";

let bash: string;
beforeAll(async () => {
  bash = (await runEmend(["completion", "bash"])).stdout;
});

function completed(words: string[]): string[] {
  const line = ["emend", ...words].map((word) => `'${word}'`).join(" ");
  const script = `${bash}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _emend; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n");
}

test("bash completes commands, their commands and their options", () => {
  expect(completed(["jo"])).toEqual(["job"]);
  expect(completed(["job", "cr"])).toEqual(["create"]);
  expect(completed(["job", "create", "prj_1", "--idem"])).toEqual(["--idempotency-key"]);
  expect(completed(["key", "create", "--proj"])).toEqual(["--project"]);
  expect(completed(["model", "key", ""])).toEqual(expect.arrayContaining(["set", "remove"]));
  expect(completed(["model", "key", ""])).not.toContain("revoke");
});

test("zsh reads the same script, and fish one of its own", async () => {
  const zsh = await runInProcess(["completion", "zsh"]);
  expect(zsh.stdout).toMatch(/^#compdef emend\n.*bashcompinit/);
  const fish = JSON.parse((await runInProcess(["completion", "fish", "--json"])).stdout);
  expect(fish.script).toMatch(/^complete -c emend -f -n "__emend_at ''" -a serve /m);
  expect(fish.script).toContain(`-n "__emend_at 'job create'" -l wait`);
  // `model key` completes as itself, and `key` alone as another command.
  expect(fish.script).toContain(`-f -n "__emend_at 'model key'" -a set `);
  expect(fish.script).toContain(`-f -n "__emend_at 'key'" -a revoke `);
  expect(fish.script).toMatch(/if contains -- "\$next" 'serve' .*'model key' 'model key set' /);
  expect((await runInProcess(["completion", "tcsh"])).code).toBe(2);
});
