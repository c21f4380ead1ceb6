import { type ReactNode, useId } from "react";
import { VisibleText } from "./text.tsx";

/** A few small bars for a row, next to their figures. */
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

interface RankedBar {
  key: string;
  name: string;
  /** Null if there is nothing to measure. */
  value: number | null;
}

const shownMax = 8;

/** Bars sorted by size. Name and figure are text, so the drawing is not needed. */
export function RankedBars(props: {
  title: string;
  by: string;
  bars: readonly RankedBar[];
  format(value: number): string;
  /** The value of the full length. Absent: the largest one. */
  full?: number;
}) {
  const id = useId();
  const ranked = props.bars.toSorted((a, b) => (b.value ?? -1) - (a.value ?? -1));
  const most = props.full ?? Math.max(0, ...ranked.map(({ value }) => value ?? 0));
  const hidden = ranked.length - shownMax;
  return (
    <figure aria-labelledby={id} className="grid grid-cols-[minmax(0,1fr)] content-start gap-2">
      <figcaption id={id} className="font-semibold">
        {props.title} <span className="sr-only">by {props.by}</span>
      </figcaption>
      <ol className="grid grid-cols-[minmax(0,1fr)] gap-2">
        {ranked.slice(0, shownMax).map(({ key, name, value }) => (
          <li key={key} className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3">
            <span className="truncate" title={name}>
              <VisibleText text={name} />
            </span>
            <span className="text-right">{value === null ? "–" : props.format(value)}</span>
            <svg
              viewBox="0 0 100 6"
              preserveAspectRatio="none"
              className="col-span-2 h-1.5 w-full rounded-xs bg-hush"
              aria-hidden="true"
            >
              <rect width={most === 0 ? 0 : ((value ?? 0) / most) * 100} height="6" className="fill-quiet" />
            </svg>
          </li>
        ))}
      </ol>
      {hidden > 0 && <p className="text-quiet">and {hidden} more in the table below</p>}
    </figure>
  );
}

/** A few figures in a row, each with a label. */
export function FigureRow({ figures }: { figures: readonly { word: string; figure: ReactNode; note?: string }[] }) {
  // Only the last row may have empty cells: they would show as a gray gap.
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

/** The added and removed lines of a change. */
export function LineCounts({ additions, deletions }: { additions: number; deletions: number }) {
  return (
    <span className="font-mono text-[13px] whitespace-nowrap">
      <span className="text-good">+{additions}</span> <span className="text-bad">−{deletions}</span>
    </span>
  );
}
