import type { Finding } from "@emend/site";

const levels = { error: "error", warning: "warning", info: "note" } as const;

/** The findings as a SARIF 2.1.0 log, which code hosts and editors read. */
export function renderSarif(findings: readonly Finding[]): unknown {
  const rules = [...new Set(findings.map(({ check }) => check))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "emend check", rules: rules.map((id) => ({ id })) } },
        columnKind: "utf16CodeUnits",
        results: findings.map(({ check, severity, path, line, column, message, certainty = "certain", why }) => ({
          ruleId: check,
          ruleIndex: rules.indexOf(check),
          level: levels[severity],
          message: { text: message },
          properties: { certainty, ...(why === undefined ? {} : { why }) },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: path.split("/").map(encodeURIComponent).join("/") },
                region: { startLine: line, startColumn: column },
              },
            },
          ],
        })),
      },
    ],
  };
}
