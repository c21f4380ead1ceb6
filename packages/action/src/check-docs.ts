import { execFile } from "node:child_process";
import { isAbsolute, resolve } from "node:path";
import { promisify } from "node:util";
import { createParseCache, type Finding, staleReferenceCheck } from "@emend/site";
import { inspectFolder, noPages, requireFolder } from "../../cli/src/check/inspect-folder.ts";
import { renderAnnotations } from "../../cli/src/check/report.ts";
import type { CheckInputs, Workflow } from "./workflow.ts";

const run = promisify(execFile);
const rowsMax = 50;

/** The mode `check`: annotates lines and fails on errors. It needs only the checkout. Returns the exit code. */
export async function checkDocs(
  env: NodeJS.ProcessEnv,
  workflow: Workflow,
  inputs: CheckInputs,
  print: (line: string) => void,
): Promise<number> {
  const top = resolve(env.GITHUB_WORKSPACE ?? ".");
  const dir = resolve(top, inputs.path);
  await requireFolder(dir, inputs.docs ?? undefined);
  const deps = { cache: createParseCache(), stderr: process.stderr, signal: new AbortController().signal };
  const input = { docsDir: inputs.docs ?? "", isMdxAsked: false };
  const sources = inputs.sources.map((name) => (isAbsolute(name) ? name : `${top}/${name}`));
  const whole = await inspectFolder(deps, dir, { ...input, base: null, ...(sources.length > 0 && { sources }) });
  for (const note of whole.notes) print(note);
  if (whole.pages === 0 && !inputs.onlyNew) throw noPages(dir, input.docsDir);
  const base = inputs.onlyNew ? await findBase(dir, inputs.baseRef ?? env.GITHUB_BASE_REF ?? "") : null;
  const judged = base === null ? whole : await inspectFolder(deps, dir, { ...input, base });
  // Stale references are new by themselves: the code had the name before.
  const stale = judged === whole ? [] : whole.findings.filter(({ check }) => check === staleReferenceCheck);
  const findings = [...judged.findings, ...stale];
  for (const line of renderAnnotations(env, dir, findings)) print(line);
  const count = (severity: Finding["severity"], of = findings): number =>
    of.filter((finding) => finding.severity === severity).length;
  workflow.setOutput("findings", String(whole.findings.length));
  workflow.setOutput("errors", String(count("error")));
  workflow.setOutput("warnings", String(count("warning")));
  workflow.setOutput("new", base === null ? "" : String(findings.length));
  const { site, tally } = whole;
  const kind = base === null ? "" : "new ";
  const said = [
    `${count("error")} ${kind}errors, ${count("warning")} ${kind}warnings`,
    `${site.pages.length} pages (${site.framework})`,
    ...(base === null ? [] : [`${whole.findings.length} findings on the whole site`]),
    ...(tally.unjudged === 0 ? [] : [`${tally.unjudged} of ${tally.links} links only the build can judge`]),
  ].join(" · ");
  print(said);
  workflow.addSummary(["### Emend check", "", said, "", ...table(findings)].join("\n"));
  return count("error") === 0 ? 0 : 1;
}

function table(findings: readonly Finding[]): string[] {
  const shown = findings.filter(({ severity }) => severity !== "info");
  if (shown.length === 0) return [];
  // Keeps a page's text inside its table cell.
  const cell = (text: string): string => text.replaceAll(/[\r\n|]+/g, " ").replaceAll("<", "&lt;");
  const rows = shown.slice(0, rowsMax).map(({ severity, path, line, message, check }) => {
    return `| ${severity} | \`${cell(path).replaceAll("`", "")}:${line}\` | ${cell(message)} | ${check} |`;
  });
  const more = shown.length > rowsMax ? ["", `${shown.length - rowsMax} more.`] : [];
  return ["| | where | what | check |", "|---|---|---|---|", ...rows, ...more, ""];
}

/** What the pull request is compared with: the branch in the checkout, or else fetched with depth 1. */
async function findBase(dir: string, name: string): Promise<string> {
  if (name === "")
    throw new Error('"only-new" compares with a pull request\'s base; elsewhere set the input "base-ref"');
  // git would treat it as an option.
  if (name.startsWith("-")) throw new Error(`"base-ref" cannot be "${name}"`);
  for (const ref of [`refs/remotes/origin/${name}`, name]) {
    const found = await run("git", ["-C", dir, "rev-parse", "--verify", "--quiet", `${ref}^{commit}`]).catch(
      () => null,
    );
    if (found !== null) return found.stdout.trim();
  }
  await run("git", ["-C", dir, "fetch", "--no-tags", "--depth=1", "origin", name]).catch((cause) => {
    throw new Error(
      `"${name}" is not in this checkout and cannot be fetched; set fetch-depth: 0 for actions/checkout`,
      {
        cause,
      },
    );
  });
  return (await run("git", ["-C", dir, "rev-parse", "FETCH_HEAD"])).stdout.trim();
}
