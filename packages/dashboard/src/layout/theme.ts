export const themes = ["System", "Light", "Dark"] as const;
export type Theme = (typeof themes)[number];

const key = "emend-theme";

/** As this browser was told; where it keeps nothing, as its system has it. */
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
    // It holds until the page is loaded anew.
  }
  showTheme(theme);
}

/** The palette's colours follow `color-scheme`, which this attribute sets. */
export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme.toLowerCase();
}
