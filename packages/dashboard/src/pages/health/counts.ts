import type { DashboardSiteCheck } from "@emend/contract";

interface HealthCounts {
  broken: number;
  orphans: number;
  errors: number;
  warnings: number;
}

const broken = new Set(["broken-link", "broken-anchor"]);

/** Every finding but mere remarks, in exactly one of four kinds. */
export function countsOf({ counts }: Pick<DashboardSiteCheck, "counts">): HealthCounts {
  const sums: HealthCounts = { broken: 0, orphans: 0, errors: 0, warnings: 0 };
  for (const { check, severity, count } of counts) {
    if (broken.has(check)) sums.broken += count;
    else if (check === "orphan-page") sums.orphans += count;
    else if (severity === "error") sums.errors += count;
    else if (severity === "warning") sums.warnings += count;
  }
  return sums;
}
