import type { ReactNode } from "react";

/** A scrollable area must be reachable by keyboard and so needs a name. */
export function ScrollBox(props: { label: string; className?: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has its own layout, and a section is a landmark
    <div
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the focus is what lets keys scroll it
      tabIndex={0}
      aria-label={props.label}
      className={`overflow-auto -outline-offset-2 ${props.className ?? ""}`}
    >
      {props.children}
    </div>
  );
}
