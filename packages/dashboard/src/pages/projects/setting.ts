import type { DashboardProject, IgnoredFindings } from "@emend/contract";
import { linesOf } from "../../parts/form.tsx";

/** One setting: its path in a project, and its input. */
export interface Setting {
  /** For example `name` or `settings.limits.stepsMax`. */
  path: string;
  label: string;
  /**
   * `optional`, `optionalNumber`: a value or null; `lines`: a list, one a line; `optionalLines`: the same or null; `choice`: yes,
   * no or null; `level`: what a gate's findings do; `silencers`: patterns of findings that are not reported; `select`: one of its
   * options.
   */
  kind:
    | "text"
    | "optional"
    | "number"
    | "optionalNumber"
    | "lines"
    | "optionalLines"
    | "check"
    | "choice"
    | "level"
    | "silencers"
    | "select";
  /** For `select`. */
  options?: readonly { value: string; words: string }[];
  help?: string;
  placeholder?: string;
  isCode?: boolean;
  /** For a number: how many stored units one shown unit has. */
  scale?: number;
  min?: number;
  /** Absent: whole numbers. */
  step?: "any";
}

export type Draft = Readonly<Record<string, string | boolean>>;

/** A form's values, as typed texts. */
export function draftOf(project: DashboardProject, settings: readonly Setting[]): Draft {
  return Object.fromEntries(settings.map((setting) => [setting.path, shown(valueAt(project, setting.path), setting)]));
}

/** Only changes are sent: unset settings keep following their defaults. */
export function editOf(settings: readonly Setting[], before: Draft, now: Draft): object {
  const edit: Record<string, unknown> = {};
  for (const setting of settings) {
    const typed = now[setting.path];
    if (typed === before[setting.path] || typed === undefined) continue;
    setAt(edit, setting.path.split("."), meant(typed, setting));
  }
  return edit;
}

function valueAt(project: DashboardProject, path: string): unknown {
  return path.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], project);
}

function setAt(record: Record<string, unknown>, [name = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    record[name] = value;
    return;
  }
  record[name] ??= {};
  setAt(record[name] as Record<string, unknown>, rest, value);
}

function shown(value: unknown, { kind, scale = 1 }: Setting): string | boolean {
  if (kind === "check") return value === true;
  if (kind === "optionalNumber" && typeof value !== "number") return "";
  if (kind === "number" || kind === "optionalNumber") return String(Number(value) / scale);
  if (kind === "choice") return value === null || value === undefined ? "" : String(value);
  if (kind === "silencers") return JSON.stringify(value ?? []);
  if (Array.isArray(value)) return value.join("\n");
  return typeof value === "string" ? value : "";
}

/** Patterns as they are typed. */
export function silencersIn(draft: string): IgnoredFindings[] {
  return JSON.parse(draft === "" ? "[]" : draft) as IgnoredFindings[];
}

/** An empty field means any page, or any message. */
function meantSilencer({ check, path = "", message = "", reason }: IgnoredFindings): IgnoredFindings {
  return {
    check: check.trim(),
    ...(path.trim() !== "" && { path: path.trim() }),
    ...(message.trim() !== "" && { message: message.trim() }),
    reason: reason.trim(),
  };
}

function meant(typed: string | boolean, { kind, scale = 1 }: Setting): unknown {
  if (typeof typed === "boolean") return typed;
  switch (kind) {
    case "optionalNumber":
      return typed.trim() === "" ? null : Number(typed) * scale;
    case "number": {
      const number = Number(typed) * scale;
      return scale === 1 ? number : Math.round(number);
    }
    case "lines":
      return linesOf(typed);
    case "optionalLines":
      return typed.trim() === "" ? null : linesOf(typed);
    case "silencers":
      return silencersIn(typed).map(meantSilencer);
    case "choice":
      return typed === "" ? null : typed === "true";
    case "level":
    case "optional":
      return typed.trim() === "" ? null : typed.trim();
    default:
      return typed;
  }
}
