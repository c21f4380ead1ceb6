import { isBranchName } from "@emend/base/branch-name.ts";
import { describeMistake } from "@emend/base/describe-mistake.ts";
import { didYouMean } from "@emend/contract";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Value } from "typebox/value";
import { AppError } from "../../errors.ts";

const defaultEmail = "noreply@emend.invalid";
/** A label, or the name of a person or team, as its forge spells it. */
const ForgeWord = Type.String({ minLength: 1, maxLength: 200, pattern: "^[^,\\x00-\\x1f]+$" });

/** What a gate's findings do; null: on the local forge `neutral`, elsewhere `off`, since it takes a further permission. */
const GateLevel = Type.Union([Type.Literal("off"), Type.Literal("neutral"), Type.Literal("failing"), Type.Null()], {
  default: null,
});

/** All project settings with their defaults. Unknown settings are kept: a newer node may know them. */
const ProjectSettings = Type.Object({
  /** Concurrent runs. */
  lanes: Type.Integer({ minimum: 1, maximum: 1000, default: 4 }),
  createsPerHourMax: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 100 }),
  /** Per calendar month (UTC). Null: no limit. The SQL function `monthly_budgets` reads it. */
  monthlyBudget: Type.Object(
    {
      jobsMax: Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000_000 }), Type.Null()], { default: null }),
      costUsdMax: Type.Union([Type.Number({ minimum: 0, maximum: 1_000_000_000 }), Type.Null()], { default: null }),
    },
    { default: {} },
  ),
  /** Null: the installation's model. */
  model: Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], { default: null }),
  /** Additional models that a request may choose. */
  models: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100, default: [] }),
  /** Fallbacks in order, used while the model is unavailable. Null: the installation's. */
  fallbackModels: Type.Union(
    [Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 10 }), Type.Null()],
    {
      default: null,
    },
  ),
  /** Where a language model works: a fresh request compares its change with the request and the cited lines. */
  secondReader: Type.Boolean({ default: true }),
  /** Null: the model of the job. */
  secondReaderModel: Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], { default: null }),
  /** Where a language model is set: it reads changes of code together with the docs, and confirms what the rules find. */
  driftReader: Type.Boolean({ default: true }),
  /** Null: the project's model. */
  driftReaderModel: Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], { default: null }),
  /** Files of the repository that describe how to write its documentation, besides AGENTS.md and similar. */
  styleGuides: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), { maxItems: 20, default: [] }),
  /** Saved by people to be used again. */
  prompts: Type.Array(
    Type.Object({
      name: Type.String({ minLength: 1, maxLength: 100, pattern: "^[^\\x00-\\x1f]+$" }),
      prompt: Type.String({ minLength: 1, maxLength: 4_000 }),
    }),
    { maxItems: 40, default: [] },
  ),
  /** Branches are `<prefix>/<job id>`. */
  branchPrefix: Type.String({ minLength: 1, maxLength: 100, default: "emend" }),
  /** Pull requests are opened as drafts. */
  draft: Type.Boolean({ default: false }),
  /** What a follow-up does whose pull request was merged or closed before it was published. */
  closedPullRequest: Type.Union([Type.Literal("open_new"), Type.Literal("fail")], { default: "open_new" }),
  /** How long finished work waits for an unavailable forge. 0: a few minutes. */
  publishWaitHours: Type.Number({ minimum: 0, maximum: 720, default: 24 }),
  /** How many questions an agent may ask in a job of a person or a key. 0: it decides by itself. */
  questionsMax: Type.Integer({ minimum: 0, maximum: 20, default: 2 }),
  /** Longer prompts of people and keys are planned first. 0: only where a request asks for it. */
  planPromptsOver: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
  /** How long a question waits for an answer. Then the job goes on with a guess, as a draft. */
  answerWaitHours: Type.Number({ minimum: 0, maximum: 720, default: 24 }),
  /** How long the question about such constructs waits. Then the job fails, and its change is kept. */
  approvalWaitHours: Type.Number({ minimum: 0, maximum: 720, default: 24 }),
  limits: Type.Object(
    {
      stepsMax: Type.Integer({ minimum: 1, maximum: 10_000, default: 60 }),
      tokensMax: Type.Integer({ minimum: 1, default: 2_000_000 }),
      costUsdMax: Type.Number({ minimum: 0, default: 2 }),
      wallTimeMsMax: Type.Integer({ minimum: 1000, maximum: 86_400_000, default: 1_200_000 }),
      toolOutputBytesMax: Type.Integer({ minimum: 1024, maximum: 1_048_576, default: 32_768 }),
    },
    { default: {} },
  ),
  policy: Type.Object(
    {
      /** Glob patterns of files that may change in any way, code included. */
      allowedPaths: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), { maxItems: 100, default: [] }),
      /** Allowed new external domains: hosts, `*.acme.dev`, or `*` for any. */
      externalHosts: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 200, default: [] }),
      /** What happens to constructs in pages that Emend does not know on this site. A request can name its own. */
      unknown: Type.Union([Type.Literal("ask"), Type.Literal("draft"), Type.Literal("refuse")], { default: "ask" }),
      filesMax: Type.Integer({ minimum: 1, default: 5000 }),
      bytesMax: Type.Integer({ minimum: 1, default: 33_554_432 }),
    },
    { default: {} },
  ),
  /** For the commits of jobs. */
  commit: Type.Object(
    {
      authorName: Type.String({ minLength: 1, maxLength: 200, default: "Emend" }),
      authorEmail: Type.String({
        minLength: 3,
        maxLength: 200,
        pattern: "^[^\\s<>]+@[^\\s<>]+$",
        default: defaultEmail,
      }),
      /** Adds a `Signed-off-by` line of the author. */
      signOff: Type.Boolean({ default: false }),
    },
    { default: {} },
  ),
  /** What Emend says on pull requests of people. */
  gate: Type.Object(
    {
      /** On those of the docs repository: what the checks find new. */
      docs: GateLevel,
      /** On those of context repositories: which pages name what they remove or change. */
      sources: GateLevel,
      /** The status's name; on context repositories `/docs` follows. Two projects on one repository need two names. */
      name: Type.String({ minLength: 1, maxLength: 35, pattern: "^[\\w][\\w ./:-]*$", default: "emend" }),
    },
    { default: {} },
  ),
  /** Of the checks of pages, on this server: `.emend/check.json` sets the rest. */
  checks: Type.Object(
    {
      /** Findings that are not reported, each with a reason. `ignoreProblem` says what an entry may contain. */
      ignore: Type.Array(
        Type.Object({
          check: Type.String({ minLength: 1, maxLength: 100 }),
          path: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
          message: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
          reason: Type.String({ minLength: 1, maxLength: 500 }),
        }),
        { maxItems: 200, default: [] },
      ),
    },
    { default: {} },
  ),
  /** Jobs build the site with its own builder, in a sandbox. This runs the code of the base branch. */
  build: Type.Object(
    {
      on: Type.Boolean({ default: false }),
      /** Run by a shell at the repository's root. Null: the framework's builder. */
      command: Type.Union([Type.String({ minLength: 1, maxLength: 1000 }), Type.Null()], { default: null }),
      /** The folder that the command writes the site to. Null: there are no pictures of its pages. */
      output: Type.Union([Type.String({ minLength: 1, maxLength: 300 }), Type.Null()], { default: null }),
      /** Whoever can read a pull request on another host sees pictures of its pages, by links to this server. */
      picturesInPullRequests: Type.Boolean({ default: false }),
      /** Samples of changed pages that run: `marked` ones, and all in these languages. */
      samples: Type.Array(
        Type.Union(
          ["marked", "shell", "bash", "javascript", "typescript", "python", "go", "http"].map((name) =>
            Type.Literal(name),
          ),
        ),
        { maxItems: 8, default: [] },
      ),
      /** Run by a shell beside samples of HTTP and screenshots, to serve what they ask. */
      service: Type.Union([Type.String({ minLength: 1, maxLength: 1000 }), Type.Null()], { default: null }),
      /** Whether the packages of the base's lock file are installed, and whether their install scripts run. */
      packages: Type.Union([Type.Literal("none"), Type.Literal("install"), Type.Literal("install_with_scripts")], {
        default: "none",
      }),
    },
    { default: {} },
  ),
  /** Pull requests that Emend hosts: how many approvals of the newest commit a merge needs. 0: none. */
  approvalsMin: Type.Integer({ minimum: 0, maximum: 20, default: 0 }),
  /** How often a job repairs its pull request when CI fails because of it. 0: results of CI are not read. */
  ciRepairRounds: Type.Integer({ minimum: 0, maximum: 10, default: 0 }),
  /** Kinds of changes that Emend merges when checks have passed: only links, or only typos, changed. */
  autoMerge: Type.Array(Type.Union([Type.Literal("links"), Type.Literal("typos")]), { maxItems: 2, default: [] }),
  /** After so many days without a comment, Emend reminds once on a pull request of a job. 0: never. */
  reviewReminderDays: Type.Number({ minimum: 0, maximum: 365, default: 0 }),
  /** Where reviewers replace the same words in several jobs, Emend suggests a line for `.emend/instructions.md`. */
  suggestRules: Type.Boolean({ default: true }),
  /** Issues of the repository can start jobs: the label `emend`, or a comment that begins with `@emend`. */
  issueTriggers: Type.Boolean({ default: false }),
  /** Channels in which a mention of Emend starts a job of this project, such as `slack/C0123456789`. */
  chatChannels: Type.Array(Type.String({ pattern: "^(?:slack|mattermost)/[A-Za-z0-9]{1,64}$" }), {
    maxItems: 50,
    default: [],
  }),
  /** How to reach the project's forge, and what its pull requests get. */
  forge: Type.Object(
    {
      /** Null: derived from the repository's URL. */
      apiUrl: Type.Union([Type.String({ maxLength: 1000, pattern: "^https?://[^\\s@?#]+$" }), Type.Null()], {
        default: null,
      }),
      labels: Type.Array(ForgeWord, { maxItems: 50, default: [] }),
      reviewers: Type.Array(ForgeWord, { maxItems: 50, default: [] }),
      teamReviewers: Type.Array(ForgeWord, { maxItems: 50, default: [] }),
      /** Requests reviews from the code owners of the changed files too. */
      codeOwners: Type.Boolean({ default: false }),
      /** Requests reviews from those who wrote the code that the change cites. */
      codeAuthors: Type.Boolean({ default: false }),
      /** GitHub Apps: GitHub creates and signs the commits. Their author is the App. */
      verifiedCommits: Type.Boolean({ default: false }),
      /** GitLab: null uses its project's setting. */
      squash: Type.Union([Type.Boolean(), Type.Null()], { default: null }),
      removeSourceBranch: Type.Union([Type.Boolean(), Type.Null()], { default: null }),
    },
    { default: {} },
  ),
});
export type ProjectSettings = Static<typeof ProjectSettings>;

