import type { ReactNode } from "react";

/** A few figures side by side, each with its word. */
export function FigureRow({ figures }: { figures: readonly { word: string; figure: ReactNode; note?: string }[] }) {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-md border border-line bg-line [&>:last-child:nth-child(odd)]:col-span-2 sm:[&>:last-child]:col-span-1! sm:grid-cols-[repeat(auto-fit,minmax(130px,1fr))]">
      {figures.map(({ word, figure, note }) => (
        <div key={word} className="grid content-start gap-0.5 bg-sheet px-4 py-3">
          <dt className="text-quiet">{word}</dt>
          <dd className="text-[20px] leading-7 font-semibold">{figure}</dd>
          {note && <dd className="text-quiet">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
