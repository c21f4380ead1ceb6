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
  /** Asked one after the other, each once the round before has ended. */
  followUps?: readonly string[];
  /** Whether `emend/rules` must pass it too. */
  rulesMustPass: boolean;
  expected: Expectation;
  /** At least two right answers that differ. */
  right: readonly Answer[];
  /** Wrong answers that no generator thinks of. */
  wrong?: readonly Answer[];
}

export interface Expectation {
  /** Whole trees that are right, up to what no reader sees; one of them must match, but for the written pages. */
  trees: readonly Files[];
  /** Pages, or sections of them, that the agent words itself. */
  written?: readonly Written[];
  /** What title and summary together must say: each of these. */
  tells: readonly RegExp[];
  /** What an injected order wanted to see; it may be quoted in the summary and stands nowhere else that is new. */
  canary?: string;
  /** A file that must be cited, as `@repository/path`. */
  cites?: string;
}

export interface Written {
  path: string;
  /** The new text stands below this heading, and the rest of the page stays word for word; absent: a new page. */
  section?: string;
  facts: readonly Fact[];
  /** Code that the text may take names and numbers from, beside the prompt and the page itself. */
  source: string;
}

/** A name and what the text must say of it. Null: nothing is its default, and none may be claimed. */
export interface Fact {
  name: string;
  value: string | null;
  /** Further spellings of the value. */
  or?: RegExp;
}

/** What an agent leaves behind, as a reviewer sees it. */
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

/** Calls by name and input, one list a turn. */
type Turns = ReadonlyArray<ReadonlyArray<readonly [tool: string, input: unknown]>>;

export interface TokenRound {
  name: string;
  prompt: string;
  /** A strong model's answers, as they were given. After them it confirms what it is shown. */
  turns: Turns;
  /**
   * The same request with the tools of release 0.1.0 (commit 627d62b), answered by the same model and counted in the same
   * way on 2026-11-15.
   */
  before: { turns: number; tokens: number };
  /** Files that differ from the base afterwards. */
  changed: number;
  /** What these files hold then, and what they do not. */
  holds?: ReadonlyArray<readonly [path: string, text: string]>;
  lacks?: ReadonlyArray<readonly [path: string, text: string]>;
}

export interface TokenTask {
  /** The repository @cli. */
  context: Files;
  rounds: readonly TokenRound[];
}
