/** A few bars in the space of a word, for a row; the figures stand beside them. */
export function Bars({ counts, label }: { counts: readonly number[]; label: string }) {
  const most = Math.max(1, ...counts);
  return (
    <svg viewBox={`0 0 ${counts.length * 5 - 1} 20`} className="h-5 w-16 flex-none" role="img" aria-label={label}>
      {counts.map((count, index) => {
        const height = count === 0 ? 1 : Math.max(2, (count / most) * 20);
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
            key={index}
            x={index * 5}
            y={20 - height}
            width={4}
            height={height}
            className={count === 0 ? "fill-quiet/50" : "fill-quiet"}
          />
        );
      })}
    </svg>
  );
}
