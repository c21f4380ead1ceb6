import { readPrompt } from "@emend/agent";
import { isBranchName } from "@emend/base/branch-name.ts";
import { withoutMark } from "@emend/base/in-content.ts";
import { reachesOut, withoutFenced } from "@emend/base/markdown.ts";
import { codeSpan, conventionalTitle, plainLine, plainText, quietMarkdown } from "@emend/publish";
import { hostsIn } from "@emend/review";
import { matchesGlob } from "@emend/site";
import { parseFileList } from "@emend/tree";
import { asRead, knownSecretsIn, scanSecrets, UnsearchableText } from "../../../base/src/secrets/scan-secrets.ts";
import { diffWords, parsePatch } from "../../../contract/src/diff.ts";
import { readPage } from "../../../review/src/read-page.ts";
import type { Syntax } from "../../../review/src/syntax.ts";
import { findLostContent } from "../../../review/src/truth/lost-content.ts";
import { syntaxes } from "../../../review/test/syntaxes.ts";
import { checkTemplate } from "../../../server/src/automations/template.ts";
import { isAppError } from "../../../server/src/errors.ts";
import { createIgnore } from "../../../site/src/frameworks/pages.ts";
import { readYamlSource } from "../../../site/src/frameworks/yaml-source.ts";
import { parseLiteral } from "../../../site/src/literal/parse-literal.ts";
import { type Dialect, plainDialect } from "../../../site/src/parse/dialect.ts";
import { readProse } from "../../../site/src/parse/prose.ts";
import { scanText } from "../../../site/src/parse/scan-page.ts";
import { createTerm } from "../../../site/src/refactor/term.ts";
import { definesFlag, importedFrom, passesOn } from "../../../site/src/references/definitions.ts";
import { findCodeReferences } from "../../../site/src/references/find-references.ts";

/** A parser or rule for untrusted texts, to be tried with longer and longer ones. */
interface GrowthTarget {
  name: string;
  /** For `npm run growth` only. */
  isSlow?: boolean;
  read(text: string): unknown;
}

const every: Dialect = { ...plainDialect, admonitions: true, colons: true, templates: true };
const dialects: readonly [string, Dialect][] = [
  ["Markdown", plainDialect],
  ["Markdown with templates, containers and admonitions", every],
  ["MDX", { ...plainDialect, syntax: "mdx", slug: "mintlify" }],
  ["Python-Markdown", { ...plainDialect, slug: "python", admonitions: true }],
  ["GitBook", { ...plainDialect, slug: "gitbook", templates: true }],
];
/** Every reader of the review, and every builder's way to read Markdown. */
const reviewed: [string, Syntax][] = [
  ...Object.entries(syntaxes),
  ...["_redirects", "_meta.json", "_meta.js", "toc.yml"].map((name) => navigation("navigation", name)),
  ...["docs.json", "mkdocs.yml", "hugo.toml", "docusaurus.config.ts"].map((name) => navigation("configuration", name)),
];

function navigation(kind: Syntax["kind"], name: string): [string, Syntax] {
  return [`${kind} ${name}`, { ...syntaxes.text, kind, path: `a/${name}` }];
}
const known = ["t0ken/of+the=forge-1234", "sk-ant-0123456789abcdefghijklmnop"];
const term = createTerm({ from: "a", to: "a b", wordForms: true, isLiteral: false });
const literalTerm = createTerm({ from: "token", to: "key", wordForms: false, isLiteral: true });

