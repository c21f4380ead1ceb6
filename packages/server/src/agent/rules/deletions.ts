import { key } from "./conflicts.ts";
import type { Instruction } from "./instruction.ts";

/** A page to delete, before it is known where its readers go. */
export interface Deletion {
  kind: "delete";
  page: string;
  /** As they were written. */
  words: string;
}

/** Joins each deletion with the redirect that the prompt gives for its page, wherever in the prompt. */
export function withDeletions(said: readonly (Instruction | Deletion)[]): {
  instructions: readonly Instruction[];
  /** A deletion without one. */
  unsaid?: Deletion;
} {
  const instructions: Instruction[] = [];
  const used = new Set<Instruction>();
  for (const one of said) {
    if (one.kind !== "delete") {
      instructions.push(one);
      continue;
    }
    const redirect = said.find((other) => other.kind === "add_redirect" && key(other.from) === key(one.page));
    if (redirect?.kind !== "add_redirect") return { instructions, unsaid: one };
    used.add(redirect);
    instructions.push({ kind: "remove_page", page: one.page, to: redirect.to });
  }
  return { instructions: instructions.filter((instruction) => !used.has(instruction)) };
}
