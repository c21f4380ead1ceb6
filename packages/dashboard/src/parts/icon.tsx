const paths = {
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  warning: "M8 2.5 14.5 13.5H1.5ZM8 6.5v3.2M8 11.6v.1",
  info: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 7.5v3.2M8 5.2v.1",
  chevron: "M6 4l4 4-4 4",
  dots: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  running: "M8 2.5a5.5 5.5 0 1 0 5.5 5.5",
  queued: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3l2 1.5",
  archived: "M2.5 3.5h11v3h-11ZM3.5 6.5v6h9v-6M6.5 9h3",
  copy: "M5.5 5.5h7v8h-7ZM3.5 10.5v-8h7",
  key: "M9.5 9a3 3 0 1 0-2.5-2.5L2.5 11v2.5H5V12h1.5v-1.5Z",
  open: "M4 5.5v8M4 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM12 10.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4ZM12 10.5V6a2 2 0 0 0-2-2H7.5M9.5 2 7.5 4l2 2",
  merged: "M4 5.5v8M4 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM12 7a2 2 0 1 0 0 4 2 2 0 0 0 0-4ZM4 6c.5 2.5 2.5 3 6 3",
} as const;
export type IconName = keyof typeof paths;

/** In the color of the text next to it, which says the same: no icon stands alone. */
export function Icon(props: { name: IconName; className?: string }) {
  return (
    <svg
      className={`size-4 flex-none ${props.className ?? ""}`}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[props.name]} />
    </svg>
  );
}
