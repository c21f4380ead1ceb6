import { createHash } from "node:crypto";
import type { AskedConstruct } from "@emend/contract";
import type { Construct, Verdict } from "@emend/review";
import type { Overlay } from "@emend/tree";
import type { LeasedJob } from "../jobs/run/leased-job.ts";
import type { AskedQuestion, StoredConstruct } from "../jobs/run/wait-for-answer.ts";
import type { OpenTree } from "./run.ts";

/** What a person can still judge. A change with more different constructs is refused. */
export const groupsMax = 200;
/** A text of this length may have been cut: the file around it counts too. */
const textMax = 500;
const linesAround = 2;
const lineMax = 300;

/**
 * Constructs as a person is asked about them: those with one text in one file are one, with their count. The id covers all
 * of it, so an approval is for exactly this.
 */
export async function groupConstructs(
  overlay: Pick<Overlay, "read">,
  constructs: readonly Construct[],
): Promise<readonly StoredConstruct[]> {
  const groups = new Map<string, Construct[]>();
  for (const one of constructs) {
    const text = one.kind === "invisible characters" ? "" : one.text;
    const key = JSON.stringify([one.path, one.kind, text]);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  const asked: StoredConstruct[] = [];
  for (const [place, group] of groups) {
    const [first] = group as [Construct, ...Construct[]];
    const { path, line, text, kind, reason, key } = first;
    const content = (await overlay.read(path))?.toString() ?? null;
    const texts = group.map((one) => one.text);
    const isCut = texts.some((one) => one.length >= textMax);
    const id = createHash("sha256")
      .update(JSON.stringify([place, texts, isCut && content]))
      .digest("base64url");
    const around = content === null ? null : linesOf(content, line);
    asked.push({ id: id.slice(0, 22), path, line, text, kind, reason, count: group.length, around, key });
  }
  return asked;
}

function linesOf(content: string, line: number): NonNullable<AskedConstruct["around"]> {
  const first = Math.max(1, line - linesAround);
  const lines = content.split(/\r?\n/).slice(first - 1, line + linesAround);
  return { line: first, lines: lines.map((one) => one.slice(0, lineMax)) };
}

/** Those that nobody has approved. */
export async function unapprovedIn(
  job: Pick<LeasedJob, "approved">,
  { overlay }: Pick<OpenTree, "overlay">,
  constructs: readonly Construct[],
): Promise<readonly StoredConstruct[]> {
  if (constructs.length === 0) return [];
  const groups = await groupConstructs(overlay, constructs);
  return groups.filter(({ id }) => !job.approved?.includes(id));
}

export const approvalOptions = ["Publish", "Publish and allow here", "Don't publish"] as const;

/** The question about a change that is ready in all else. Null: there is none. */
export async function approvalFor(
  job: Pick<LeasedJob, "approved">,
  tree: Pick<OpenTree, "overlay">,
  constructs: readonly Construct[],
): Promise<AskedQuestion | null> {
  const asked = await unapprovedIn(job, tree, constructs);
  if (asked.length === 0) return null;
  return { question: questionAbout(asked), options: approvalOptions, step: null, constructs: asked };
}

const namedMax = 3;

function questionAbout(asked: readonly StoredConstruct[]): string {
  const names = [...new Set(asked.map((one) => `${nameOf(one)} in ${one.path}`))];
  const more = names.length > namedMax ? ` and ${names.length - namedMax} more` : "";
  return `Publish this change? No page of the site has ${names.slice(0, namedMax).join(", ")}${more} yet.`;
}

/** `element iframe[src]` is called an element iframe. */
function nameOf({ kind, key, text }: Pick<StoredConstruct, "kind" | "key" | "text">): string {
  if (kind === "domain") return `a link to ${text}`;
  const name = key?.startsWith(`${kind} `) ? ` ${key.slice(kind.length + 1).replace(/\[.*$/s, "")}` : "";
  if (name !== "") return `the ${kind}${name}`;
  return kind === "invisible characters" ? kind : kind === "other" ? "something that it does not know" : `this ${kind}`;
}

/** The check of constructs that a draft lists, where the project wants a draft instead of a question. */
export const unknownCheck = "unknown-construct";

/** What the project or the request wants for constructs that Emend does not know. */
export function decideUnknown(verdict: Verdict, unknown: LeasedJob["unknown"], count: number): Verdict {
  if (verdict.kind === "denied" || verdict.constructs.length === 0) return verdict;
  const { constructs } = verdict;
  if (count > groupsMax) {
    const rule = `${count} different constructs that no page of the site has, more than anybody can judge. Make smaller changes`;
    return { kind: "denied", violations: [{ path: "", rule }] };
  }
  switch (unknown) {
    case "ask":
      return verdict;
    case "refuse":
      return {
        kind: "denied",
        violations: constructs.map((one) => ({
          path: one.path,
          rule: `line ${one.line} has ${nameOf(one)}. ${one.reason}`,
        })),
      };
    case "draft": {
      const findings = constructs.map((one) => ({
        check: unknownCheck,
        severity: "error" as const,
        path: one.path,
        line: one.line,
        column: 1,
        message: `Emend does not know ${nameOf(one)} on this site. ${one.reason}`,
      }));
      return { ...verdict, kind: "flagged", introduced: [...findings, ...verdict.introduced], constructs: [] };
    }
  }
}
