import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import {
  checkMdx,
  checkSite,
  compareSites,
  type Finding,
  folderTree,
  openSite,
  type ParseCache,
  type Site,
} from "@emend/site";
import type { Command } from "commander";
import { renderAnnotations } from "./annotations.ts";
import { applyFixes } from "./apply-fixes.ts";
import { openCheckCache } from "./check-cache.ts";
import { gitTree } from "./git-tree.ts";
import { renderHuman } from "./human.ts";
import { createProgress } from "./progress.ts";
import { renderSarif } from "./sarif.ts";

interface CheckOptions {
  json?: boolean;
  sarif?: boolean;
  fix?: boolean;
  base?: string;
  docs?: string;
  info?: boolean;
  mdx?: boolean;
  cache?: boolean;
}

// The full MDX parser takes some ten milliseconds a page: beyond this many it waits to be asked.
const mdxPagesMax = 300;

/** Adds `emend check [DIR]` to the program. */
export function registerCheckCommand(program: Command): void {
  program
    .command("check")
    .description("Check a folder of docs: links, anchors, navigation, redirects, front matter, MDX")
    .argument("[dir]", "the folder to check", ".")
    .option("--json", "print the findings as JSON")
    .option("--sarif", "print the findings as SARIF 2.1.0")
    .option("--fix", "apply the fixes that are certain, then report what remains")
    .option("--base <ref>", "report only what is new since this commit or branch")
    .option("--docs <folder>", "the folder inside that holds the docs, where it cannot be told")
    .option("--mdx", `judge MDX by the full parser on every page, not only where there are at most ${mdxPagesMax}`)
    .option("--info", "show the lesser findings too")
    .option("--no-cache", "read every page anew, and remember nothing")
    .action(async (dir: string, options: CheckOptions) => {
      process.exitCode = await check(resolve(dir), options);
    });
}

interface Outcome {
  site: Site;
  findings: readonly Finding[];
  /** MDX pages that the full parser has not looked at. */
  unjudged?: number;
}

async function check(dir: string, options: CheckOptions): Promise<number> {
  const info = await stat(dir).catch(() => null);
  if (info === null || !info.isDirectory()) {
    console.error(`emend check: ${dir} is no folder`);
    return 2;
  }
  const startedAt = performance.now();
  const cache = options.cache === false ? undefined : await openCheckCache(process.env, dir);
  let outcome = await inspect(dir, options, cache);
  let fixed = 0;
  if (options.fix) {
    fixed = await applyFixes(dir, outcome.findings);
    if (fixed > 0) outcome = await inspect(dir, options, cache);
  }
  await cache?.flush();
  const { site, findings } = outcome;
  if (options.json) console.log(JSON.stringify(toJson(site, findings)));
  else if (options.sarif) console.log(JSON.stringify(renderSarif(findings), null, 2));
  else {
    const elapsedMs = performance.now() - startedAt;
    const summary = { framework: site.framework, pages: site.pages.length, fixed, elapsedMs };
    if (outcome.unjudged !== undefined) {
      console.error(`MDX syntax was not judged on ${outcome.unjudged} pages; --mdx does.`);
    }
    console.log(await renderHuman(dir, findings, summary, options.info === true));
    if (process.env.GITHUB_ACTIONS === "true") for (const line of renderAnnotations(dir, findings)) console.log(line);
  }
  return findings.some(({ severity }) => severity === "error") ? 1 : 0;
}

async function inspect(dir: string, options: CheckOptions, cache: ParseCache | undefined): Promise<Outcome> {
  const progress = createProgress();
  const docs = {
    ...(options.docs === undefined ? {} : { docsDir: options.docs }),
    ...(cache === undefined ? {} : { cache }),
  };
  try {
    const site = await openSite(folderTree(dir), { ...docs, onProgress: progress.update });
    if (options.base === undefined) return await inspectWhole(site, options.mdx === true);
    const base = await openSite(await gitTree(dir, options.base), docs);
    return { site, findings: (await compareSites(base, site)).introduced };
  } finally {
    progress.end();
  }
}

async function inspectWhole(site: Site, isMdxAsked: boolean): Promise<Outcome> {
  const findings = await checkSite(site);
  const mdx = site.pages.map(({ path }) => path).filter((path) => site.model.dialect(path).syntax === "mdx");
  if (!isMdxAsked && mdx.length > mdxPagesMax) return { site, findings, unjudged: mdx.length };
  return { site, findings: [...findings, ...(await checkMdx(site, mdx))] };
}

function toJson(site: Site, findings: readonly Finding[]): unknown {
  return {
    pages: site.pages.length,
    findings: findings.map(({ check: name, severity, path, line, column, message }) => ({
      check: name,
      severity,
      path,
      line,
      column,
      message,
    })),
  };
}
