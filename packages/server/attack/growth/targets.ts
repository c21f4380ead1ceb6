import { diffWords, parsePatch } from "../../../contract/src/diff.ts";
import { createIgnore } from "../../../site/src/frameworks/ignore-file.ts";
import { readYamlSource } from "../../../site/src/frameworks/yaml-source.ts";
import { parseLiteral } from "../../../site/src/literal/parse-literal.ts";
import { type Dialect, plainDialect } from "../../../site/src/parse/dialect.ts";
import { readProse } from "../../../site/src/parse/prose.ts";
import { scanText } from "../../../site/src/parse/scan-page.ts";
import { createTerm } from "../../../site/src/refactor/term.ts";
import { readPrompt } from "../../src/agent/rules/parse-prompt.ts";
import { withoutFence } from "../../src/agent/system-prompt.ts";
import { checkTemplate } from "../../src/automations/template.ts";
import { AppError } from "../../src/errors.ts";
import { hostsIn } from "../../src/hosts/hosts-in.ts";
import { isBranchName } from "../../src/lib/branch-name.ts";
import { reachesOut, withoutFenced } from "../../src/lib/markdown.ts";
import { matchesGlob } from "../../src/lib/matches-glob.ts";
import { conventionalTitle } from "../../src/publish/draft-pull-request.ts";
import { codeSpan, plainLine, plainText, quietMarkdown } from "../../src/publish/quiet-text.ts";
import { asRead, knownSecretsIn, scanSecrets, UnsearchableText } from "../../src/secrets/scan-secrets.ts";
import { parseFileList } from "../../src/tree/read/diff.ts";

/** A parser or rule for untrusted texts, to be tried with longer and longer ones. */
export interface GrowthTarget {
  name: string;
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
const known = ["t0ken/of+the=forge-1234", "sk-ant-0123456789abcdefghijklmnop"];
const term = createTerm({ from: "a", to: "a b", wordForms: true, isLiteral: false });
const literalTerm = createTerm({ from: "token", to: "key", wordForms: false, isLiteral: true });

export const growthTargets: readonly GrowthTarget[] = [
  ...dialects.flatMap(([name, dialect]) => [
    { name: `facts of a page: ${name}`, read: (text: string) => scanText(text, dialect) },
    { name: `prose of a page: ${name}`, read: (text: string) => readProse(text, dialect) },
  ]),
  { name: "facts of front matter", read: (text) => scanText(`---\n${text}\n---\n`, plainDialect) },
  { name: "a configuration as code", read: parseLiteral },
  { name: "a configuration in YAML", read: readYamlSource },
  { name: "an ignore file", read: (text) => createIgnore(text.slice(0, 2_000))(text) },
  { name: "a term to replace", read: (text) => term.matches(text) },
  { name: "a name to replace", read: (text) => literalTerm.matches(text) },
  { name: "hosts of a text", read: hostsIn },
  { name: "a text as it is read", read: asRead },
  { name: "a text that may reach out", read: reachesOut },
  { name: "secrets that are known", read: (text) => knownSecretsIn(text, known) },
  { name: "text that looks like a secret", read: (text) => scanSecrets(text).catch(unlessUnsearchable) },
  { name: "fences of a prompt", read: withoutFenced },
  { name: "fences of an answer", read: withoutFence },
  { name: "the rules' reading of a prompt", read: (text) => readPrompt("emend/rules", text) },
  { name: "an automation's template", read: (text) => refused(() => checkTemplate(text, "push")) },
  { name: "words in a pull request", read: (text) => quietMarkdown(text, 1e9) },
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
    if (error instanceof AppError) return null;
    throw error;
  }
}

function unlessUnsearchable(error: unknown): null {
  if (error instanceof UnsearchableText) return null;
  throw error;
}
