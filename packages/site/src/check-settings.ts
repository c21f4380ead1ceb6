import type { CheckSettings } from "./checks/check.ts";
import { ownChecks } from "./checks/page-checks.ts";
import { linkChecks, optionalChecks, siteChecks } from "./checks/registry.ts";
import { staleReferenceCheck } from "./references/check-references.ts";
import type { Site } from "./site.ts";
import type { Finding, Severity } from "./types.ts";

/** Where a project says which checks it wants, and how grave each is. */
const settingsFile = ".emend/check.json";

const levels = ["error", "warning", "info", "off"] as const;
type Level = (typeof levels)[number];

/** Where a project lists its own words, unless its settings name another file. */
const dictionaryFile = ".emend/dictionary.txt";

/** Asked by the server alone, which remembers what addresses answered. */
export const externalLinkCheck = "external-link";

export const checkIds: readonly string[] = [...ownChecks, ...linkChecks, ...siteChecks, ...optionalChecks]
  .map(({ id }) => id)
  .concat("mdx-syntax", externalLinkCheck, staleReferenceCheck)
  .sort();

/** For editors: `emend check --schema` prints it. */
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
  },
} as const;

const unset: CheckSettings = { levels: new Map(), dictionary: dictionaryFile, problem: null };

const known = new WeakMap<Site, CheckSettings>();

/** The settings that a site's own tree holds. */
export async function readCheckSettings(site: Site): Promise<CheckSettings> {
  const remembered = known.get(site);
  if (remembered !== undefined) return remembered;
  const bytes = site.index.files.has(settingsFile) ? await site.tree.read(settingsFile) : null;
  const settings = bytes === null ? unset : parseSettings(Buffer.from(bytes).toString(), site.index.files);
  known.set(site, settings);
  return settings;
}

function parseSettings(text: string, files: ReadonlyMap<string, unknown>): CheckSettings {
  const refuse = (problem: string): CheckSettings => ({ ...unset, problem });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse(`it is no JSON (${(error as Error).message})`);
  }
  if (!isRecord(value)) return refuse('it must be an object such as { "checks": { "image-alt": "off" } }');
  const stranger = Object.keys(value).find((key) => !Object.hasOwn(settingsSchema.properties, key));
  if (stranger !== undefined) return refuse(`it has no setting "${stranger}"; there are "checks" and "dictionary"`);
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
  return { levels: new Map(Object.entries(checks) as [string, Level][]), dictionary, problem: null };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Findings as the project wants them: with its severities, and without those of checks that are off. */
export function applySettings(findings: readonly Finding[], { levels: wanted }: CheckSettings): Finding[] {
  if (wanted.size === 0) return [...findings];
  return findings.flatMap((finding) => {
    const level = wanted.get(finding.check);
    if (level === "off") return [];
    if (level === undefined) return [finding];
    // Rules of a style have levels of their own: the setting is the highest that they may have.
    const isOwn = finding.check === "prose-rules" && levels.indexOf(finding.severity) > levels.indexOf(level);
    return [isOwn ? finding : { ...finding, severity: level satisfies Severity }];
  });
}

/** A file that cannot be used is a finding itself: nobody is to think that it counts. */
export function settingsFindings({ problem }: CheckSettings): Finding[] {
  if (problem === null) return [];
  const message = `The settings of the checks are not used: ${problem}. Correct the file.`;
  return [{ check: "check-settings", severity: "error", path: settingsFile, line: 1, column: 1, message }];
}
