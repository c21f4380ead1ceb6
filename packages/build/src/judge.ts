import { stripVTControlCharacters } from "node:util";
import { inside } from "@emend/runners";
import type { Finding, Severity } from "@emend/site";
import type { Tree } from "@emend/tree";
import { type Diagnostic, newDiagnostics, readOutput, stackFrame } from "./read-output.ts";
import type { BuildEnd } from "./run-build.ts";

const findingsMax = 50;
const lastLinesMax = 3;

interface Built {
  tree: Tree;
  end: BuildEnd;
}

/** What the builder says about a change: the errors and warnings that the base does not have. */
export async function judgeBuilds(name: string, before: Built, after: Built): Promise<readonly Finding[]> {
  const now = after.end;
  if (now.kind === "stopped") {
    // A base that has the same fate says nothing about the change.
    const isOwn = before.end.kind === "ended" && before.end.code === 0;
    return [
      aboutSite(
        isOwn ? "error" : "warning",
        `${isOwn ? "the change does not build" : "the site was not built"}: ${now.words}`,
      ),
    ];
  }
  const isRefused = now.code !== 0 && !(before.end.kind === "ended" && before.end.code !== 0);
  const files = await knownFiles(before.tree, after.tree);
  const read = (end: BuildEnd) => (end.kind === "ended" ? readOutput(end.output, inside.work, files) : []);
  const added = newDiagnostics(read(before.end), read(now));
  const placed = added.filter(({ path }) => path !== null);
  const shown = (placed.length > 0 ? placed : added).slice(0, findingsMax);
  const findings = await Promise.all(shown.map((one) => findingOf(name, one, after.tree, isRefused)));
  if (isRefused && findings.length === 0) {
    return [aboutSite("error", `${name} refuses the change with code ${now.code}: ${lastLines(now.output)}`)];
  }
  if (now.code !== 0 && !isRefused) {
    const words = `${name} does not build the base branch either, so it says little about this change: ${lastLines(now.output)}`;
    findings.push(aboutSite("warning", words));
  }
  return findings;
}

export function aboutSite(severity: Severity, message: string): Finding {
  return { check: "build", severity, path: "the site", line: 1, column: 1, message };
}

async function knownFiles(
  before: Tree,
  after: Tree,
): Promise<{ all: readonly string[]; changed: ReadonlySet<string> }> {
  const old = new Map((await before.list()).map(({ path, oid }) => [path, oid]));
  const now = await after.list();
  const all = now.map(({ path }) => path);
  return { all, changed: new Set(now.filter(({ path, oid }) => old.get(path) !== oid).map(({ path }) => path)) };
}

/** If the builder refuses a change, whatever it newly complains about may be the reason. */
async function findingOf(name: string, one: Diagnostic, tree: Tree, isRefused: boolean): Promise<Finding> {
  const severity = isRefused ? "error" : one.severity;
  const message = `${name}: ${one.text}`;
  if (one.path === null) return aboutSite(severity, message);
  const line = one.line ?? (await lineOfQuote(tree, one.path, one.text));
  return {
    check: "build",
    severity,
    path: one.path,
    line: Math.max(1, line),
    column: Math.max(1, one.column ?? 1),
    message,
  };
}

/** Builders that name no line usually quote what they complain about, or name a link. */
async function lineOfQuote(tree: Tree, path: string, text: string): Promise<number> {
  const page = await tree.read(path).catch(() => null);
  const lines = page?.toString().split("\n") ?? [];
  const quotes = [...text.matchAll(/["'`“‘]([^"'`”’]{2,200})["'`”’]/g)].map(([, quoted = ""]) => quoted);
  const targets = [...text.matchAll(/\.{0,2}\/[\w./#-]{2,}/g)].map(([target]) => target);
  for (const quoted of [...quotes, ...targets]) {
    if (quoted === path || path.endsWith(`/${quoted}`)) continue;
    const at = lines.findIndex((line) => line.includes(quoted));
    if (at !== -1) return at + 1;
  }
  return 1;
}

export function lastLines(output: string): string {
  const last = stripVTControlCharacters(output)
    .replaceAll(`${inside.work}/`, "")
    .split("\n")
    .filter((line) => line.trim() !== "" && !stackFrame.test(line))
    .map((line) => line.trim())
    .slice(-lastLinesMax)
    .join(" ");
  return last === "" ? "it printed nothing" : last.slice(-300);
}
