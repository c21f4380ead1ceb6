/** How many lines a change adds and takes away. */
export function LineCounts({ additions, deletions }: { additions: number; deletions: number }) {
  return (
    <span className="font-mono text-[13px] whitespace-nowrap">
      <span className="text-good">+{additions}</span> <span className="text-bad">−{deletions}</span>
    </span>
  );
}
