import type { DashboardPull } from "@emend/contract";

type Judged = Pick<
  DashboardPull,
  "state" | "draft" | "checks" | "mergeability" | "statuses" | "reviews" | "approvalsMin"
> & { requiredStatus: string | null };

/**
 * What a pull request's page says of it and whether it may be merged, from one place: the page, its button, the
 * merge and the lists read this, and the text only says why a person should look.
 */
export function pullVerdict(pull: Judged): DashboardPull["verdict"] {
  const { state, draft, checks, mergeability, statuses, reviews, approvalsMin, requiredStatus } = pull;
  if (state !== "open") return { kind: state, words: "" };
  if (mergeability.kind === "contained") return { kind: "contained", words: "The base already contains this branch." };
  if (mergeability.kind === "blocked") return { kind: "blocked", words: mergeability.reason };
  if (mergeability.kind === "conflicts") {
    return { kind: "conflicts", words: `Both sides changed ${mergeability.paths.join(", ")}.` };
  }
  const failed = statuses.find((status) => status.state === "failed");
  if (failed) return { kind: "blocked", words: `${failed.name} failed: ${failed.words}` };
  const required = statuses.find(({ name }) => name === requiredStatus);
  if (requiredStatus !== null && (required?.state ?? "pending") === "pending") {
    const why = required ? `: ${required.words}` : ".";
    return { kind: "blocked", words: `${requiredStatus} has not checked the newest commit yet${why}` };
  }
  const flagged = checks.filter(({ verdict }) => verdict === "flagged");
  const found = flagged.map(({ name, detail }) => (detail === "" ? name : `${name}: ${detail}`)).join(". ");
  const against = reviews.filter((review) => review.state === "changes_requested").map(({ name }) => name);
  const refused = against.length === 0 ? "" : `${against.join(", ")} requested changes`;
  const words = [refused, found].filter((each) => each !== "").join(". ");
  if (draft) return { kind: "draft", words };
  if (approvalsMin > 0) {
    if (refused !== "") return { kind: "blocked", words: `${refused}.` };
    const given = reviews.filter((review) => review.state === "approved" && review.isCurrent).length;
    const needed = approvalsMin === 1 ? "an approval" : `${approvalsMin} approvals`;
    const has = approvalsMin === 1 ? "" : ` It has ${given}.`;
    if (given < approvalsMin) return { kind: "blocked", words: `The newest commit needs ${needed}.${has}` };
  }
  return words === "" ? { kind: "ready", words: "" } : { kind: "review", words };
}
