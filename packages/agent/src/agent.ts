import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { Finding, IgnoreEntry, ParseCache } from "@emend/site";
import type { CommitTree, Overlay, OverlayEntry, Tree } from "@emend/tree";

/** An agent's result besides its overlay. */
export type AgentOutcome =
  | {
      kind: "finished";
      /** The commit's title. */
      title: string;
      /** The whole pull request's summary. */
      summary: string;
      /** A new title for a continued pull request. */
      pullTitle?: string;
      /** The reply to a follow-up message. */
      reply?: string;
      sources?: readonly Source[];
      /** Findings that the agent considers wrong, each as `path:line: why`. */
      disputes?: readonly string[];
    }
  /** The agent waits for an answer, and continues from its stored steps. `summary`: its question. */
  | { kind: "asked"; summary: string; options: readonly string[]; step: number }
  /** A limit was reached. The work so far is kept. */
  | { kind: "stopped"; code: "budget_exceeded" | "timeout"; title: string; summary: string }
  | { kind: "unchanged"; summary: string };

/** A source line that a change is based on. It existed when the agent finished. */
export interface Source {
  /** A context repository's name. Null: the project's own repository, at its base. */
  repository: string | null;
  path: string;
  line: number;
  /** Of a range: its last line. */
  lineEnd?: number;
  /** Words of the page's sentence that it supports. */
  supports?: string;
}

/** One commit of a file's history. */
export interface PageCommit {
  id: string;
  /** A day, as YYYY-MM-DD. */
  date: string;
  author: string;
  message: string;
}

/** An open pull request: its base, and its files that differ from it. */
export interface OpenPull {
  base: CommitTree;
  entries: readonly OverlayEntry[];
}

/** Other repositories that a job may read but not write. */
export interface ContextTrees {
  readonly names: readonly string[];
  /** Pinned at the first read: a job sees one commit of each, even after it is resumed. */
  open(name: string, signal: AbortSignal): Promise<Tree>;
}

export interface Usage {
  model: string;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  costUsd: number;
  /** Set by the loop: the time of model and tools, so that the time limit holds across runs. */
  durationMs?: number;
  /** Whose answer was paid for. Absent: the agent's. */
  by?: "second reader";
}

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
  /** Opaque data that the vendor wants back with the call. */
  metadata?: SharedV4ProviderMetadata;
}

export interface ToolResult {
  output: string;
  isError: boolean;
}

/** A reasoning part that the vendor wants back, signed or encrypted by it. */
export interface Reasoning {
  text: string;
  metadata?: SharedV4ProviderMetadata;
}

/** What people attached to a prompt: a picture, or the text of a document. */
export interface Attachment {
  id: string;
  name: string;
  type: string;
  picture: Buffer | null;
  text: string | null;
}

/** A page as readers see it. */
export interface PageView {
  /** The page and the width of its window, for the model. */
  name: string;
  webp: Buffer;
}

/** What came of a declared screenshot. */
type RenewedScreenshot =
  | { file: string; kind: "same" }
  | { file: string; kind: "renewed"; bytes: Buffer }
  | { file: string; kind: "failed"; words: string };

/** A message of the conversation, stored as JSON in exactly this form. */
export type Message =
  /**
   * `from`: a review's findings, the loop's reminder, pictures that the agent asked for, what the user said while the agent
   * works, or that nobody answered its question; the agent's own diff in earlier releases. Absent: the user, before the
   * agent began.
   */
  | { role: "user"; text: string; from?: "review" | "self-review" | "loop" | "look" | "interjection" | "unanswered" }
  /** Without text where there is nothing that the agent could repair. */
  | { role: "user"; text: string; from: "second-reader"; findings: readonly ReadersFinding[]; reading?: Reading }
  | { role: "assistant"; text: string; toolCalls: readonly ToolCall[]; reasoning?: readonly Reasoning[] }
  | { role: "tool"; callId: string; name: string; output: string; isError: boolean };

/** Something that the second reader said about a change, with the place of its quote. */
export interface ReadersFinding {
  kind: "contradicted" | "unsourced" | "undone" | "unasked" | "lost";
  quote: string;
  why: string;
  path: string;
  line: number;
}

/** What a second reader has seen and decided. */
export interface Reading {
  /** Hashes of changed lines. */
  seen: readonly string[];
  /** Candidates that are right. */
  dismissed: readonly string[];
  /** Changed lines for which there was no room. */
  left?: number;
  isWithoutReport?: true;
}

/** A stored turn of the agent: only the messages that it added. */
export interface Step {
  number: number;
  messages: readonly Message[];
  usage: Usage;
  /** The interjections that it took. Not part of what is loaded again. */
  taken?: readonly string[];
}

