import { fenced } from "@emend/base/markdown.ts";
import { hostsIn } from "@emend/review";
import { AppError } from "../errors.ts";
import { type Trigger, type Values, type Variable, variables } from "./automation.ts";

const templateLengthMax = 20_000;
/** Anything in double braces, so that a mistyped name is refused and not sent as it is. */
const place = /\{\{([^{}]*)\}\}/g;
/** Which of them a trigger of each kind sets. */
const always: readonly Variable[] = ["date", "repository"];
const setBy: Readonly<Record<Trigger["kind"], readonly Variable[]>> = {
  manual: always,
  cron: always,
  push: [...always, "commits", "changed_files", "tag"],
  pull_request: [...always, "commits", "changed_files", "pull_request", "title", "description", "diff", "issues"],
  webhook: [...always, "event"],
};
/** Set after one kind of event alone. */
const onlyAfter = (name: Variable) =>
  setBy.push.includes(name) ? "a push" : setBy.webhook.includes(name) ? "a webhook" : "a pull request event";

/** Refuses a template that cannot be filled in, before it is stored. */
export function checkTemplate(template: string, trigger: Trigger["kind"]): void {
  if (template.trim() === "") throw invalid("The prompt is empty.");
  if (template.length > templateLengthMax) throw invalid(`The prompt has more than ${templateLengthMax} characters.`);
  if (template.includes("\0") || !template.isWellFormed()) throw invalid("The prompt contains invalid characters.");
  for (const [whole, inner = ""] of template.matchAll(place)) {
    const name = variables.find((variable) => variable === inner.trim());
    const known = variables.filter((variable) => setBy[trigger].includes(variable));
    if (name === undefined) {
      throw invalid(`Unknown variable ${whole} in the prompt. Known: ${listOf(known)}.`);
    }
    if (!known.includes(name)) {
      throw invalid(`${whole} is set only after ${onlyAfter(name)}. Known here: ${listOf(known)}.`);
    }
  }
  const rest = template.replaceAll(place, "");
  if (/\{\{|\}\}/.test(rest)) throw invalid("The prompt has an unmatched {{ or }}.");
}

/**
 * The prompt for one event. The template is trusted; every value is untrusted and is marked as content that it cannot
 * end.
 */
export function renderTemplate(template: string, values: Values): string {
  return template.replaceAll(place, (_, inner: string) => show(inner.trim() as Variable, values));
}

function show(variable: Variable, values: Values): string {
  const pulls = values.pulls ?? [];
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
    case "pull_request":
      return fenced(
        "pull requests",
        pulls.map(({ url, event }) => `${url} (${event})`),
      );
    case "title":
      return fenced(
        "titles of pull requests",
        pulls.map(({ title }) => title),
      );
    case "description":
      return fenced(
        "descriptions of pull requests",
        pulls.map(({ description }) => description),
      );
    case "diff":
      return fenced(
        "diffs of pull requests",
        pulls.map(({ diff }) => diff),
      );
    case "issues":
      return fenced("linked issues", [...new Set(pulls.flatMap(({ issues }) => issues))]);
    case "event":
      return fenced("events", values.events ?? []);
    default:
      // The template was stored before its variable was removed.
      return "(unknown)";
  }
}

/** A tag that looks like a host must be marked, because the maintainers' own text may allow hosts. */
function showTag(tag: string): string {
  return hostsIn(tag).size > 0 ? fenced("tag", [tag]) : quoted("tag", tag);
}

function listOf(names: readonly Variable[]): string {
  return names.map((name) => `{{${name}}}`).join(", ");
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

/** A plain version or repository path needs no quoting. */
const plain = /^v?\d+(\.\d+){0,3}(-(alpha|beta|rc|pre|next|dev)\.?\d{0,4})?$/;
const oneWord = /^[^\s`\p{Cc}\p{Cf}]{1,200}$/u;

/** A single value: as it is if it is a version, otherwise in quotation marks that it does not contain. */
function quoted(what: string, value: string): string {
  if (plain.test(value)) return value;
  return oneWord.test(value) ? `\`${value}\`` : fenced(what, [value]);
}
