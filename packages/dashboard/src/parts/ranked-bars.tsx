import { useId } from "react";
import { VisibleText } from "./visible-text.tsx";

export interface RankedBar {
  key: string;
  name: string;
  /** Null: there is nothing to measure. */
  value: number | null;
}

const shownMax = 8;

/** Lengths side by side, largest first. Name and figure are words, so that nobody needs the drawing. */
export function RankedBars(props: {
  title: string;
  by: string;
  bars: readonly RankedBar[];
  format(value: number): string;
  /** What the whole length stands for; absent: the largest of them. */
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
