import { readTemplate } from "@emend/base/read-template.ts";
import { redactSecrets } from "@emend/base/secrets/secrets-in.ts";
import { createPatchReader } from "@emend/contract";
import type { PullRequestCheck, PullRequestDraft } from "@emend/forges";
import type { CheckFigures, PublishDeps, PublishInput } from "./publication.ts";
import { type MovedNotice, pullRequestBody, type TouchedFile } from "./pull-request-body.ts";
import { quietLine } from "./quiet-text.ts";

const titleCharactersMax = 200;

/** For repositories without drafts: the title says that the change needs a review. */
const needsReview = "[needs review] ";

/** The texts of the pull request for this change. */
export async function draftPullRequest(
  deps: PublishDeps,
  input: PublishInput & { draftsSupported?: false },
): Promise<PullRequestDraft> {
  const checks = listChecks(input.checks);
  const template = await readTemplate(deps.mirror.treeAt(input.base.commit));
  const isMarked = input.draft && input.draftsSupported === false;
  const title = titleOf(input);
  return {
    head: input.job.branch,
    base: input.base.ref,
    title: isMarked ? needsReview + title : title,
    body: pullRequestBody({
      ...input,
      job: await withoutSecrets(input.job),
      template: template?.text ?? null,
      files: await listTouchedFiles(deps, input),
      checks: deps.forge.showsChecks ? [] : checks,
      ...(deps.forge.bodyLengthMax !== undefined && { lengthMax: deps.forge.bodyLengthMax }),
      introduced: input.checks.introduced,
      findingsFirst: isMarked,
      ...(input.baseConflict.length > 0 && {
        moved: movedOf(input),
      }),
    }),
    draft: input.draft && !isMarked,
    checks,
  };
}

export function titleOf({ pullTitle, title }: PublishInput): string {
  return quietLine(pullTitle ?? title, titleCharactersMax) || "Update documentation";
}

export function movedOf({ base, whole, baseConflict }: PublishInput): MovedNotice {
  return { branch: base.ref, commit: whole?.fork ?? base.commit, paths: baseConflict };
}

/** A pull request may have more readers than the job, so secrets are removed from its texts. */
export async function withoutSecrets(job: PublishInput["job"]): Promise<PublishInput["job"]> {
  const [prompt = "", ...followUps] = await Promise.all(
    [job.prompt, ...job.followUps].map((text) => redactSecrets(text)),
  );
  return { ...job, prompt, followUps };
}

export function listChecks(figures: CheckFigures): readonly PullRequestCheck[] {
  const { introduced, fixed, findingsAfter } = figures;
  const errors = introduced.filter((finding) => finding.severity === "error").length;
  const others = introduced.length - errors;
  const older = Math.max(0, findingsAfter - introduced.length);
  const found = [
    errors > 0 && count(errors, "new error"),
    others > 0 && count(others, "new warning or note", "new warnings or notes"),
  ].filter((words) => words !== false);
  const rest = [
    older > 0 && `${older} older ${older === 1 ? "one" : "ones"}`,
    fixed.length > 0 && `${fixed.length} fixed`,
  ].filter((words) => words !== false);
  return [
    {
      name: "Policy",
      verdict: "passed",
      detail: "All changed paths are allowed",
    },
    {
      name: "Findings",
      verdict: errors > 0 ? "flagged" : "passed",
      detail: [found.join(", ") || "No new findings", rest.join(", ")].filter((words) => words !== "").join("; "),
    },
    ...(figures.links === undefined || figures.links.unjudged === 0 ? [] : [unjudged(figures.links)]),
  ];
}

function unjudged(links: { total: number; unjudged: number }): PullRequestCheck {
  const detail = `${links.unjudged} of ${count(links.total, "link")} inside the site could not be checked; only the site's build can tell`;
  return { name: "Links not checked", verdict: links.unjudged * 2 > links.total ? "flagged" : "passed", detail };
}

/** Changes of more files than this are listed without their lines, so that none waits for a huge diff. */
const filesCountedMax = 500;

