import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FarPull, FarState } from "./far-end.ts";

/** The tip of a branch; null where there is none. Nothing packs refs here, so each is a file. */
export function tipOf(state: FarState, branch: string): string | null {
  const path = join(state.repository.path, "refs/heads", branch);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : null;
}

export type Opening = { kind: "opened"; pull: FarPull } | { kind: "exists"; number: number } | { kind: "no branch" };

/** What every forge holds to: both branches are there, and a branch has one open pull request. */
export function openPull(state: FarState, wanted: Omit<FarPull, "number" | "state" | "at">): Opening {
  if (tipOf(state, wanted.head) === null || tipOf(state, wanted.base) === null) return { kind: "no branch" };
  const open = state.pulls.find((pull) => pull.head === wanted.head && pull.state === "open");
  if (open) return { kind: "exists", number: open.number };
  const number = state.pulls.length + 1;
  // A second apart, so that the order by time is the order by number.
  const at = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
  const pull: FarPull = { ...wanted, number, state: "open", at };
  state.pulls.push(pull);
  return { kind: "opened", pull };
}

export function pullOf(state: FarState, number: string | undefined): FarPull | undefined {
  return state.pulls.find((pull) => pull.number === Number(number));
}

export function pageOf<T>(items: readonly T[], query: URLSearchParams, sizeName: string): T[] {
  const size = Number(query.get(sizeName) ?? 30);
  const start = (Number(query.get("page") ?? 1) - 1) * size;
  return items.slice(start, start + size);
}

export function newestFirst(pulls: readonly FarPull[]): FarPull[] {
  return pulls.toSorted((left, right) => right.number - left.number);
}
