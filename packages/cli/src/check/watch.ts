import { styleText } from "node:util";
import {
  compareSites,
  diffFindings,
  type Finding,
  openLiveFolder,
  openLiveSite,
  openSite,
  type Site,
  tallyLinks,
  watchFolder,
} from "@emend/site";
import { type Cli, CliError } from "../cli.ts";
import { counted, safeText } from "../terminal/format.ts";
import { gitTree } from "./git-tree.ts";
import { mdxPagesOf, noPages, refuseUnreadable } from "./inspect-folder.ts";
import { findingJson, renderHuman } from "./report.ts";

export interface WatchOptions {
  docs: string;
  base: string | null;
  isMdxAsked: boolean;
  json: boolean;
  info: boolean;
}

interface Look {
  site: Site;
  findings: readonly Finding[];
  elapsedMs: number;
}

const clearScreen = "\u001b[2J\u001b[3J\u001b[H";

/** Checks a folder whenever it changes, until interrupted. Returns the exit code of the last state. */
export async function watchCheck(cli: Cli, dir: string, options: WatchOptions): Promise<number> {
  const { signal, stdout } = cli;
  const print = (text: string): unknown => stdout.write(`${text}\n`);
  const folder = openLiveFolder(dir);
  const live = openLiveSite(folder, { docsDir: options.docs });
  const base =
    options.base === null ? null : await openSite(await gitTree(dir, options.base), { docsDir: options.docs });
  const changes = createChanges(signal);
  const watching = await watchFolder(folder, changes).catch(refuseUnreadable);
  let last: Look | null = null;
  let exitCode = 0;
  try {
    for (let changed: number | null = 0; changed !== null; changed = await changes.next()) {
      const look = await checkOnce().catch((error: unknown) => {
        if (!(error instanceof CliError) || last === null) throw error;
        // A file may be half written: the next change is checked anyway.
        cli.stderr.write(`emend: ${error.message}\n`);
        exitCode = error.exitCode;
        return null;
      });
      if (look === null) continue;
      print(options.json ? renderJson(look, last, changed) : await renderLook(look, last, changed));
      exitCode = look.findings.some(({ severity }) => severity === "error") ? 1 : 0;
      last = look;
    }
  } catch (error) {
    // Interrupted during a check: the last result counts.
    if (!signal.aborted || last === null) throw error;
  } finally {
    watching.close();
  }
  return exitCode;

  async function checkOnce(): Promise<Look> {
    const startedAt = performance.now();
    const site = await live.open(signal);
    if (site.pages.length === 0 && base === null) throw noPages(dir, options.docs);
    const findings =
      base === null
        ? await live.check(site, mdxPagesOf(site, options.isMdxAsked) ?? [], signal)
        : (await compareSites(base, site, { signal, silencers: "head" })).introduced;
    return { site, findings, elapsedMs: performance.now() - startedAt };
  }

  async function renderLook(look: Look, before: Look | null, changed: number): Promise<string> {
    const { site, findings, elapsedMs } = look;
    const { framework, pages } = site;
    const tally = await tallyLinks(site, { signal });
    const { introduced, fixed } = diffFindings(before?.findings ?? findings, findings);
    // A terminal shows the whole state; a log only what changed.
    const shown = stdout.isTTY || before === null ? findings : [];
    const summary = { framework, pages: pages.length, fixed: 0, elapsedMs, tally };
    const state = await renderHuman(dir, shown, findings, summary, options.info);
    const isShown = ({ severity }: Finding): boolean => options.info || severity !== "info";
    const news =
      before === null
        ? [`Watching ${dir}. Press Ctrl-C to stop.`]
        : [
            ...introduced.filter(isShown).map((finding) => `${styleText("red", "+ new")}    ${oneLine(finding)}`),
            ...fixed.filter(isShown).map((finding) => `${styleText("green", "- fixed")}  ${oneLine(finding)}`),
            `${new Date().toTimeString().slice(0, 8)} ${counted(changed, "path")} changed: ${introduced.length} new, ${fixed.length} fixed`,
          ];
    return (stdout.isTTY ? clearScreen : "") + (stdout.isTTY ? [state, ...news] : [...news, state]).join("\n");
  }
}

function oneLine({ path, line, column, severity, message, check }: Finding): string {
  return `${safeText(path)}:${line}:${column} ${severity} ${safeText(message)} ${check}`;
}

function renderJson({ site, findings }: Look, before: Look | null, changed: number): string {
  const { introduced, fixed } = diffFindings(before?.findings ?? [], findings);
  const count = (wanted: Finding["severity"]): number => findings.filter(({ severity }) => severity === wanted).length;
  return JSON.stringify({
    framework: site.framework,
    root: site.root,
    pages: site.pages.length,
    changed,
    errors: count("error"),
    warnings: count("warning"),
    notes: count("info"),
    new: introduced.map(findingJson),
    fixed: fixed.map(findingJson),
  });
}

interface Changes {
  onChange(paths: number): void;
  onFault(error: Error): void;
  /** The number of changed paths since the last call; waits for the first. Null when it is closed. */
  next(): Promise<number | null>;
}

function createChanges(signal: AbortSignal): Changes {
  let changed = 0;
  let fault: Error | null = null;
  let wake = (): void => undefined;
  signal.addEventListener("abort", () => wake());
  return {
    onChange(paths) {
      changed += paths;
      wake();
    },
    onFault(error) {
      fault = error;
      wake();
    },
    async next() {
      while (changed === 0 && fault === null && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (signal.aborted) return null;
      if (fault !== null) throw new CliError("usage", fault.message, fault);
      const paths = changed;
      changed = 0;
      return paths;
    },
  };
}
