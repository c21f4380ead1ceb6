import type { DatabaseNode } from "./database-cluster.ts";

export interface Fault {
  name: string;
  what: string;
  /** Whom it concerns. */
  role: "leader" | "sync_standby";
  /** Breaks the node, and returns what repairs it. */
  strike(node: DatabaseNode): Promise<() => Promise<void>>;
  needsNamespaces?: boolean;
  /** A node of each kind of Emend's is killed too. */
  takesNodes?: boolean;
}

const nothing = async () => {};

export const faults: readonly Fault[] = [
  {
    name: "kill",
    what: "kill -9 of the primary's Postgres",
    role: "leader",
    async strike(node) {
      process.kill(node.postmaster(), "SIGKILL");
      return nothing;
    },
  },
  {
    name: "switchover",
    what: "a planned switchover",
    role: "leader",
    async strike({ machine }) {
      const body = JSON.stringify({ leader: machine.name });
      const response = await fetch(`http://${machine.address}:8008/switchover`, { method: "POST", body });
      if (!response.ok) throw new Error(`Patroni refused the switchover: ${await response.text()}`);
      return nothing;
    },
  },
  {
    name: "freeze",
    what: "the primary's machine frozen (SIGSTOP)",
    role: "leader",
    async strike(node) {
      const stopped = node.processes();
      for (const pid of stopped) process.kill(pid, "SIGSTOP");
      return async () => {
        for (const pid of stopped) process.kill(pid, "SIGCONT");
      };
    },
  },
  {
    name: "partition",
    what: "the primary's machine cut off from the network",
    role: "leader",
    needsNamespaces: true,
    async strike({ machine }) {
      machine.cable?.unplug();
      return async () => machine.cable?.plug();
    },
  },
  {
    name: "lost",
    what: "the synchronous standby lost with its data, and an api and a worker node",
    role: "sync_standby",
    takesNodes: true,
    async strike(node) {
      for (const pid of node.processes()) process.kill(pid, "SIGKILL");
      await node.loseData();
      return async () => node.start();
    },
  },
];
