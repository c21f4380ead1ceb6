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