/** A language model (or the rules) that drives the loop. */
export interface Model {
  readonly name: string;
  /** Rules work all or nothing: no review rounds, and nothing is kept at a limit. */
  readonly nature: "language" | "rules";
  /** Its context window. Absent: unlimited. */
  readonly contextTokensMax?: number;
  /** For a program that does the whole task: called instead of the loop, with the same contract. */
  run?(deps: AgentDeps, task: AgentTask, signal: AbortSignal): Promise<AgentOutcome>;
  nextTurn(
    input: {
      system: string;
      messages: readonly Message[];
      tools: readonly ToolDescription[];
      /** Shown with the message that names them. */
      attachments?: readonly Attachment[];
    },
    signal: AbortSignal,
  ): Promise<{ text: string; toolCalls: readonly ToolCall[]; reasoning?: readonly Reasoning[]; usage: Usage }>;
}

export interface ToolDescription {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>;
}

interface KnowledgeTools {
  tools: readonly ToolDescription[];
  /** Null: this is not one of them. */
  call(call: { name: string; input: unknown }, signal: AbortSignal): Promise<ToolResult | null>;
}

export interface Limits {
  stepsMax: number;
  tokensMax: number;
  costUsdMax: number;
  wallTimeMsMax: number;
  toolOutputBytesMax: number;
}

export interface FollowUp {
  prompt: string;
  afterStep: number;
}

export interface AgentTask {
  jobId: string;
  prompt: string;
  docsDir: string;
  /** Findings that the project's settings silence. */
  ignore?: readonly IgnoreEntry[] | undefined;
  base: Tree;
  /** Already contains the edits of the stored steps. */
  overlay: Overlay;
  /** Absent if there are no context repositories. */
  context?: ContextTrees;
  /** The newest commits of the base branch that touched a file. Absent if the history is unavailable. */
  history?(path: string, signal: AbortSignal): Promise<readonly PageCommit[] | null>;
  /** One commit with its patch, of one file unless `path` is empty. Null if the newest commits do not have it. */
  commit?(id: string, path: string, signal: AbortSignal): Promise<string | null>;
  /** Of a follow-up: the pull request before this round, as its reviewer sees it. Null if it was not recorded. */
  pull?(signal: AbortSignal): Promise<OpenPull | null>;
  /** Files of the repository that describe how to write its documentation. */
  styleGuides?: readonly string[];
  /** The subjects of the base branch's newest commits. */
  subjects?: readonly string[];
  /** The steps that an earlier run stored. */
  steps: readonly Step[];
  /** The first round makes a plan and changes nothing. */
  plan?: boolean;
  /** Follow-up messages, each with the number of steps before it. */
  followUps?: readonly FollowUp[];
  /** Sent to the agent before its next turn: a review's findings, or its own diff. */
  opening?: Message;
}

/** Checks a model's output before a tool receives it and before it is stored. */
export interface JudgedEdits {
  /** Why the files must not be part of a change, with what to write instead. */
  refusal: string | null;
  /** What a person will be asked about them before anything is published. */
  question: string | null;
}

export interface Vetting {
  /** The text without what must not be stored. */
  redact(text: string): Promise<string>;
  /** What becomes of these files. */
  judge(files: readonly OverlayEntry[], signal: AbortSignal): Promise<JudgedEdits>;
  /** Why a text must not be published beside a change, or null. */
  refuseWords(text: string, signal: AbortSignal): Promise<string | null>;
}

export interface AgentDeps {
  model: Model;
  limits: Limits;
  /** Why the run must end before its next turn because a monthly budget is used up; or null. */
  spentBudget?(): Promise<string | null>;
  /** Why policy would refuse a change to this path, so that the model knows early. The review has the final word. */
  refusePath?(path: string): string | null;
  vetting?: Vetting;
  /** Shared by the jobs of a process: only changed pages are parsed again. */
  siteCache?: ParseCache;
  /** What people said since the agent works and no step took yet. Absent: nobody can. */
  interjections?(): Promise<readonly { id: string; text: string }[]>;
  /** What people attached to the prompt and to messages so far. */
  attachments?(): Promise<readonly Attachment[]>;
  /** Absent: the agent cannot ask. `overdue`: the step whose question nobody answered in time. */
  questions?: { max: number; overdue: number | null };
  /** Tools that ask other services. Their results are content. */
  knowledge?: KnowledgeTools | undefined;
  /** Builds the site with the edits so far, and says what its builder newly complains about. */
  build?: ((signal: AbortSignal) => Promise<readonly Finding[]>) | undefined;
  /** Pictures of a built page with the edits so far. Absent: the model cannot see, or the site is not built. */
  look?: ((path: string, signal: AbortSignal) => Promise<readonly PageView[]>) | undefined;
  /** Takes the declared screenshots again. `string`: why none can be taken. Absent: none is declared, or nothing is built. */
  takeScreenshots?: ((signal: AbortSignal) => Promise<readonly RenewedScreenshot[] | string>) | undefined;
  /** Wraps each call of a tool, for traces. Call and result are vetted. */
  watchTool?: ((call: ToolCall, run: () => Promise<ToolResult>) => Promise<ToolResult>) | undefined;
  /** Stores a step with its edits, fenced by the lease. Throws if the lease is lost. */
  saveStep(step: Step, edits: readonly OverlayEntry[]): Promise<void>;
}
