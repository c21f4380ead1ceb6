import { type Finding, outlineOf, type Site } from "@emend/site";
import {
  type Diagnostic,
  type DiagnosticRelatedInformation,
  DiagnosticSeverity,
  type Range,
} from "vscode-languageserver/node";
import type { Workspace } from "./workspace.ts";

/** A finding with its range in the editor. */
export interface Placed {
  finding: Finding;
  diagnostic: Diagnostic;
}

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

/** The findings of one file as diagnostics. */
export async function placeFindings(
  workspace: Workspace,
  site: Site,
  path: string,
  findings: readonly Finding[],
): Promise<Placed[]> {
  const text = await workspace.text(path);
  const { mentions, headings } = await outlineOf(site, path);
  const top: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

  function related({ check }: Finding, target: string | null, id: string | null): DiagnosticRelatedInformation[] {
    const said = (message: string, of: string, range = top): DiagnosticRelatedInformation[] => [
      { location: { uri: workspace.uriOf(of), range }, message },
    ];
    if (check === "duplicate-route") {
      const holder = site.index.clashes.find((clash) => clash.path === path)?.holder;
      return holder === undefined ? [] : said("This page has the same address.", holder);
    }
    if (check === "duplicate-heading") {
      const first = headings.find((heading) => heading.id === id);
      return first === undefined ? [] : said("This heading has the id.", path, text.range(first.start, first.end));
    }
    const title = target === null ? null : site.index.nodes.get(target)?.title;
    return target === null ? [] : said(`The link leads to this page${title ? `: ${title}` : ""}.`, target);
  }

  return findings.map((finding) => {
    const { line, column, severity, check, message, certainty = "certain", why } = finding;
    const start = { line: line - 1, character: Math.max(0, column - 1) };
    const byte = text.byteAt(start);
    const mention = mentions.find((one) => one.start <= byte && byte < Math.max(one.end, one.start + 1));
    const heading = headings.find((one) => one.line === line);
    const range =
      mention === undefined
        ? { start, end: { line: start.line, character: Math.max(start.character, text.line(start.line).length) } }
        : text.range(mention.start, mention.end);
    const target = mention?.resolution.kind === "page" ? mention.resolution.path : null;
    const relatedInformation = related(finding, target === path ? null : target, heading?.id ?? null);
    const diagnostic: Diagnostic = {
      range,
      severity: certainty === "unknown" ? DiagnosticSeverity.Hint : severities[severity],
      code: check,
      source: "emend",
      message: certainty === "certain" ? message : `${message} (${certainty}: ${why ?? "only the build can tell"})`,
      data: { certainty },
      ...(relatedInformation.length === 0 ? {} : { relatedInformation }),
    };
    return { finding, diagnostic };
  });
}
