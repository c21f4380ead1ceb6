import type { AutomationTrigger } from "@emend/server";
import { CliError } from "../cli.ts";

export interface TriggerOptions {
  cron?: string;
  timezone?: string;
  push?: string;
  branch?: string[] | true;
  tag?: string[] | true;
  include?: string[] | true;
  exclude?: string[] | true;
  byHand?: boolean;
}

type Push = Extract<AutomationTrigger, { kind: "push" }>;

/** When an automation runs, as the options say; what they do not name stays as it was before. */
export function triggerOf(options: TriggerOptions, before: AutomationTrigger = { kind: "manual" }): AutomationTrigger {
  const kind = kindOf(options) ?? before.kind;
  const lists = { branch: options.branch, tag: options.tag, include: options.include, exclude: options.exclude };
  if (kind !== "cron" && options.timezone !== undefined) throw new CliError("usage", "--timezone is for --cron");
  if (kind !== "push" && Object.values(lists).some((list) => list !== undefined)) {
    throw new CliError("usage", "--branch, --tag, --include and --exclude are for --push");
  }
  if (kind === "manual") return { kind };
  if (kind === "cron") {
    const { expression, timezone } = before.kind === "cron" ? before : { expression: "", timezone: "UTC" };
    return { kind, expression: options.cron ?? expression, timezone: options.timezone ?? timezone };
  }
  const old: Partial<Push> = before.kind === "push" ? before : {};
  return {
    kind,
    repository: options.push ?? old.repository ?? "",
    branches: listOf(lists.branch, old.branches),
    tags: listOf(lists.tag, old.tags),
    include: listOf(lists.include, old.include),
    exclude: listOf(lists.exclude, old.exclude),
  };
}

function kindOf({ cron, push, byHand }: TriggerOptions): AutomationTrigger["kind"] | null {
  if (cron !== undefined && push !== undefined) throw new CliError("usage", "give --cron or --push, not both");
  if (byHand && (cron !== undefined || push !== undefined)) {
    throw new CliError("usage", "--by-hand goes with neither --cron nor --push");
  }
  if (cron !== undefined) return "cron";
  if (push !== undefined) return "push";
  return byHand ? "manual" : null;
}

/** True: the option was given without a word, which empties the list. */
function listOf(given: string[] | true | undefined, before: readonly string[] = []): readonly string[] {
  return given === true ? [] : (given ?? before);
}
