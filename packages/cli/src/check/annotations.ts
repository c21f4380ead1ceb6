import { join, relative } from "node:path";
import type { Finding } from "@emend/site";

const levels = { error: "error", warning: "warning", info: "notice" } as const;
// GitHub shows at most this many per step.
const annotationsMax = 50;

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Workflow commands that make GitHub show findings next to the lines, most severe first. */
export function renderAnnotations(env: NodeJS.ProcessEnv, dir: string, findings: readonly Finding[]): string[] {
  const order = ["error", "warning", "info"];
  const gravest = findings.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
  const workspace = env.GITHUB_WORKSPACE ?? process.cwd();
  return gravest.slice(0, annotationsMax).map(({ severity, path, line, column, check, message }) => {
    const file = relative(workspace, join(dir, path)).replaceAll("\\", "/");
    const place = `file=${escapeProperty(file)},line=${line},col=${column},title=${escapeProperty(check)}`;
    return `::${levels[severity]} ${place}::${escapeData(message)}`;
  });
}
