import { AppError } from "../errors.ts";
import { hostsIn } from "../lib/hosts-in.ts";
import type { Trigger } from "./automation.ts";
import { fenced, quoted } from "./fence.ts";
import { type Values, type Variable, variables } from "./values.ts";

const templateLengthMax = 20_000;
/** Anything between two pairs of braces, so that a mistyped name is refused and not sent as it stands. */
const place = /\{\{([^{}]*)\}\}/g;
const ofPushes: readonly Variable[] = ["commits", "changed_files", "tag"];

/** Refuses a template that could not be filled in, before it is stored. */
export function checkTemplate(template: string, trigger: Trigger["kind"]): void {
  if (template.trim() === "") throw invalid("The prompt is empty.");
  if (template.length > templateLengthMax) throw invalid(`The prompt has more than ${templateLengthMax} characters.`);
  if (template.includes("\0") || !template.isWellFormed()) throw invalid("The prompt contains invalid characters.");
  for (const [whole, inner = ""] of template.matchAll(place)) {
    const name = variables.find((variable) => variable === inner.trim());
    const known = trigger === "push" ? variables : variables.filter((variable) => !ofPushes.includes(variable));
    if (name === undefined) {
      throw invalid(`Unknown variable ${whole} in the prompt. Known: ${listOf(known)}.`);
    }
    if (!known.includes(name)) throw invalid(`${whole} is set only after a push. Known here: ${listOf(known)}.`);
  }
  const rest = template.replaceAll(place, "");
  if (/\{\{|\}\}/.test(rest)) throw invalid("The prompt has an unmatched {{ or }}.");
}

/**
 * The prompt of one event. The template is the maintainers' word; every value came from elsewhere and is marked as
 * content, in a form that it cannot end.
 */
export function renderTemplate(template: string, values: Values): string {
  return template.replaceAll(place, (_, inner: string) => show(inner.trim() as Variable, values));
}

function show(variable: Variable, values: Values): string {
  switch (variable) {
    case "commits":
      return fenced("commits", values.commits);
    case "changed_files":
      return fenced("changed files", values.changedFiles);
    case "tag":
      return showTag(values.tag ?? "(none)");
    case "date":
      return values.date;
    case "repository":
      return quoted("repository", values.repository);
    default:
      // A template that was stored before its variable went away.
      return "(unknown)";
  }
}

/** One that reads as a site must be told from the maintainers' own words: they may name sites. */
function showTag(tag: string): string {
  return hostsIn(tag).size > 0 ? fenced("tag", [tag]) : quoted("tag", tag);
}

function listOf(names: readonly Variable[]): string {
  return names.map((name) => `{{${name}}}`).join(", ");
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
