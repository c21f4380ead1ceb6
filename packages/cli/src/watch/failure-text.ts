import { safeText } from "../terminal/format.ts";
import { markdownLines } from "../terminal/markdown-lines.ts";

const width = 90;

/** Why a job failed: in the headline's line where it fits, else in lines of its own below. */
export function failureText(headline: string, failure: { code: string; message: string } | null, more = ""): string {
  if (failure === null) return safeText(`${headline}${more}`);
  const head = safeText(`${headline} (${failure.code})`);
  const lines = markdownLines(`${failure.message}${more}`, width);
  return lines.length === 1
    ? `${head}: ${lines[0]}`
    : [`${head}:`, ...lines.map((line) => `  ${line}`.trimEnd())].join("\n");
}