const checker = Compile(ProjectSettings);

const defaults: unknown = Value.Default(ProjectSettings, {});

/** A copy. `Value.Default` does the same and takes twenty times as long: pages parse the settings of many projects. */
function withDefaults(missing: unknown, given: unknown): unknown {
  if (Array.isArray(given)) return [...given];
  if (!isRecord(given)) return given;
  const whole = { ...given };
  for (const [name, value] of isRecord(missing) ? Object.entries(missing) : []) {
    whole[name] = withDefaults(value, given[name] === undefined ? value : given[name]);
  }
  return whole;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Adds defaults. Refuses invalid settings and names every problem. */
export function parseProjectSettings(given: unknown): ProjectSettings {
  const settings = withDefaults(defaults, given ?? {});
  // Listing errors is far slower than checking.
  const isValid = checker.Check(settings);
  const mistakes = (isValid ? [] : checker.Errors(settings)).map((error) => describeMistake(error, []));
  if (mistakes.length === 0 && !isBranchName(`${(settings as ProjectSettings).branchPrefix}/x`)) {
    mistakes.push("branchPrefix must be the start of a valid git branch name");
  }
  if (mistakes.length === 0) return settings as ProjectSettings;
  throw new AppError("invalid_request", { publicMessage: `Project settings: ${mistakes.join("; ")}.` });
}

/** More than all settings at their limits. Unknown settings count too. */
const settingsBytesMax = 256 * 1024;

/** For settings that are about to be stored: limits their size, because every job carries them. */
export function assertSettingsFit(given: unknown): void {
  if (Buffer.byteLength(JSON.stringify(given ?? {})) <= settingsBytesMax) return;
  throw new AppError("invalid_request", {
    publicMessage: `Project settings: together they must not have more than ${settingsBytesMax} bytes.`,
  });
}

/** For settings that a person types: a limit with a typo in its name limits nothing. */
export function assertSettingsKnown(given: Readonly<Record<string, unknown>>): void {
  const unknown = Object.entries(given).flatMap(([name, value]) => {
    const schema = (ProjectSettings.properties as Record<string, { properties?: object }>)[name];
    if (!schema) return [`\`${name}\`${didYouMean(name, Object.keys(ProjectSettings.properties))}`];
    if (!schema.properties || typeof value !== "object" || value === null) return [];
    const known = Object.keys(schema.properties);
    return Object.keys(value)
      .filter((key) => !known.includes(key))
      .map((key) => `\`${name}.${key}\`${didYouMean(key, known)}`);
  });
  if (unknown.length === 0) return;
  throw new AppError("invalid_request", {
    publicMessage: `Unknown project setting ${unknown.join("; ")}`.replace(/[?.]?$/, (end) => end || "."),
  });
}

/** The models that a request may name. The first is the default. */
export function allowedModels(settings: ProjectSettings, installationModel: string): readonly [string, ...string[]] {
  return [settings.model ?? installationModel, ...settings.models];
}
