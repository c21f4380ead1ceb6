import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ParseCache } from "@emend/site";
import type { Overlay, OverlayEdit, Tree } from "../tree/tree.ts";

/** What an agent hands over beside its overlay. */
export type AgentOutcome =
  | {
      kind: "finished";
      /** The commit's. */
      title: string;
      /** Of the whole pull request. */
      summary: string;
      /** A new title for a pull request that is continued. */
      pullTitle?: string;
      /** What was done in answer to a further message. */
      reply?: string;
      sources?: readonly Source[];
      /** Findings that the agent holds to be wrong, each as `path:line: why`. */
      disputes?: readonly string[];
    }
  /** A limit was reached; what was done so far is kept. */
  | { kind: "stopped"; code: "budget_exceeded" | "timeout"; title: string; summary: string }
  | { kind: "unchanged"; summary: string };

/** A line that a change is founded on; it was there when the agent finished. */
export interface Source {
  /** A context repository's name; null: the project's own repository, at its base. */
  repository: string | null;
  path: string;
  line: number;
}

/** One commit of a file's history. */
export interface PageCommit {
  id: string;
  /** A day, as YYYY-MM-DD. */
  date: string;
  author: string;
  message: string;
}

/** Other repositories that a job may read and never write. */
export interface ContextTrees {
  readonly names: readonly string[];
  /** Pinned at the first look: a job sees one commit of each, however often it is resumed. */
  open(name: string, signal: AbortSignal): Promise<Tree>;
}

export interface Usage {
  model: string;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  costUsd: number;
  /** Set by the loop: model and tools together, so that the time limit holds over several runs. */
  durationMs?: number;
}

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
  /** What the vendor wants to see again with the call, unread. */
  metadata?: SharedV4ProviderMetadata;
}

/** A thought that the vendor wants to see again, signed or sealed by it. */
export interface Reasoning {
  text: string;
  metadata?: SharedV4ProviderMetadata;
}

/** One entry of the conversation, stored as JSON exactly like this. */
export type Message =
  /** `from`: a review's findings, the agent's own finished diff, or the loop's reminder; absent: the person who asked. */
  | { role: "user"; text: string; from?: "review" | "self-review" | "loop" }
  | { role: "assistant"; text: string; toolCalls: readonly ToolCall[]; reasoning?: readonly Reasoning[] }
  | { role: "tool"; callId: string; name: string; output: string; isError: boolean };

/** One persisted turn of the agent: only the messages that it added. */
export interface Step {
  number: number;
  messages: readonly Message[];
  usage: Usage;
}

/** A language model (or the rules) behind the loop. */
export interface Model {
  readonly name: string;
  /** Rules do a thing whole or not at all: no review rounds, and at a limit nothing is kept. */
  readonly nature: "language" | "rules";
  /** How much it can hold in mind; absent: no matter. */
  readonly contextTokensMax?: number;
  /** Where a program does the whole work by itself: called in place of the loop, and like it. */
  run?(deps: AgentDeps, task: AgentTask, signal: AbortSignal): Promise<AgentOutcome>;
  nextTurn(
    input: { system: string; messages: readonly Message[]; tools: readonly ToolDescription[] },
    signal: AbortSignal,
  ): Promise<{ text: string; toolCalls: readonly ToolCall[]; reasoning?: readonly Reasoning[]; usage: Usage }>;
}

export interface ToolDescription {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>;
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
  base: Tree;
  /** Already loaded with the edits of the stored steps. */
  overlay: Overlay;
  /** Absent: the project's own repository is all there is. */
  context?: ContextTrees;
  /** The newest commits that touched a file of the base branch; absent: nobody can tell. */
  history?(path: string, signal: AbortSignal): Promise<readonly PageCommit[]>;
  /** Files of the repository that say how its documentation is to be written. */
  styleGuides?: readonly string[];
  /** How the newest commits of the base branch are worded. */
  subjects?: readonly string[];
  /** The steps that an earlier run stored; empty at the start. */
  steps: readonly Step[];
  /** What was asked later, each after the steps that were there by then. */
  followUps?: readonly FollowUp[];
  /** Said to the agent before its next turn: a review's findings, or its own finished diff. */
  opening?: Message;
}

/** An eye on what a model says, before a tool is given it and before it is stored. */
export interface Vetting {
  /** The text without what must not be kept. */
  redact(text: string, signal: AbortSignal): Promise<string>;
  /** Why it may not become part of a change, of this page where it is known; null: it may. */
  refuse(text: string, page: { path: string; text: string } | null, signal: AbortSignal): Promise<string | null>;
}

export interface AgentDeps {
  model: Model;
  limits: Limits;
  /** Why a month's budget, which other jobs spend as well, ends the run before its next turn; null: it does not. */
  spentBudget?(): Promise<string | null>;
  /** Why policy would refuse a change of this path, so that a model hears it at once; the review decides in the end. */
  refusePath?(path: string): string | null;
  vetting?: Vetting;
  /** Shared by the jobs of a process: only changed pages are parsed again. */
  siteCache?: ParseCache;
  /** Stores a step with the edits it made, fenced by the lease; throws when the lease is lost. */
  saveStep(step: Step, edits: readonly OverlayEdit[]): Promise<void>;
}
