const prefix = "emend.";

/** Keeps typed text in this browser across reloads, ended sessions and refusals. */
export function keptText(key: string): string {
  try {
    return localStorage.getItem(prefix + key) ?? "";
  } catch {
    return "";
  }
}

/** Empty text is removed. A browser without storage must not stop the person from typing. */
export function keepText(key: string, text: string): void {
  try {
    if (text === "") localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, text);
  } catch {
    // Storage is full or disabled.
  }
}
