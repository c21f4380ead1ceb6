import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

interface SeenProcess {
  pid: number;
  parent: number;
  uid: number;
  /** `T` is stopped, `Z` is a zombie. */
  state: string;
  /** The program and its arguments, separated by spaces. */
  command: string;
  rssBytes: number;
}

/** All processes of this machine. Linux has them as files; `ps` is often missing there. A Mac has only `ps`. */
export function listProcesses(): SeenProcess[] {
  const pids = hasProc() ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : null;
  return pids === null ? fromPs() : pids.flatMap(fromProc);
}

export function findProcess(pid: number): SeenProcess | undefined {
  return hasProc() ? fromProc(String(pid))[0] : fromPs().find((one) => one.pid === pid);
}

/** Whether processes are files. Tests that read more of them than this file gives are for Linux only. */
export function hasProc(): boolean {
  try {
    return readlinkSync("/proc/self") === String(process.pid);
  } catch {
    return false;
  }
}

/** Empty if it has ended. */
function fromProc(pid: string): SeenProcess[] {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, and may contain anything.
    const [state = "", parent, ...rest] = line.slice(line.lastIndexOf(")") + 2).split(" ");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/\0$/, "").replaceAll("\0", " ");
    const { uid } = statSync(`/proc/${pid}`);
    return [{ pid: Number(pid), parent: Number(parent), uid, state, command, rssBytes: Number(rest[19]) * 4096 }];
  } catch {
    return [];
  }
}

function fromPs(): SeenProcess[] {
  const lines = execFileSync("ps", ["-axwwo", "pid=,ppid=,uid=,rss=,state=,command="], { encoding: "utf8" });
  return lines.split("\n").flatMap((line) => {
    const [, pid, parent, uid, kibibytes, state = "", command = ""] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined) return [];
    const rssBytes = Number(kibibytes) * 1024;
    return [
      { pid: Number(pid), parent: Number(parent), uid: Number(uid), state: state.slice(0, 1), command, rssBytes },
    ];
  });
}
