const prefix = "emend.";

/** What somebody is typing outlives a reload, an ended session and a refusal, in this browser. */
export function keptText(key: string): string {
  try {
    return localStorage.getItem(prefix + key) ?? "";
  } catch {
    return "";
  }
}

/** Nothing is kept of nothing. A browser that keeps nothing is no reason to stop typing. */
export function keepText(key: string, text: string): void {
  try {
    if (text === "") localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, text);
  } catch {
    // Full, or refused.
  }
}
