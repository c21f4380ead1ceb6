import type { DashboardPull } from "@emend/contract";

type Judged = Pick<DashboardPull, "state" | "draft" | "checks" | "mergeability" | "statuses">;

/**
 * What a pull request's page says of it and whether it may be merged, from one place: the page, its button, the
 * merge and the lists read this, and the text only says why a person should look.
 */
export function pullVerdict({ state, draft, checks, mergeability, statuses }: Judged): DashboardPull["verdict"] {
  if (state !== "open") return { kind: state, words: "" };
  if (mergeability.kind === "contained") return { kind: "contained", words: "The base already contains this branch." };
  if (mergeability.kind === "blocked") return { kind: "blocked", words: mergeability.reason };
  if (mergeability.kind === "conflicts") {
    return { kind: "conflicts", words: `Both sides changed ${mergeability.paths.join(", ")}.` };
  }
  const failed = statuses.find((status) => status.state === "failed");
  if (failed) return { kind: "blocked", words: `${failed.name} failed: ${failed.words}` };
  const flagged = checks.filter(({ verdict }) => verdict === "flagged");
  const found = flagged.map(({ name, detail }) => (detail === "" ? name : `${name}: ${detail}`)).join(". ");
  if (draft) return { kind: "draft", words: found };
  return flagged.length > 0 ? { kind: "review", words: found } : { kind: "ready", words: "" };
}
