import type { ReactNode } from "react";

/** What scrolls by itself must be reachable by the keyboard, and so has a name. */
export function ScrollBox(props: { label: string; className?: string; children: ReactNode }) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the focus is what lets keys scroll it
      tabIndex={0}
      aria-label={props.label}
      className={`overflow-auto -outline-offset-2 ${props.className ?? ""}`}
    >
      {props.children}
    </section>
  );
}
