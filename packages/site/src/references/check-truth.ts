import { checkFacts } from "../facts/check-facts.ts";
import type { PageNode } from "../links/site-index.ts";
import type { Site } from "../site.ts";
import { indexLines, toByteString } from "../text/bytes.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Finding } from "../types.ts";
import { type ApiDescription, readApiDescriptions } from "./api-description.ts";
import { apiMismatchCheck, apiUndocumentedCheck, checkApi, type ReadPage } from "./check-api.ts";
import { checkReferences, type Source, staleReferenceCheck } from "./check-references.ts";
import { checkImports, checkSampleSyntax, sampleImportCheck, sampleSyntaxCheck } from "./check-samples.ts";
import { readPageCode } from "./page-code.ts";
import { readSiteReferences } from "./site-references.ts";
import type { SourceIndex } from "./source-index.ts";

/** The checks that need a project's source repositories. */
export const truthChecks = [
  apiMismatchCheck,
  apiUndocumentedCheck,
  sampleImportCheck,
  sampleSyntaxCheck,
  staleReferenceCheck,
] as const;

interface TruthInput {
  /** The sources with an earlier state to compare with. */
  sources: readonly Source[];
  /** The indexes of all sources, in their current state. */
  indexes: readonly SourceIndex[];
  signal?: AbortSignal;
}

/** Compares the docs with the sources: references, samples, and the API in both directions. */
export async function checkTruth(site: Site, { sources, indexes, signal }: TruthInput): Promise<Finding[]> {
  const options = signal === undefined ? {} : { signal };
  const breathe = createTimeSlice(signal);
  const findings = await checkReferences(site, sources, options);
  const told = new Set(findings.map(({ path, line }) => `${path}:${line}`));
  for (const finding of await checkFacts(site, sources, options))
    if (!told.has(`${finding.path}:${finding.line}`)) findings.push(finding);
  for (const { references } of (await readSiteReferences(site, options)).values()) {
    for (const finding of checkImports(references, indexes)) findings.push(finding);
  }
  const pages: ReadPage[] = [];
  for (const node of site.index.nodes.values()) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    const page = await readPage(site, node);
    if (page === null) continue;
    pages.push(page);
    for (const finding of checkSampleSyntax(page)) findings.push(finding);
  }
  const descriptions: ApiDescription[] = [];
  for (const tree of [site.tree, ...indexes.map((index) => index.tree)]) {
    for (const found of await readApiDescriptions(tree)) {
      // The docs repository may itself be a source.
      if (!descriptions.some(({ file }) => found.file.endsWith(file) || file.endsWith(found.file)))
        descriptions.push(found);
    }
  }
  for (const finding of checkApi(pages, descriptions, await isGenerated(site))) findings.push(finding);
  return findings;
}

async function readPage(site: Site, { path, brief }: PageNode): Promise<ReadPage | null> {
  const bytes = brief.unread ? null : await site.tree.read(path);
  if (bytes === null) return null;
  const text = toByteString(bytes);
  const { place } = indexLines(text);
  return { path, text, place, ...readPageCode(text, site.model.dialect(path)) };
}

/** The samples of some pages, which can be judged without any source. */
export async function checkSamples(site: Site, paths: Iterable<string>): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const path of paths) {
    const node = site.index.nodes.get(path);
    const page = node && (await readPage(site, node));
    if (page) findings.push(...checkSampleSyntax(page));
  }
  return findings;
}

/** Whether the site's configuration generates pages from its OpenAPI description. */
async function isGenerated(site: Site): Promise<boolean> {
  for (const path of site.model.configFiles) {
    const bytes = await site.tree.read(path);
    if (bytes !== null && /openapi|swagger|redoc/i.test(toByteString(bytes))) return true;
  }
  return false;
}