export const growthTargets: readonly GrowthTarget[] = [
  ...dialects.flatMap(([name, dialect]) => [
    { name: `facts of a page: ${name}`, read: (text: string) => scanText(text, dialect) },
    {
      name: `code that a page names: ${name}`,
      read: (text: string) => findCodeReferences("page.md", Buffer.from(text), dialect),
    },
    { name: `prose of a page: ${name}`, read: (text: string) => readProse(text, dialect) },
  ]),
  { name: "facts of front matter", read: (text) => scanText(`---\n${text}\n---\n`, plainDialect) },
  { name: "a configuration as code", read: parseLiteral },
  { name: "a configuration in YAML", read: readYamlSource },
  { name: "an ignore file", read: (text) => createIgnore(text.slice(0, 2_000))(text) },
  { name: "a term to replace", read: (text) => term.matches(text) },
  { name: "a name to replace", read: (text) => literalTerm.matches(text) },
  { name: "hosts of a text", read: hostsIn },
  {
    name: "what a source imports, exports and defines",
    read: (text) => [importedFrom("a", text), passesOn("a", text), definesFlag("a", text)],
  },
  ...reviewed.map(([name, syntax]) => ({
    name: `the review of a page: ${name}`,
    read: (text: string) => readPage(text, syntax),
  })),
  { name: "the review of front matter", read: (text) => readPage(`---\n${text}\n---\n`, syntaxes.common) },
  {
    name: "what a change takes away",
    read: (text) =>
      findLostContent([{ path: "a.md", before: text, after: `${text.slice(0, text.length / 2)}\nb` }], ["x"]),
  },
  { name: "a text as it is read", read: asRead },
  { name: "a text that may reach out", read: reachesOut },
  { name: "secrets that are known", read: (text) => knownSecretsIn(text, known) },
  { name: "text that looks like a secret", read: (text) => scanSecrets(text).catch(unlessUnsearchable) },
  { name: "fences of a prompt", read: withoutFenced },
  { name: "fences of an answer", read: withoutMark },
  { name: "the rules' reading of a prompt", read: (text) => readPrompt("emend/rules", text) },
  { name: "an automation's template", read: (text) => refused(() => checkTemplate(text, "push")) },
  // Uses the parser of the review.
  { name: "words in a pull request", isSlow: true, read: (text) => quietMarkdown(text, 1e9) },
  {
    name: "plain words in a pull request",
    read: (text) => [plainText(text, 1e9), plainLine(text, 1e9), codeSpan(text)],
  },
  { name: "a title by convention", read: (text) => conventionalTitle(text, { kind: "conventional" } as never) },
  { name: "a diff's files", read: parseFileList },
  { name: "a patch", read: parsePatch },
  { name: "words of two lines", read: (text) => diffWords(text, `${text}x`) },
  { name: "a branch's name", read: isBranchName },
  { name: "a path by a glob", read: (text) => matchesGlob("**/a*/**/*b*c.md", text) },
];

function refused(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (isAppError(error)) return null;
    throw error;
  }
}

function unlessUnsearchable(error: unknown): null {
  if (error instanceof UnsearchableText) return null;
  throw error;
}

interface Growth {
  /** The CPU time for each size, ascending. */
  ms: readonly number[];
  isTooFast: boolean;
}

interface GrowthBounds {
  /** The size of the first measured text. Each further one is twice as long. */
  charactersFirst: number;
  doublings: number;
  /** How much longer a doubled text may take. */
  ratioMax: number;
  /** Shorter times are noise. */
  msLeast: number;
  msMax: number;
}

/** Doubles a text until the time is measurable, then checks whether the time grows faster than the text. */
export async function measureGrowth(
  target: GrowthTarget,
  grow: (n: number) => string,
  bounds: GrowthBounds,
): Promise<Growth> {
  const ms: number[] = [];
  for (let step = 0; step <= bounds.doublings; step += 1) {
    const text = grow(bounds.charactersFirst * 2 ** step);
    let took = await timed(target, text);
    // A pause of the machine may look like growth: the best of three counts.
    for (let again = 0; again < 2 && outgrows(ms.at(-1), took, bounds); again += 1) {
      took = Math.min(took, await timed(target, text));
    }
    ms.push(took);
    // Even with quadratic growth, the longest text would be fast.
    if (took * 4 ** (bounds.doublings - step) < bounds.msLeast) break;
    // Whatever the ratio, a text of this length must not take seconds.
    if (took > bounds.msMax) return { ms, isTooFast: true };
    const [before, last] = [ms.at(-3), ms.at(-2)];
    // Two doublings in a row: a cache that fills up may grow once.
    if (outgrows(last, took, bounds) && outgrows(before, last ?? 0, bounds)) return { ms, isTooFast: true };
  }
  return { ms, isTooFast: false };
}

function outgrows(before: number | undefined, after: number, { ratioMax, msLeast }: GrowthBounds): boolean {
  return before !== undefined && after > msLeast && after > before * ratioMax;
}

async function timed(target: GrowthTarget, text: string): Promise<number> {
  const before = process.cpuUsage();
  await target.read(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
