import { createHash } from "node:crypto";
import type { Finding, Severity } from "@emend/site";

/** A finding as `--json` prints it. */
export function findingJson({ check, severity, path, line, column, message, certainty, why }: Finding): object {
  return {
    check,
    severity,
    path,
    line,
    column,
    message,
    certainty: certainty ?? "certain",
    ...(why === undefined ? {} : { why }),
  };
}

const gitlabSeverities: Record<Severity, string> = { error: "major", warning: "minor", info: "info" };

/**
 * The findings as GitLab's code quality report. `prefix`: the folder's path in the repository, with a trailing slash.
 */
export function renderGitlab(findings: readonly Finding[], prefix: string): unknown {
  const seen = new Map<string, number>();
  return findings.map(({ check, severity, path, line, message }) => {
    // Without the line, so that a moved finding stays the same for GitLab. Duplicates are numbered.
    const subject = `${check}\0${prefix}${path}\0${message}`;
    const count = seen.get(subject) ?? 0;
    seen.set(subject, count + 1);
    return {
      description: message,
      check_name: check,
      fingerprint: createHash("sha256").update(`${subject}\0${count}`).digest("hex"),
      severity: gitlabSeverities[severity],
      location: { path: prefix + path, lines: { begin: line } },
    };
  });
}
