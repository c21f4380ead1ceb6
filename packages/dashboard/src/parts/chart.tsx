import { type ReactNode, useId } from "react";
import { ScrollBox } from "./scroll-box.tsx";

interface Series {
  name: string;
  /** One per point. */
  values: readonly number[];
  /** A text color class for the drawing. */
  colour: string;
  /** For a line: distinguishes it without color. */
  dash?: string;
}

interface ChartProps {
  title: string;
  kind: "bars" | "lines";
  /** The labels of the points; complete in the table. */
  points: readonly string[];
  series: readonly Series[];
  format?(value: number): string;
}

const width = 600;
const height = 120;

/** A drawing, and the same as a table for everybody. Text stays outside the drawing, which stretches. */
export function Chart({ title, kind, points, series, format = String }: ChartProps) {
  const id = useId();
  const totals = points.map((_point, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const most = kind === "bars" ? Math.max(0, ...totals) : Math.max(0, ...series.flatMap(({ values }) => values));
  const top = niceTop(most);
  return (
    <figure className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-labelledby={id}>
      <figcaption className="flex flex-wrap items-center justify-between gap-x-4">
        <span id={id} className="font-semibold">
          {title}
        </span>
        {series.length > 1 && <Legend kind={kind} series={series} />}
      </figcaption>
      <div className="border-b border-line">
        <p className="text-[12px] leading-4 text-quiet" aria-hidden="true">
          {format(top)}
        </p>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          className="block h-32 w-full border-t border-line"
          role="img"
          aria-label={`${title}; the figures are in the table below`}
        >
          {kind === "bars" ? (
            <StackedBars points={points} series={series} top={top} format={format} />
          ) : (
            series.map((each) => <Line key={each.name} series={each} top={top} />)
          )}
        </svg>
      </div>
      <p className="flex justify-between text-[12px] leading-4 text-quiet" aria-hidden="true">
        <span>{points[0]}</span>
        {points.length > 1 && <span>{points.at(-1)}</span>}
      </p>
      <Table title={title} points={points} series={series} format={format} />
    </figure>
  );
}

function StackedBars({ points, series, top, format }: Required<Omit<ChartProps, "title" | "kind">> & { top: number }) {
  const step = width / Math.max(1, points.length);
  const gap = Math.min(3, step * 0.2);
  const bars: ReactNode[] = [];
  points.forEach((point, at) => {
    let below = 0;
    for (const { name, values, colour } of series) {
      const value = values[at] ?? 0;
      const size = (value / top) * height;
      below += size;
      if (value === 0) continue;
      bars.push(
        <rect
          key={`${point}/${name}`}
          x={at * step + gap / 2}
          y={height - below}
          width={step - gap}
          height={size}
          className={colour}
          fill="currentColor"
        >
          <title>{`${point} · ${name}: ${format(value)}`}</title>
        </rect>,
      );
    }
  });
  return bars;
}

function Line({ series: { name, values, colour, dash }, top }: { series: Series; top: number }) {
  // A single value is drawn as a line, because a point would be invisible.
  const shown = values.length === 1 ? [values[0] ?? 0, values[0] ?? 0] : values;
  const points = shown.map((value, at) => {
    const y = height - 1 - (value / top) * (height - 2);
    return `${(at / Math.max(1, shown.length - 1)) * width},${y}`;
  });
  return (
    <polyline
      points={points.join(" ")}
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeDasharray={dash}
      strokeLinejoin="round"
      vectorEffect="non-scaling-stroke"
      className={colour}
    >
      <title>{name}</title>
    </polyline>
  );
}

function Legend({ kind, series }: Pick<ChartProps, "kind" | "series">) {
  return (
    <span className="flex flex-wrap gap-x-4 text-quiet">
      {series.map(({ name, colour, dash }) => (
        <span key={name} className="inline-flex items-center gap-1.5">
          <svg viewBox="0 0 16 8" className={`h-2 w-4 ${colour}`} aria-hidden="true">
            {kind === "bars" ? (
              <rect width="16" height="8" fill="currentColor" />
            ) : (
              <path d="M0 4h16" stroke="currentColor" strokeWidth="2" strokeDasharray={dash} />
            )}
          </svg>
          {name}
        </span>
      ))}
    </span>
  );
}

function Table({ title, points, series, format }: Required<Omit<ChartProps, "kind">>) {
  return (
    <details>
      <summary className="text-quiet">As a table</summary>
      <ScrollBox label={`${title}, as a table`} className="max-h-72 pt-2">
        <table className="w-full text-right">
          <caption className="sr-only">{title}</caption>
          <thead>
            <tr className="border-b border-line">
              <th scope="col" className="py-1 pr-4 text-left font-semibold">
                When
              </th>
              {series.map(({ name }) => (
                <th key={name} scope="col" className="py-1 pl-4 font-semibold">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map((point, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two looks within a minute have one name
              <tr key={at}>
                <th scope="row" className="py-0.5 pr-4 text-left font-normal whitespace-nowrap">
                  {point}
                </th>
                {series.map(({ name, values }) => (
                  <td key={name} className="py-0.5 pl-4">
                    {format(values[at] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </details>
  );
}

/** The next round number. */
function niceTop(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return (([1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10] as const).find((times) => times * power >= most) ?? 10) * power;
}
