/** The proofreader's caret: something is to be put in here. */
export function Mark() {
  return (
    <svg viewBox="0 0 20 20" className="size-5 text-accent" aria-hidden="true">
      <path
        d="M3 17 10 5l7 12"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
