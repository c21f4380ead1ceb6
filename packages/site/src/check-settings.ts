import type { CheckSettings, IgnoreRule } from "./checks/check.ts";
import { ownChecks } from "./checks/page-checks.ts";
import { linkChecks, optionalChecks, siteChecks } from "./checks/registry.ts";
import { truthChecks } from "./references/check-truth.ts";
import { silencerCheck } from "./silence.ts";
import type { Site } from "./site.ts";
import type { Finding, IgnoreEntry, Severity } from "./types.ts";

/** A project's settings file: which checks run, and their severities. */
const settingsFile = ".emend/check.json";

const levels = ["error", "warning", "info", "off"] as const;
type Level = (typeof levels)[number];

/** The default path of the project's own words. */
const dictionaryFile = ".emend/dictionary.txt";

/** Run only by the server, which caches the responses of external URLs. */
export const externalLinkCheck = "external-link";

/** Found only by the server, which keeps the claims. */
export const claimChecks = ["changed-claim", "gone-claim"] as const;

/** Found only by the server, on pull requests: by their facts, and by a model. */
const driftChecks = ["missing-text", "outdated-text", "stale-fact"] as const;

export const checkIds: readonly string[] = [...ownChecks, ...linkChecks, ...siteChecks, ...optionalChecks]
  .map(({ id }) => id)
  .concat("mdx-syntax", externalLinkCheck, silencerCheck, ...truthChecks, ...claimChecks, ...driftChecks)
  .sort();

/** The JSON schema for editors. `emend check --schema` prints it. */
export const settingsSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Emend checks",
  description: `Settings of emend check, kept in ${settingsFile}.`,
  type: "object",
  additionalProperties: false,
  properties: {
    $schema: { type: "string" },
    checks: {
      description: "How grave each check's findings are; off: not reported. A check that is not named keeps its own.",
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(checkIds.map((id) => [id, { enum: levels }])),
    },
    dictionary: {
      description: `The file with the project's own words for the check spelling, one a line (default: ${dictionaryFile}).`,
      type: "string",
    },
    ignore: {
      description: "Findings that are not reported. An entry that silences nothing is reported.",
      type: "array",
      items: {
        type: "object",
        additionalProperties: false,
        required: ["check", "reason"],
        properties: {
          check: { enum: checkIds },
          path: { description: "A page, or a pattern with * and ** (default: every file).", type: "string" },
          message: { description: "A part of the finding's message (default: any).", type: "string" },
          reason: { description: "Why the finding is no problem.", type: "string", minLength: 1 },
        },
      },
    },
  },
} as const;

type OwnSettings = Omit<CheckSettings, "rulesFrom">;

const unset: OwnSettings = {
  levels: new Map(),
  dictionary: dictionaryFile,
  ignore: [],
  known: new Set(checkIds),
  problem: null,
};

const known = new WeakMap<Site, CheckSettings>();

/** Reads the settings from a site's own tree. */
export async function readCheckSettings(site: Site): Promise<CheckSettings> {
  const remembered = known.get(site);
  if (remembered !== undefined) return remembered;
  const bytes = site.index.files.has(settingsFile) ? await site.tree.read(settingsFile) : null;
  const ofTree = bytes === null ? unset : parseSettings(Buffer.from(bytes).toString(), site.index.files);
  const settings = { ...ofTree, ignore: [...ofTree.ignore, ...rulesOf(site)], rulesFrom: site };
  known.set(site, settings);
  return settings;
}

/** A check that a newer version has removed or renamed silences nothing, and is reported. */
function rulesOf({ ignore }: Site): IgnoreRule[] {
  return ignore.map((entry, i) => ruleOf(entry, { position: i + 1, isOfProject: true }));
}

function ruleOf(
  { check, path = "**", message = null }: Pick<IgnoreEntry, "check"> & { path?: string; message?: string | null },
  place: Pick<IgnoreRule, "position" | "isOfProject">,
): IgnoreRule {
  return { check, path, message, ...place };
}

