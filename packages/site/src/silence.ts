import type { CheckSettings } from "./checks/check.ts";
import { quoted } from "./checks/report.ts";
import type { Silencer } from "./parse/silencers.ts";
import type { Site } from "./site.ts";
import { matchesGlob } from "./text/matches-glob.ts";
import type { Finding } from "./types.ts";

/** The check for ignore comments that have no effect or give no reason. */
export const silencerCheck = "silencer";

/** Stands for a file in findings about the project's settings, which are in no file. */
const projectSettingsPath = "project settings";

interface SilenceOptions {
  settings: CheckSettings;
  /** Every check that covered the whole site: if an ignore comment for one of them had no effect, it is not needed. */
  ran: ReadonlySet<string>;
  /** Those that covered all that the server knows: rules of the project's settings are judged by them too. */
  ranOnServer?: ReadonlySet<string>;
  /** Whether a page's ignore comment counts. */
  isTrusted?(path: string, silencer: Silencer): boolean;
}

/**
 * Removes findings that a page's comments or the settings ignore, and reports ignore comments and rules without effect.
 */
export function silenceFindings(site: Site, findings: readonly Finding[], options: SilenceOptions): Finding[] {
  const { settings, isTrusted = () => true } = options;
  const used = new Set<object>();
  const kept = findings.filter((finding) => {
    const comments = site.index.nodes.get(finding.path)?.brief.silencers ?? [];
    const comment = comments.find(
      (silencer) =>
        silencer.reason !== "" &&
        silencer.checks.includes(finding.check) &&
        silencer.from <= finding.line &&
        finding.line <= silencer.to &&
        isTrusted(finding.path, silencer),
    );
    const rule = settings.ignore.find(
      ({ check, path, message }) =>
        check === finding.check &&
        matchesGlob(path, finding.path) &&
        (message === null || finding.message.includes(message)),
    );
    if (comment !== undefined) used.add(keyOf(comment, finding.check));
    if (rule !== undefined) used.add(rule);
    return comment === undefined && rule === undefined;
  });
  return [...kept, ...unusedComments(site, options, used), ...unusedRules(options, used)];
}

const keys = new WeakMap<Silencer, Map<string, object>>();

/** A comment may name several checks. Each is used or unused on its own. */
function keyOf(silencer: Silencer, check: string): object {
  const known = keys.get(silencer) ?? new Map<string, object>();
  keys.set(silencer, known);
  const key = known.get(check) ?? {};
  known.set(check, key);
  return key;
}

function* unusedComments(site: Site, { settings, ran }: SilenceOptions, used: ReadonlySet<object>): Generator<Finding> {
  if (settings.levels.get(silencerCheck) === "off") return;
  const severity = settings.levels.get(silencerCheck) ?? "warning";
  if (severity === "off") return;
  for (const { path, brief } of site.index.nodes.values()) {
    for (const silencer of brief.silencers ?? []) {
      const at = { check: silencerCheck, severity, path, line: silencer.line, column: silencer.column };
      // Reported once, by the run with the checks that always run.
      if (silencer.reason === "" || silencer.checks.length === 0) {
        const message =
          "This comment silences nothing: name the check and the reason, as `emend-ignore broken-link: reason`.";
        if (ran.has(silencerCheck)) yield { ...at, message };
        continue;
      }
      for (const check of silencer.checks) {
        if (ran.has(silencerCheck) && !settings.known.has(check)) {
          yield {
            ...at,
            message: `This comment silences nothing: there is no check ${quoted(check)}. Correct its name.`,
          };
        } else if (ran.has(check) && !used.has(keyOf(silencer, check))) {
          yield { ...at, message: `This comment silences no finding of ${quoted(check)}; remove it.` };
        }
      }
    }
  }
}

function* unusedRules(options: SilenceOptions, used: ReadonlySet<object>): Generator<Finding> {
  const { settings, ran, ranOnServer = ran } = options;
  const severity = settings.levels.get(silencerCheck) ?? "warning";
  if (severity === "off") return;
  for (const rule of settings.ignore) {
    const { check, position, isOfProject } = rule;
    const path = isOfProject ? projectSettingsPath : ".emend/check.json";
    const name = isOfProject ? `"checks.ignore" ${position} in the project's settings` : `"ignore" ${position}`;
    const at = { check: silencerCheck, severity, path, line: 1, column: 1 };
    // The settings may be older than this version's checks. Reported once, by the run with the checks that always run.
    if (!settings.known.has(check)) {
      const message = `${name} silences nothing: there is no check ${quoted(check)}. Correct its name.`;
      if (ran.has(silencerCheck)) yield { ...at, message };
    } else if ((isOfProject ? ranOnServer : ran).has(check) && !used.has(rule)) {
      yield { ...at, message: `${name} silences no finding of ${quoted(check)}; remove it.` };
    }
  }
}
