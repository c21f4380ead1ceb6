import { keepText, keptText } from "../../parts/kept-text.ts";

const key = "draft";

/** A job that is being written. */
export interface Draft {
  prompt: string;
  projectId?: string;
  model?: string;
  baseRef?: string;
  draft?: boolean;
  preview?: boolean;
  plan?: boolean;
  /** Further projects that get the same job. */
  alsoIn?: readonly string[];
}

export function readDraft(): Draft {
  try {
    const kept: unknown = JSON.parse(keptText(key));
    if (typeof kept === "object" && kept !== null && "prompt" in kept && typeof kept.prompt === "string") {
      return kept as Draft;
    }
  } catch {
    // Missing, or from another version.
  }
  return { prompt: "" };
}

export function saveDraft(draft: Draft): void {
  keepText(key, draft.prompt === "" ? "" : JSON.stringify(draft));
}
