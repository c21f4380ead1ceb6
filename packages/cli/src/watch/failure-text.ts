import { safeText } from "../terminal/format.ts";
import { markdownLines } from "../terminal/markdown-lines.ts";

const width = 90;

/** Why a job failed: on the headline's line if it fits, otherwise below. */
export function failureText(headline: string, failure: { code: string; message: string } | null, more = ""): string {
  if (failure === null) return safeText(`${headline}${more}`);
  const head = safeText(`${headline} (${failure.code})`);
  const lines = markdownLines(`${failure.message}${more}`, width);
  return lines.length === 1
    ? `${head}: ${lines[0]}`
    : [`${head}:`, ...lines.map((line) => `  ${line}`.trimEnd())].join("\n");
}
