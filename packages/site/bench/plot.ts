// Draws the figures of the benches as SVG: lines for what grows, dots with their spread for what is compared.
// Readable in light and in dark: the picture has its own background, and its colours follow the reader's setting.

export interface Line {
  name: string;
  points: readonly (readonly [x: number, y: number])[];
}

export interface LinePlot {
  title: string;
  x: string;
  y: string;
  lines: readonly Line[];
  /** A dashed level, such as an aim. */
  level?: { name: string; y: number };
  /** Each step of an axis is ten times the last. */
  log?: "x" | "y" | "both";
}

export interface DotPanel {
  title: string;
  unit: string;
  /** `value` null: it was not reached, and `note` says so. */
  rows: readonly { name: string; value: number | null; low?: number; high?: number; note?: string }[];
}

const width = 720;
const style = `
  .back { fill: #ffffff } text { fill: #1f2328; font: 13px system-ui, sans-serif } .title { font-size: 16px; font-weight: 600 }
  .quiet { fill: #59636e } .grid { stroke: #d1d9e0; stroke-width: 1 } .level { stroke: #59636e; stroke-dasharray: 5 4 }
  .s0 { --c: #0969da } .s1 { --c: #bc4c00 } .s2 { --c: #1a7f37 } .s3 { --c: #8250df } .s4 { --c: #9a6700 } .s5 { --c: #bf3989 }
  .s6 { --c: #1b7c83 } .s7 { --c: #cf222e } .s8 { --c: #57606a } .s9 { --c: #6e7781 }
  path { fill: none; stroke: var(--c); stroke-width: 2 } circle { fill: var(--c) } .name { fill: var(--c); font-weight: 600 }
  .range { stroke: var(--c); stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } text { fill: #f0f6fc } .quiet { fill: #9198a1 } .grid { stroke: #3d444d } .level { stroke: #9198a1 }
    .s0 { --c: #4493f8 } .s1 { --c: #f0883e } .s2 { --c: #3fb950 } .s3 { --c: #ab7df8 } .s4 { --c: #d29922 } .s5 { --c: #db61a2 }
    .s6 { --c: #39c5cf } .s7 { --c: #f85149 } .s8 { --c: #9198a1 } .s9 { --c: #b1bac4 } .name { fill: var(--c) }
  }`;

/** Lines from left to right, each named at its right end. */
export function drawLines(plot: LinePlot): string {
  const height = 400;
  const frame = { left: 70, right: width - 205, top: 60, bottom: height - 52 };
  const all = plot.lines.flatMap(({ points }) => points);
  const logX = plot.log === "x" || plot.log === "both";
  const logY = plot.log === "y" || plot.log === "both";
  const xs = axis(
    all.map(([x]) => x),
    logX,
  );
  const ys = axis([...all.map(([, y]) => y), ...(plot.level ? [plot.level.y] : [])], logY);
  const atX = (x: number) => frame.left + xs.share(x) * (frame.right - frame.left);
  const atY = (y: number) => frame.bottom - ys.share(y) * (frame.bottom - frame.top);
  const ends = spread(
    plot.lines.map(({ points }) => atY(points.at(-1)?.[1] ?? 0)),
    16,
    frame.bottom,
  );
  // Only measured places are marked below: between them nobody looked.
  const marks = [...new Set(all.map(([x]) => x))].sort((a, b) => a - b);
  return svg(height, plot.title, [
    `<text x="${frame.left}" y="52" class="quiet">${escapeXml(plot.y)}</text>`,
    `<text x="${frame.right}" y="${height - 12}" text-anchor="end" class="quiet">${escapeXml(plot.x)}</text>`,
    ...ys.ticks.map(
      (y) =>
        `<line class="grid" x1="${frame.left}" x2="${frame.right}" y1="${round(atY(y))}" y2="${round(atY(y))}"/>` +
        `<text class="quiet" x="${frame.left - 8}" y="${round(atY(y) + 4)}" text-anchor="end">${number(y)}</text>`,
    ),
    ...marks.map(
      (x) =>
        `<text class="quiet" x="${round(atX(x))}" y="${frame.bottom + 20}" text-anchor="middle">${number(x)}</text>`,
    ),
    ...(plot.level
      ? [
          `<line class="level" x1="${frame.left}" x2="${frame.right}" y1="${round(atY(plot.level.y))}" y2="${round(atY(plot.level.y))}"/>`,
          `<text class="quiet" x="${frame.left + 6}" y="${round(atY(plot.level.y) - 6)}">${escapeXml(plot.level.name)}</text>`,
        ]
      : []),
    ...plot.lines.map(({ name, points }, n) => {
      const path = points.map(([x, y], at) => `${at === 0 ? "M" : "L"}${round(atX(x))} ${round(atY(y))}`).join("");
      const dots = points.map(([x, y]) => `<circle cx="${round(atX(x))}" cy="${round(atY(y))}" r="3.5"/>`).join("");
      const label = `<text class="name" x="${frame.right + 10}" y="${round((ends[n] ?? 0) + 4)}">${escapeXml(name)}</text>`;
      return `<g class="s${n % 10}"><path d="${path}"/>${dots}${label}</g>`;
    }),
  ]);
}

