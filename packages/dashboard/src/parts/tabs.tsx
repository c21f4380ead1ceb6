import { Link } from "@tanstack/react-router";
import { showInView } from "./show-in-view.ts";

/** Parts of a page, each with its own URL. */
export function Tabs<T extends string>(props: {
  label: string;
  tabs: readonly { value: T; words: string }[];
  chosen: T;
  to: string;
  params?: Record<string, string>;
}) {
  return (
    <nav
      aria-label={props.label}
      // The line is drawn inside: a border that the tabs overlap would make it scroll.
      className="mb-5 flex gap-5 overflow-x-auto inset-shadow-[0_-1px_0_var(--line)] [scrollbar-width:none]"
    >
      {props.tabs.map(({ value, words }, index) => (
        <Link
          key={value}
          ref={value === props.chosen ? showInView : null}
          to={props.to}
          params={props.params}
          search={index === 0 ? {} : { tab: value }}
          aria-current={value === props.chosen ? "page" : undefined}
          activeProps={{}}
          // The first one has no search parameters, so an inexact match would always be active.
          activeOptions={{ exact: true }}
          className={`border-b-2 py-2 whitespace-nowrap hover:text-ink ${value === props.chosen ? "border-ink" : "border-transparent text-quiet"}`}
        >
          {words}
        </Link>
      ))}
    </nav>
  );
}