function parseSettings(text: string, files: ReadonlyMap<string, unknown>): OwnSettings {
  const refuse = (problem: string): OwnSettings => ({ ...unset, problem });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse(`it is not valid JSON (${(error as Error).message})`);
  }
  if (!isRecord(value)) return refuse('it must be an object such as { "checks": { "image-alt": "off" } }');
  const stranger = Object.keys(value).find((key) => !Object.hasOwn(settingsSchema.properties, key));
  if (stranger !== undefined)
    return refuse(`it has no setting "${stranger}"; there are "checks", "dictionary" and "ignore"`);
  const checks = value.checks ?? {};
  if (!isRecord(checks)) return refuse('"checks" must be an object of checks and levels');
  for (const [id, level] of Object.entries(checks)) {
    if (!checkIds.includes(id)) return refuse(`there is no check "${id}"; there are ${checkIds.join(", ")}`);
    if (!levels.includes(level as Level)) return refuse(`"${id}" must be one of ${levels.join(", ")}`);
  }
  const { dictionary = dictionaryFile } = value;
  if (typeof dictionary !== "string") return refuse('"dictionary" must be the path of a file');
  if (value.dictionary !== undefined && !files.has(dictionary))
    return refuse(`"dictionary" names ${dictionary}, which does not exist`);
  const ignore = parseIgnore(value.ignore ?? []);
  if (typeof ignore === "string") return refuse(ignore);
  return { ...unset, levels: new Map(Object.entries(checks) as [string, Level][]), dictionary, ignore };
}

/** Why a list of ignored findings is refused, or null. */
export function ignoreProblem(value: unknown): string | null {
  const rules = parseIgnore(value);
  return typeof rules === "string" ? rules : null;
}

/** The rules, or an error message. */
function parseIgnore(value: unknown): IgnoreRule[] | string {
  if (!Array.isArray(value))
    return '"ignore" must be a list such as [{ "check": "broken-link", "path": "old/**", "reason": "…" }]';
  const rules: IgnoreRule[] = [];
  for (const [i, entry] of value.entries()) {
    const name = `"ignore" ${i + 1}`;
    if (!isRecord(entry)) return `${name} must be an object with "check" and "reason"`;
    const stranger = Object.keys(entry).find((key) => !["check", "path", "message", "reason"].includes(key));
    if (stranger !== undefined)
      return `${name} has no setting "${stranger}"; there are "check", "path", "message" and "reason"`;
    const { check, path = "**", message = null, reason } = entry;
    if (typeof check !== "string" || !checkIds.includes(check))
      return `${name} names no check; there are ${checkIds.join(", ")}`;
    if (typeof reason !== "string" || reason.trim() === "")
      return `${name} has no "reason"; say why the finding is no problem`;
    if (typeof path !== "string" || (message !== null && typeof message !== "string"))
      return `the "path" and "message" of ${name} must be text`;
    rules.push(ruleOf({ check, path, message }, { position: i + 1, isOfProject: false }));
  }
  return rules;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Applies the project's severities, and removes findings of disabled checks. */
export function applySettings(findings: readonly Finding[], { levels: wanted }: CheckSettings): Finding[] {
  if (wanted.size === 0) return [...findings];
  return findings.flatMap((finding) => {
    const level = wanted.get(finding.check);
    if (level === "off") return [];
    if (level === undefined) return [finding];
    // Style rules have their own levels: the setting is their maximum.
    const isOwn = finding.check === "prose-rules" && levels.indexOf(finding.severity) > levels.indexOf(level);
    return [isOwn ? finding : { ...finding, severity: level satisfies Severity }];
  });
}

/** An invalid settings file is itself a finding, so that nobody believes it is in use. */
export function settingsFindings({ problem }: CheckSettings): Finding[] {
  if (problem === null) return [];
  const message = `The settings of the checks are not used: ${problem}. Correct the file.`;
  return [{ check: "check-settings", severity: "error", path: settingsFile, line: 1, column: 1, message }];
}
