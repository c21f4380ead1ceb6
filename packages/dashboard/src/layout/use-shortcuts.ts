import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";

/** Rows for j and k, and fields for c, are marked by attributes. */
export const rowAttribute = { "data-row": true } as const;
export const composerId = "composer";

/** Keyboard shortcuts for every page, disabled while typing. */
export function useShortcuts(on: { onPalette(): void; onHelp(): void }): void {
  const navigate = useNavigate();
  useEffect(() => {
    function take(event: KeyboardEvent) {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") return act(event, on.onPalette);
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      switch (event.key) {
        case "?":
          return act(event, on.onHelp);
        case "c":
          return act(event, () => compose());
        case "j":
          return act(event, () => step(1));
        case "k":
          return act(event, () => step(-1));
      }
    }
    async function compose() {
      if (!document.getElementById(composerId)) await navigate({ to: "/" });
      // The page exists after the router has rendered it.
      requestAnimationFrame(() => document.getElementById(composerId)?.focus());
    }
    addEventListener("keydown", take);
    return () => removeEventListener("keydown", take);
  }, [navigate, on]);
}

function act(event: KeyboardEvent, work: () => void): void {
  event.preventDefault();
  work();
}

function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? rows[by === 1 ? 0 : rows.length - 1] : rows[at + by];
  next?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
