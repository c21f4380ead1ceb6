import { resolve } from "node:path";
import { outsideOf, type ParseCache, type Site, settingsSchema } from "@emend/site";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { renderAnnotations } from "./annotations.ts";
import { applyFixes } from "./apply-fixes.ts";
import { openCheckCache } from "./check-cache.ts";
import { requireFolder } from "./check-folder.ts";
import { folderInRepository } from "./git-tree.ts";
import { renderHuman } from "./human.ts";
import { type Inspection, inspectFolder, mdxPagesMax, noPages } from "./inspect-folder.ts";
import { findingJson, renderGitlab } from "./json.ts";
import { renderSarif } from "./sarif.ts";
import { watchCheck } from "./watch.ts";

const outsideShownMax = 5;

interface CheckOptions {
  json?: boolean;
  sarif?: boolean;
  gitlab?: boolean;
  watch?: boolean;
  fix?: boolean;
  base?: string;
  docs?: string;
  info?: boolean;
  mdx?: boolean;
  cache?: boolean;
  schema?: boolean;
}

/** Adds `emend check [DIR]` to the program. */
export function registerCheckCommand(program: Command, cli: Cli): void {
  program
    .command("check")
    .description("Check a folder of docs: links, anchors, navigation, redirects, front matter, MDX")
    .argument("[dir]", "the folder to check", ".")
    .addOption(
      new Option("--watch", "check again whenever a file changes, until Ctrl-C").conflicts(["fix", "sarif", "gitlab"]),
    )
    .addOption(new Option("--json", "print the findings as JSON").conflicts(["sarif", "gitlab"]))
    .addOption(new Option("--sarif", "print the findings as SARIF 2.1.0").conflicts("gitlab"))
    .option("--gitlab", "print the findings as a code quality report of GitLab")
    .option("--fix", "apply the fixes that are certain, then report what remains")
    .option("--base <ref>", "report only what is new since this commit or branch")
    .option("--docs <folder>", "the docs folder inside it (default: detected)")
    .option("--mdx", `judge MDX by the full parser on every page, not only where there are at most ${mdxPagesMax}`)
    .option("--info", "show the lesser findings too")
    .option("--schema", "print the JSON schema of .emend/check.json, for editors")
    .option("--no-cache", "read every page anew, and remember nothing")
    .action(async (dir: string, options: CheckOptions) => {
      process.exitCode = await check(cli, resolve(dir), options);
    });
}

async function check(cli: Cli, dir: string, options: CheckOptions): Promise<number> {
  if (options.schema) {
    cli.stdout.write(`${JSON.stringify(settingsSchema, null, 2)}\n`);
    return 0;
  }
  await requireFolder(dir, options.docs);
  if (options.watch) {
    const { docs = "", base = null, mdx = false, json = false, info = false } = options;
    return watchCheck(cli, dir, { docs, base, isMdxAsked: mdx, json, info });
  }
  const startedAt = performance.now();
  const cache = options.cache === false ? undefined : await openCheckCache(cli.env, dir);
  let outcome = await inspect(cli, dir, options, cache);
  let fixed = 0;
  if (options.fix) {
    fixed = await applyFixes(dir, outcome.findings);
    if (fixed > 0) outcome = await inspect(cli, dir, options, cache);
  }
  await cache?.flush();
  const { site, findings, unjudged } = outcome;
  const print = (text: string): unknown => cli.stdout.write(`${text}\n`);
  if (options.json) print(JSON.stringify(toJson(outcome, options.fix ? fixed : null)));
  else if (options.sarif) print(JSON.stringify(renderSarif(findings), null, 2));
  else if (options.gitlab) print(JSON.stringify(renderGitlab(findings, await folderInRepository(dir)), null, 2));
  else {
    const elapsedMs = performance.now() - startedAt;
    const { tally } = outcome;
    const summary = { framework: site.framework, pages: site.pages.length, fixed, elapsedMs, tally };
    const outside = describeOutside(site);
    if (outside !== null) cli.stderr.write(`${outside}\n`);
    if (unjudged > 0) cli.stderr.write(`MDX syntax was not judged on ${unjudged} pages; --mdx does.\n`);
    print(await renderHuman(dir, findings, findings, summary, options.info === true));
    if (cli.env.GITHUB_ACTIONS === "true") for (const line of renderAnnotations(cli.env, dir, findings)) print(line);
  }
  return findings.some(({ severity }) => severity === "error") ? 1 : 0;
}

async function inspect(
  cli: Cli,
  dir: string,
  { base, docs, mdx }: CheckOptions,
  cache: ParseCache | undefined,
): Promise<Inspection> {
  const inspection = await inspectFolder({ cache, stderr: cli.stderr, signal: cli.signal }, dir, {
    base: base ?? null,
    docsDir: docs ?? "",
    isMdxAsked: mdx === true,
  });
  if (inspection.pages > 0) return inspection;
  throw noPages(dir, docs ?? "");
}

/** What else a reader might take for the docs. A few Markdown files beside a site are none. */
function describeOutside(site: Site): string | null {
  const { documents, sites } = outsideOf(site);
  if (sites.length === 0 && documents <= site.pages.length) return null;
  const named = sites.slice(0, outsideShownMax).map(({ root, framework }) => `${root || "."} (${framework})`);
  const more = sites.length > outsideShownMax ? ` and ${sites.length - outsideShownMax} more` : "";
  const others = named.length === 0 ? "" : `, with other sites in ${named.join(", ")}${more}`;
  const files = `${documents} Markdown ${documents === 1 ? "file" : "files"}`;
  return `Checked ${site.root || "this folder"}; ${files} outside of it ${documents === 1 ? "was" : "were"} not checked${others}. --docs chooses another folder.`;
}

function toJson({ site, findings, tally }: Inspection, fixed: number | null): unknown {
  return {
    framework: site.framework,
    root: site.root,
    pages: site.pages.length,
    links: tally,
    outside: outsideOf(site),
    ...(fixed === null ? {} : { fixed }),
    findings: findings.map(findingJson),
  };
}
