export function formatCount(value: number): string {
  if (value < 10_000) return String(Math.round(value));
  if (value < 999_500) return `${trim(value / 1000)} k`;
  return `${trim(value / 1_000_000)} M`;
}

export function formatUsd(value: number): string {
  return value === 0 ? "$0" : value < 0.01 ? "< $0.01" : `$${value.toFixed(2)}`;
}

/** "93 %" of those that ended; a dash where none did. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? "–" : `${Math.round((part / whole) * 100)} %`;
}

function trim(value: number): string {
  return value < 100 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}
