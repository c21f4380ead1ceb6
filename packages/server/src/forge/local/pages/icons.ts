import { type Html, trustedHtml } from "./html.ts";

const paths = {
  check: "M3 8.5 6.5 12 13 4.5",
  warning: "M8 2.5 14.5 13.5H1.5ZM8 6.5v3.2M8 11.6v.1",
  chevron: "M6 4l4 4-4 4",
  open: "M4 5.5v8M4 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM12 10.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4ZM12 10.5V6a2 2 0 0 0-2-2H7.5M9.5 2 7.5 4l2 2",
  merged: "M4 5.5v8M4 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM12 7a2 2 0 1 0 0 4 2 2 0 0 0 0-4ZM4 6c.5 2.5 2.500 3 6 3",
  closed: "M4 4l8 8M12 4l-8 8",
  draft: "M11.5 2.500 13.500 4.500 5.500 12.500 2.500 13.500 3.500 10.500Z",
  cross: "M4 4l8 8M12 4l-8 8",
} as const;
export type IconName = keyof typeof paths;

/** Drawn in the colour of the words beside it, which say the same: none stands alone. */
export function icon(name: IconName): Html {
  return trustedHtml(
    `<svg class="icon ${name}" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${paths[name]}"/></svg>`,
  );
}
