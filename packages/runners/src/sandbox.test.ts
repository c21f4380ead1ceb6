// Costly: it waits for processes of a namespace.
import { mkdtemp, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasProc } from "@emend/testkit/processes.ts";
import { startBound } from "@emend/tree";
import { afterEach, beforeEach, expect, it } from "vitest";
import { untilGone } from "./run-program.ts";
import { sandboxed, trySandbox } from "./sandbox.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-gone-"));
});
afterEach(() => rm(dir, { recursive: true }));

const trial = await trySandbox(startBound, process.env.PATH ?? "");

it("does not wait if no sandbox was made", async () => {
  await writeFile(join(dir, "status.json"), "");
  await untilGone(join(dir, "status.json"));
});

it.skipIf(!hasProc())("takes a process that lives in the namespace for one that is left (Linux)", async () => {
  const [, own] = /(\d+)/.exec(await readlink("/proc/self/ns/pid")) ?? [];
  await writeFile(join(dir, "status.json"), `{ "pid-namespace": ${own} }`);
  await expect(untilGone(join(dir, "status.json"), 50)).rejects.toThrow("outlived");
});

it.skipIf(trial.kind !== "usable")(
  "waits for as long as a process of the sandbox lives (needs bubblewrap)",
  async () => {
    if (trial.kind !== "usable") throw new Error(trial.kind);
    const file = join(dir, "status.json");
    const args = ["--unshare-all", "--die-with-parent", "--json-status-fd", "4", "--ro-bind", "/", "/"];
    const child = startBound({
      program: "/bin/sh",
      args: ["-c", 'exec 4>"$1"; shift; exec "$@"', "sh", file, trial.bwrap, ...args, "sh", "-c", "echo up; read -r _"],
      env: { PATH: "/usr/bin:/bin" },
    });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(await readFile(file, "utf8")).toContain("pid-namespace");
    await expect(untilGone(file, 50)).rejects.toThrow("outlived");
    child.stdin.end("\n");
    await child.ended;
    await untilGone(file);
  },
);

it("hides no program by a mount of the sandbox, wherever it is installed", async () => {
  // Folders that servers often have. Earlier versions of the sandbox used some of them.
  for (const prefix of ["/work", "/work/emend", "/home/emend/.npm-global/lib", "/opt/emend", "/srv/run"]) {
    const file = `${prefix}/node_modules/program/bin/program`;
    const place = { dir, work: join(dir, "work"), home: join(dir, "home") };
    const command = await sandboxed({ sandbox: { bwrap: "bwrap", own: [] }, file, args: [], place });
    const at = command.lastIndexOf(`${prefix}/node_modules`);
    const later = command.flatMap((word, index) =>
      index > at && /^--(ro-)?bind$/.test(word) ? [command[index + 2] ?? ""] : [],
    );
    expect(later).not.toEqual([]);
    for (const mount of later) expect(file.startsWith(`${mount}/`), `${mount} hides ${file}`).toBe(false);
  }
});
