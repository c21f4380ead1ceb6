export const themes = ["System", "Light", "Dark"] as const;
export type Theme = (typeof themes)[number];

const key = "emend-theme";

/** This browser's setting, or else the system's. */
export function readTheme(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? "System";
  } catch {
    return "System";
  }
}

export function saveTheme(theme: Theme): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // Without storage it holds until the page is reloaded.
  }
  showTheme(theme);
}

/** The palette's colors follow `color-scheme`, which this attribute sets. */
export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme.toLowerCase();
}
