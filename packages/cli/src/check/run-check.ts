import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  confirmFixes,
  type DiskCache,
  type Finding,
  type Fix,
  type OpenOptions,
  openDiskCache,
  outsideOf,
  type ParseCache,
  type Site,
  settingsSchema,
  type TextEdit,
} from "@emend/site";
import type { Cli } from "../cli.ts";
import { cacheDir } from "../user-folders.ts";
import { folderInRepository } from "./git-tree.ts";
import { type Inspection, inspectFolder, noPages, requireFolder } from "./inspect-folder.ts";
import { findingJson, renderAnnotations, renderGitlab, renderHuman } from "./report.ts";
import { watchCheck } from "./watch.ts";

const outsideShownMax = 5;

export interface CheckOptions {
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
  source?: string[];
  trust?: boolean;
}

/** The exit code: 1 if there is an error. */
export async function runCheck(cli: Cli, dir: string, options: CheckOptions): Promise<number> {
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
  // Only then: it loads what runs programs.
  const trust = options.trust ? await (await import("./trust.ts")).openTrust(dir, cli.env, cli.signal) : null;
  const inspectOnce = (): Promise<Inspection> => inspect(cli, dir, options, cache, trust?.evaluate);
  let outcome = await inspectOnce();
  let fixed = 0;
  if (options.fix) {
    const { tree, index } = outcome.site;
    fixed = await applyFixes(dir, await confirmFixes({ tree, pages: index.nodes.keys() }, outcome.findings));
    if (fixed > 0) outcome = await inspectOnce();
  }
  await cache?.flush();
  const { site, findings, unjudged } = outcome;
  for (const note of [...(trust?.notes ?? []), ...outcome.notes]) cli.stderr.write(`${note}\n`);
  const print = (text: string): unknown => cli.stdout.write(`${text}\n`);
  const more = { ...(trust === null ? {} : { evaluated: trust.evaluated }), ...(options.fix ? { fixed } : {}) };
  if (options.json) print(JSON.stringify(toJson(outcome, more)));
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
  { base, docs, mdx, source }: CheckOptions,
  cache: ParseCache | undefined,
  evaluate: OpenOptions["evaluate"],
): Promise<Inspection> {
  const inspection = await inspectFolder({ cache, stderr: cli.stderr, signal: cli.signal }, dir, {
    base: base ?? null,
    docsDir: docs ?? "",
    isMdxAsked: mdx === true,
    evaluate,
    ...(source === undefined ? {} : { sources: source }),
  });
  if (inspection.pages > 0) return inspection;
  throw noPages(dir, docs ?? "");
}

/** Folders that a reader might take for the docs. A few Markdown files next to a site do not count. */
function describeOutside(site: Site): string | null {
  const { documents, sites } = outsideOf(site);
  if (sites.length === 0 && documents <= site.pages.length) return null;
  const named = sites.slice(0, outsideShownMax).map(({ root, framework }) => `${root || "."} (${framework})`);
  const more = sites.length > outsideShownMax ? ` and ${sites.length - outsideShownMax} more` : "";
  const others = named.length === 0 ? "" : `, with other sites in ${named.join(", ")}${more}`;
  const files = `${documents} Markdown ${documents === 1 ? "file" : "files"}`;
  return `Checked ${site.root || "this folder"}; ${files} outside of it ${documents === 1 ? "was" : "were"} not checked${others}. --docs chooses another folder.`;
}

function toJson({ site, findings, tally }: Inspection, more: object): unknown {
  return {
    framework: site.framework,
    root: site.root,
    pages: site.pages.length,
    links: tally,
    outside: outsideOf(site),
    ...more,
    findings: findings.map(findingJson),
  };
}

/** Applies the certain fixes to the files and returns how many. Overlapping fixes are left for the next run. */
async function applyFixes(dir: string, findings: readonly Finding[]): Promise<number> {
  const taken: TextEdit[] = [];
  let applied = 0;
  for (const { fix } of findings) {
    if (fix === undefined || !isFree(fix, taken)) continue;
    taken.push(...fix.edits);
    applied++;
  }
  for (const [path, edits] of Map.groupBy(taken, (edit) => edit.path)) {
    const bytes = await readFile(join(dir, path));
    const pieces: Buffer[] = [];
    let at = 0;
    for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
      pieces.push(bytes.subarray(at, edit.start), Buffer.from(edit.text));
      at = edit.end;
    }
    await writeFile(join(dir, path), Buffer.concat([...pieces, bytes.subarray(at)]));
  }
  return applied;
}

/** A fix is applied completely or not at all. */
function isFree(fix: Fix, taken: readonly TextEdit[]): boolean {
  return fix.edits.every(({ path, start, end }) =>
    taken.every((other) => other.path !== path || other.end <= start || end <= other.start),
  );
}

const levels = { error: "error", warning: "warning", info: "note" } as const;

/** The findings as a SARIF 2.1.0 log, which code hosts and editors read. */
function renderSarif(findings: readonly Finding[]): unknown {
  const rules = [...new Set(findings.map(({ check }) => check))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "emend check", rules: rules.map((id) => ({ id })) } },
        columnKind: "utf16CodeUnits",
        results: findings.map(({ check, severity, path, line, column, message, certainty = "certain", why }) => ({
          ruleId: check,
          ruleIndex: rules.indexOf(check),
          level: levels[severity],
          message: { text: message },
          properties: { certainty, ...(why === undefined ? {} : { why }) },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: path.split("/").map(encodeURIComponent).join("/") },
                region: { startLine: line, startColumn: column },
              },
            },
          ],
        })),
      },
    ],
  };
}

// A site of ten thousand pages takes 25 MB.
const bytesMax = 64 * 1024 * 1024;
const foldersMax = 16;

/**
 * The parse cache of earlier checks, in the user's cache folder: one per folder, because a cache is read as a whole,
 * and only the recent ones. It only saves time, so errors are ignored.
 */
async function openCheckCache(env: NodeJS.ProcessEnv, folder: string): Promise<DiskCache | undefined> {
  try {
    const parent = join(cacheDir(env), "check");
    const dir = join(parent, createHash("sha256").update(folder).digest("hex").slice(0, 16));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const now = new Date();
    await utimes(dir, now, now);
    await forgetOldest(parent);
    const cache = await openDiskCache(dir, { bytesMax });
    return { ...cache, flush: () => cache.flush().catch(() => undefined) };
  } catch {
    return undefined;
  }
}

async function forgetOldest(parent: string): Promise<void> {
  const used: { dir: string; mtimeMs: number }[] = [];
  for (const name of await readdir(parent)) {
    const dir = join(parent, name);
    const info = await stat(dir).catch(() => null);
    if (info !== null) used.push({ dir, mtimeMs: info.mtimeMs });
  }
  used.sort((a, b) => b.mtimeMs - a.mtimeMs);
  // Another process may be writing to one. Then its next check starts without a cache.
  for (const { dir } of used.slice(foldersMax)) await rm(dir, { recursive: true, force: true });
}
