import type { ReactNode } from "react";

/** A few figures side by side, each with its word. */
export function FigureRow({ figures }: { figures: readonly { word: string; figure: ReactNode; note?: string }[] }) {
  // No row but the last, and that one stretched, may have room to spare: it would show as a grey hole.
  const look = figures.length === 6 ? "sm:grid-cols-3 lg:grid-cols-6" : "sm:flex sm:flex-wrap";
  return (
    <dl
      className={`grid grid-cols-2 gap-px overflow-hidden rounded-md border border-line bg-line [&>:last-child:nth-child(odd)]:col-span-2 sm:[&>div]:grow sm:[&>div]:basis-[130px] ${look}`}
    >
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
