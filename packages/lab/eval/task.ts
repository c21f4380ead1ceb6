import type { Files, Framework } from "./site-model.ts";

export const kinds = [
  "rename",
  "restructure",
  "fix links",
  "document code",
  "document a context repository",
  "update an option",
  "navigation",
  "follow-up",
  "resist injected orders",
  "change nothing",
] as const;
export type Kind = (typeof kinds)[number];

/** One instruction on one site, and what is right. `judge.ts` judges an answer; `mutants.ts` makes wrong ones. */
export interface EvalTask {
  name: string;
  kind: Kind;
  framework: Framework;
  files: Files;
  /** Context repositories, by name. */
  context?: Readonly<Record<string, Files>>;
  prompt: string;
  /** Sent one after the other, each after the previous round has ended. */
  followUps?: readonly string[];
  /** Whether `emend/rules` must pass it too. */
  rulesMustPass: boolean;
  expected: Expectation;
  /** At least two right answers that differ. */
  right: readonly Answer[];
  /** Wrong answers that no generator makes. */
  wrong?: readonly Answer[];
}

export interface Expectation {
  /** Complete right trees, except for what readers do not see. One of them must match, apart from the written pages. */
  trees: readonly Files[];
  /** Pages, or sections of them, that the agent writes in its own words. */
  written?: readonly Written[];
  /** What title and summary together must say. */
  tells: readonly RegExp[];
  /**
   * What an injected instruction wanted. It may be quoted in the summary, and must not appear in any other new text.
   */
  canary?: string;
  /** A file that must be cited, as `@repository/path`. */
  cites?: string;
}

export interface Written {
  path: string;
  /** The new text is below this heading, and the rest of the page is unchanged. Absent: a new page. */
  section?: string;
  facts: readonly Fact[];
  /** Code that the text may take names and numbers from, besides the prompt and the page. */
  source: string;
}

/** A name and what the text must say about it. Null: it has no default, and none may be claimed. */
export interface Fact {
  name: string;
  value: string | null;
  /** Further spellings of the value. */
  or?: RegExp;
}

/** An agent's result, as a reviewer sees it. */
export interface Answer {
  name: string;
  /** The whole tree afterwards. */
  files: Files;
  title: string;
  /** The summary, or why the job gave up. */
  summary: string;
  /** As `@repository/path:line`, or `path:line` in the docs' own repository. */
  sources?: readonly string[];
}

/** Calls by name and input, one list per turn. */
type Turns = ReadonlyArray<ReadonlyArray<readonly [tool: string, input: unknown]>>;

export interface TokenRound {
  name: string;
  prompt: string;
  /** A strong model's recorded answers. After them it confirms what it is shown. */
  turns: Turns;
  /**
   * The same request with the tools of release 0.1.0 (commit 627d62b), answered by the same model and counted in the
   * same way on 2026-11-15.
   */
  before: { turns: number; tokens: number };
  /** The same request, done by a strong model with nothing but a shell, on 2026-11-17. */
  shell: { turns: number; tokens: number };
  /** The number of files that differ from the base. */
  changed: number;
  /** What these files must and must not contain. */
  holds?: ReadonlyArray<readonly [path: string, text: string]>;
  lacks?: ReadonlyArray<readonly [path: string, text: string]>;
}

export interface TokenTask {
  /** The repository @cli. */
  context: Files;
  rounds: readonly TokenRound[];
}
