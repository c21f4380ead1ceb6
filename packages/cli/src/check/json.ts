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

/** The findings as GitLab's code quality report; `prefix`: where the folder lies in the repository, with a slash. */
export function renderGitlab(findings: readonly Finding[], prefix: string): unknown {
  const seen = new Map<string, number>();
  return findings.map(({ check, severity, path, line, message }) => {
    // Without the line: a finding that only moved is the same to GitLab. The second of two alike has its own.
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