export async function listTouchedFiles(deps: PublishDeps, input: PublishInput): Promise<readonly TouchedFile[]> {
  const { base, entries } = input.whole ?? { base: input.base.commit, entries: input.entries };
  const tree = deps.mirror.treeAt(base);
  const before = new Set((await tree.list()).map((entry) => entry.path));
  const people = new Set(input.peoplePaths);
  const cameOrWent = entries.filter(({ path, content }) => content === null || !before.has(path));
  const reader = createPatchReader();
  reader.read((await tree.diff(entries.length > filesCountedMax ? cameOrWent : entries)).toString("utf8"));
  const counted = new Map(reader.end().map((file) => [file.path, file]));
  const gone = new Set([...counted.values()].map(({ pathBefore }) => pathBefore));
  return entries
    .filter(({ path }) => !gone.has(path) || counted.has(path))
    .map(({ path, content }) => {
      const found = counted.get(path);
      const from = found?.pathBefore ?? null;
      const kind = content === null ? "deleted" : before.has(path) ? "changed" : from === null ? "added" : "renamed";
      return {
        path,
        kind,
        ...(from !== null && { from }),
        ...(found && { added: found.additions, removed: found.deletions }),
        ...(people.has(path) && { byPeople: true }),
      };
    });
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** A repository's convention for the first line of a commit message. */
export type TitleConvention =
  /** `docs: say it shorter` */
  | { kind: "typed"; type: string; isLowerCase: boolean }
  /** `:memo: Say it shorter`, `[docs] Say it shorter` */
  | { kind: "prefixed"; prefix: string; pattern: RegExp }
  | { kind: "plain"; isLowerCase: boolean };

const subjectsMin = 4;
const typed = /^([a-zA-Z]+)(?:\([^)]+\))?!?: (\S.*)$/;
const emojiCode = /^:[a-z0-9_+-]+: ?\S/;
const emoji = /^\p{Extended_Pictographic}\uFE0F? ?\S/u;
const bracketed = /^\[[\w ./-]{1,40}\] ?\S/;
/** Subjects that tools write. */
const foreign = /^(?:merge |revert "|bump |update dependency |initial commit$)/i;

/**
 * The convention that most of a branch's commits follow, if there are enough to tell. `hasCommitlint`: the repository
 * enforces it.
 */
export function titleConventionOf(subjects: readonly string[], hasCommitlint: boolean): TitleConvention {
  const worded = subjects.filter((subject) => !foreign.test(subject));
  const most = (matching: readonly string[]) => worded.length >= subjectsMin && matching.length * 2 > worded.length;
  const matching = (pattern: RegExp) => worded.filter((subject) => pattern.test(subject));

  const withType = worded.flatMap((subject) => typed.exec(subject) ?? []).length / 3;
  if (hasCommitlint || (worded.length >= subjectsMin && withType * 2 > worded.length)) return typedConvention(worded);
  if (most(matching(emojiCode))) return { kind: "prefixed", prefix: ":memo: ", pattern: emojiCode };
  if (most(matching(emoji))) return { kind: "prefixed", prefix: "📝 ", pattern: emoji };
  if (most(matching(bracketed))) return { kind: "prefixed", prefix: bracketOf(worded), pattern: bracketed };
  return { kind: "plain", isLowerCase: most(worded.filter(startsLower)) };
}

function typedConvention(subjects: readonly string[]): TitleConvention {
  const pairs = subjects.flatMap((subject) => {
    const [, type = "", rest = ""] = typed.exec(subject) ?? [];
    return type === "" ? [] : [{ type, rest }];
  });
  const own = pairs.find(({ type }) => /^docs?$/i.test(type))?.type ?? "docs";
  const lower = pairs.filter(({ rest }) => startsLower(rest)).length;
  return { kind: "typed", type: own, isLowerCase: pairs.length === 0 || lower * 2 > pairs.length };
}

function bracketOf(subjects: readonly string[]): string {
  const own = subjects.map((subject) => /^\[docs?\] ?/i.exec(subject)?.[0]).find((found) => found !== undefined);
  return own ?? "[docs] ";
}

/** The title in the repository's convention. A title that already follows it stays unchanged. */
export function conventionalTitle(title: string, convention: TitleConvention): string {
  switch (convention.kind) {
    case "typed":
      if (typed.test(title)) return title;
      return `${convention.type}: ${convention.isLowerCase ? lowerFirst(title) : title}`;
    case "prefixed":
      return convention.pattern.test(title) ? title : convention.prefix + title;
    case "plain":
      return convention.isLowerCase ? lowerFirst(title) : title;
  }
}

function startsLower(text: string): boolean {
  return /^\p{Ll}/u.test(text);
}

/** `API` and `GitHub` are names. */
function lowerFirst(text: string): string {
  const [word = ""] = text.split(/\s/, 1);
  return /^\p{Lu}[^\p{Lu}]*$/u.test(word) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
