const key = "emend.draft";

/** What is being written outlives a reload and an ended session, in this tab. */
export function readDraft(): string {
  return sessionStorage.getItem(key) ?? "";
}

export function saveDraft(text: string): void {
  sessionStorage.setItem(key, text);
}