/** A dot for each median, on a scale whose steps are ten times the last, with its spread as a bar. */
export function drawDots(title: string, panels: readonly DotPanel[]): string {
  const [left, right, rowHeight] = [190, width - 170, 24];
  let top = 56;
  const parts = panels.flatMap((panel) => {
    const values = panel.rows.flatMap(({ value, low, high }) =>
      [value, low, high].filter((one): one is number => typeof one === "number" && one > 0),
    );
    const scale = axis(values, true);
    const at = (value: number) => round(left + scale.share(Math.max(value, scale.ticks[0] ?? 1)) * (right - left));
    const from = top + 12;
    const rows = panel.rows.map(({ name, value, low, high, note }, n) => {
      const y = from + 16 + n * rowHeight;
      const range =
        low === undefined || high === undefined
          ? ""
          : `<line class="range" x1="${at(low)}" x2="${at(high)}" y1="${y}" y2="${y}"/>`;
      const dot = value === null ? "" : `${range}<circle cx="${at(value)}" cy="${y}" r="5"/>`;
      const said = note ?? (value === null ? "" : `${number(value)} ${panel.unit}`);
      return `<g class="s${n % 10}"><text class="name" x="${left - 12}" y="${y + 4}" text-anchor="end">${escapeXml(name)}</text>${dot}<text x="${right + 12}" y="${y + 4}">${escapeXml(said)}</text></g>`;
    });
    const bottom = from + panel.rows.length * rowHeight + 6;
    const grid = scale.ticks.map(
      (tick) =>
        `<line class="grid" x1="${at(tick)}" x2="${at(tick)}" y1="${from}" y2="${bottom}"/>` +
        `<text class="quiet" x="${at(tick)}" y="${bottom + 16}" text-anchor="middle">${number(tick)} ${escapeXml(panel.unit)}</text>`,
    );
    const head = `<text class="quiet" x="16" y="${top}">${escapeXml(panel.title)}</text>`;
    top = bottom + 48;
    return [head, ...grid, ...rows];
  });
  return svg(top - 16, title, parts);
}

function svg(height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<style>${style}\n</style>`,
    `<rect class="back" width="${width}" height="${height}" rx="6"/>`,
    `<text class="title" x="16" y="28">${escapeXml(title)}</text>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

interface Axis {
  ticks: readonly number[];
  /** 0 at the axis's beginning, 1 at its end. */
  share(value: number): number;
}

function axis(values: readonly number[], isLog: boolean): Axis {
  if (isLog) {
    const positive = values.filter((value) => value > 0);
    const from = Math.floor(Math.log10(Math.min(...positive)) + 1e-9);
    const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...positive)) - 1e-9));
    const ticks = Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n));
    return { ticks, share: (value) => (Math.log10(value) - from) / (to - from) };
  }
  const most = Math.max(...values);
  const rough = most / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((times) => times * unit >= rough) ?? 10) * unit;
  const count = Math.max(1, Math.ceil(most / step - 1e-9));
  const ticks = Array.from({ length: count + 1 }, (_, n) => n * step);
  return { ticks, share: (value) => value / (count * step) };
}

/** Moves labels apart that would cover each other; in the order of their heights, from the lowest up. */
function spread(heights: readonly number[], gap: number, lowest: number): number[] {
  const placed = [...heights];
  let free = lowest;
  for (const n of [...heights.keys()].sort((a, b) => (heights[b] ?? 0) - (heights[a] ?? 0))) {
    placed[n] = Math.min(heights[n] ?? 0, free);
    free = (placed[n] ?? 0) - gap;
  }
  return placed;
}

function number(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
