import { checkSamples, checkSite, compareSites, type Finding } from "@emend/site";
import { Type } from "typebox";
import { repairLinks } from "./page-tools.ts";
import { pathFilter } from "./paths.ts";
import { defineTool, fitItems, type ToolContext } from "./tool.ts";

export const checkTool = defineTool({
  name: "check",
  description: "What your edits broke. `path`: all findings there. `fix`: repairs certain links.",
  input: Type.Object(
    {
      path: Type.Optional(Type.String({ minLength: 1 })),
      all: Type.Optional(Type.Boolean()),
      fix: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  unshown: ["all"],
  writes: ({ fix }) => fix === true,
  async run(context, { path, all = false, fix = false }, signal) {
    const wanted = path ?? (all ? "" : null);
    if (!fix) return { kind: "answer", text: await findingsOf(context, wanted, signal) };
    const fixed = await repairLinks(context, undefined, signal);
    if (fixed.kind === "refused") return fixed;
    context.site.changed();
    return { kind: "answer", text: `${fixed.text}\n${await findingsOf(context, wanted, signal)}` };
  },
});

/** `wanted`: a folder, a file or a glob, whose findings are all listed. Null: what the edits concern. */
async function findingsOf(context: ToolContext, wanted: string | null, signal: AbortSignal): Promise<string> {
  const head = await context.site.head(signal);
  const list = (findings: readonly Finding[]) => {
    const items = grouped(findings);
    return fitItems(items, context.outputBytesMax - 400, (shown) =>
      shown < items.length ? `… ${items.length - shown} more kinds of findings` : "",
    ).text;
  };
  if (wanted !== null) {
    const accepts = pathFilter([wanted]);
    const pages = [...head.index.nodes.keys()].filter(accepts).slice(0, samplePagesMax);
    const samples = await checkSamples(head, pages);
    const findings = [...(await checkSite(head)).filter(({ path }) => accepts(path)), ...samples];
    return findings.length === 0 ? "no findings" : list(findings);
  }
  const { introduced, fixed, before, after, tally } = await compareSites(await context.site.base(signal), head);
  const unjudged = tally.unjudged === 0 ? "" : `; ${tally.unjudged} of ${tally.links} links could not be judged`;
  const totals = `${introduced.length} new, ${fixed.length} fixed; ${before} findings before, ${after} now${unjudged}`;
  const edited = new Set(context.overlay.entries().map(({ path }) => path));
  const known = new Set(introduced.map(describeFinding));
  const all = [...(await checkSite(head)), ...(await checkSamples(head, [...edited].slice(0, samplePagesMax)))];
  const older = all.filter((one) => edited.has(one.path) && !known.has(describeFinding(one)));
  return [
    totals,
    ...(introduced.length > 0 ? [list(introduced)] : []),
    ...(older.length > 0 ? [`not new, on pages that you edited:\n${list(older)}`] : []),
  ].join("\n");
}

const samplePagesMax = 50;
const placesShownMax = 8;

/** One line for each message, with the places that have it. */
function grouped(findings: readonly Finding[]): readonly string[] {
  const bySaying = Map.groupBy(findings, ({ severity, message, check }) => `${severity} ${message} (${check})`);
  return [...bySaying.values()].map((same) => {
    const [first] = same;
    if (same.length === 1 || !first) return same.map(describeFinding).join("");
    const places = same.slice(0, placesShownMax).map(({ path, line }) => `${path}:${line}`);
    const more = same.length > places.length ? ` and ${same.length - places.length} more` : "";
    return `${first.severity} ${first.message} (${first.check}), ${same.length} times: ${places.join(", ")}${more}`;
  });
}

export function describeFinding(finding: Finding): string {
  const doubt = finding.certainty === undefined ? "" : `, ${finding.certainty}: ${finding.why ?? ""}`;
  return `${finding.severity} ${finding.path}:${finding.line}:${finding.column}: ${finding.message} (${finding.check}${doubt})`;
}
