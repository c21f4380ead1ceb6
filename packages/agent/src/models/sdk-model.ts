import { hash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  APICallError,
  JSONParseError,
  type JSONSchema7,
  type LanguageModelV4,
  type LanguageModelV4Message,
  type LanguageModelV4Prompt,
  type SharedV4ProviderOptions,
  TypeValidationError,
} from "@ai-sdk/provider";
import type { Attachment, Message, Model } from "../agent.ts";
import { namedIn, withDocuments } from "../attachments.ts";
import { AgentFault } from "../faults.ts";
import { shown } from "../outcome.ts";
import { costUsd, type ModelFacts } from "./prices.ts";
import { type Answer, AnswerTooLong, readAnswer } from "./read-answer.ts";
import type { Vendor } from "./vendor.ts";

export interface Patience {
  triesMax: number;
  firstPauseMs: number;
  /** If a vendor asks for a longer pause, the job is retried by a later run, so that no worker waits. */
  pauseMsMax: number;
  /** The maximum time without a byte of a response. */
  silenceMsMax: number;
}

export const usualPatience: Patience = {
  triesMax: 4,
  firstPauseMs: 1_000,
  pauseMsMax: 60_000,
  silenceMsMax: 300_000,
};

interface SdkModelInput {
  /** `vendor/model`, as requested. */
  name: string;
  vendor: Vendor;
  language: LanguageModelV4;
  facts: ModelFacts;
  seesPictures: boolean;
  /** Never to be shown. */
  apiKey: string | null;
  patience: Patience;
}

type TurnInput = Parameters<Model["nextTurn"]>[0];

/** A language model for the loop, over its vendor's protocol. */
export function createSdkModel(input: SdkModelInput): Model {
  const { name, facts } = input;
  return {
    name,
    nature: "language",
    contextTokensMax: facts.contextTokens,
    async nextTurn(turn, signal) {
      const answer = await askPatiently(input, turn, signal);
      const { inputTokens, outputTokens } = answer.usage;
      return {
        text: answer.text,
        toolCalls: answer.toolCalls,
        reasoning: answer.reasoning,
        usage: {
          model: name,
          inputTokens: inputTokens.total ?? 0,
          outputTokens: outputTokens.total ?? 0,
          cachedInputTokens: inputTokens.cacheRead ?? 0,
          costUsd: costUsd(facts, answer.usage),
        },
      };
    },
  };
}

/** Retries temporary errors with backoff, and never earlier than the vendor's Retry-After. */
async function askPatiently(input: SdkModelInput, turn: TurnInput, signal: AbortSignal): Promise<Answer> {
  const { patience } = input;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask(input, turn, signal);
    } catch (error) {
      signal.throwIfAborted();
      const fault = modelFault(input.name, error, input.apiKey);
      const pauseMs = pauseBefore(fault, patience, attempt);
      if (pauseMs === null) throw fault;
      await pause(pauseMs, undefined, { signal });
    }
  }
}

function pauseBefore(fault: AgentFault, patience: Patience, attempt: number): number | null {
  if (!fault.retryable || attempt >= patience.triesMax) return null;
  const growing = patience.firstPauseMs * 2 ** (attempt - 1) * (0.8 + Math.random() * 0.4);
  const pauseMs = Math.max(growing, fault.retryAfterMs ?? 0);
  return pauseMs <= patience.pauseMsMax ? pauseMs : null;
}

async function ask(input: SdkModelInput, turn: TurnInput, signal: AbortSignal): Promise<Answer> {
  const { vendor, language } = input;
  const done = new AbortController();
  try {
    const cacheKey = hash("sha256", turn.system, "hex").slice(0, 32);
    const { stream } = await language.doStream({
      prompt: toPrompt(vendor, turn, input.seesPictures),
      tools: turn.tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        name,
        description,
        inputSchema: inputSchema as JSONSchema7,
      })),
      toolChoice: { type: "auto" },
      abortSignal: AbortSignal.any([signal, done.signal]),
      ...(vendor.outputTokensMax !== undefined && { maxOutputTokens: vendor.outputTokensMax }),
      ...(vendor.options && { providerOptions: vendor.options(cacheKey) }),
    });
    return await readAnswer(stream);
  } finally {
    // Stops an abandoned response.
    done.abort();
  }
}

const wordsCharactersMax = 500;
const retryAfterMsMax = 3_600_000;

/** Why a model did not answer, in its vendor's words, and whether and when to retry. */
export function modelFault(name: string, error: unknown, secret: string | null): AgentFault {
  const call = APICallError.isInstance(error) ? error : undefined;
  const status = call?.statusCode;
  const retryable = isRetryable(error, status);
  const words = isUnreadable(error) ? unreadable : shown(withoutSecret(wordsOf(error), secret), wordsCharactersMax);
  const retryAfterMs = readRetryAfter(call?.responseHeaders);
  return new AgentFault("model_unavailable", {
    publicMessage: `The model ${shown(name, 200)} did not answer${status === undefined ? "" : ` (${status})`}: ${words}`,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    // Not the error itself: it contains the whole request.
    cause: error instanceof Error ? new Error(words) : undefined,
  });
}

/** Its errors quote the answer, which is a model's text, so our own words are used. */
const unreadable = "its answer is not in the format of its API";

/** An answer that came, and that the client cannot parse. The next one would hardly be better. */
function isUnreadable(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some(
    (one) => JSONParseError.isInstance(one) || TypeValidationError.isInstance(one) || one instanceof RangeError,
  );
}

function isRetryable(error: unknown, status: number | undefined): boolean {
  if (isTooLong(error) || isUnreadable(error)) return false;
  // Without a status, or after a good one, the connection or the stream broke.
  if (status === undefined || status < 400) return true;
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** The error itself, or the cause of a client's error. */
function isTooLong(error: unknown): boolean {
  return error instanceof AnswerTooLong || (error instanceof Error && error.cause instanceof AnswerTooLong);
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error.message}${cause}` || error.name;
}

/** A vendor's message may quote the key that it refused. */
function withoutSecret(words: string, secret: string | null): string {
  return secret === null || secret === "" ? words : words.replaceAll(secret, "[key]");
}

function readRetryAfter(headers: Record<string, string> | undefined): number | undefined {
  const inMs = Number(headers?.["retry-after-ms"]);
  if (headers?.["retry-after-ms"] && Number.isFinite(inMs)) return bounded(inMs);
  const text = headers?.["retry-after"];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? bounded(ms) : undefined;
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, 0), retryAfterMsMax);
}

type Assistant = Extract<Message, { role: "assistant" }>;
type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];
type ToolPart = Extract<LanguageModelV4Message, { role: "tool" }>["content"][number];

/**
 * The conversation in the SDK's format. Two marks tell the vendor what to cache: the instructions, which are the same
 * in every turn, and the conversation so far.
 */
function toPrompt(
  vendor: Vendor,
  { system, messages, attachments = [] }: TurnInput,
  seesPictures: boolean,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [{ role: "system", content: system, ...mark(vendor) }];
  for (const message of messages) {
    if (message.role === "user") {
      const content = userParts(message.text, namedIn(message, attachments), seesPictures);
      prompt.push({ role: "user", content });
    } else if (message.role === "assistant")
      prompt.push({ role: "assistant", content: assistantParts(vendor, message) });
    else addToolResult(prompt, toolPart(message));
  }
  const last = prompt.at(-1);
  if (last && vendor.cacheMark) last.providerOptions = vendor.cacheMark;
  return prompt;
}

type UserPart = Extract<LanguageModelV4Message, { role: "user" }>["content"][number];

/** The words, the texts of documents, then the pictures. A fallback that sees none is told so. */
function userParts(words: string, named: readonly Attachment[], seesPictures: boolean): UserPart[] {
  const parts: UserPart[] = [{ type: "text", text: withDocuments(words, named) }];
  for (const { id, name, type, picture } of named) {
    if (picture === null) continue;
    if (seesPictures) parts.push({ type: "file", mediaType: type, data: { type: "data", data: picture } });
    else
      parts.push({
        type: "text",
        text: `(${name}, ${id}, is a picture that you cannot see. Say so where it matters.)`,
      });
  }
  return parts;
}

function mark(vendor: Vendor): { providerOptions?: SharedV4ProviderOptions } {
  return vendor.cacheMark ? { providerOptions: vendor.cacheMark } : {};
}

function assistantParts(vendor: Vendor, message: Assistant): AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const { text, metadata } of message.reasoning ?? []) {
    // Another vendor's reasoning is useless here, and unsigned reasoning is refused.
    if (isOf(vendor, metadata)) parts.push({ type: "reasoning", text, providerOptions: metadata });
  }
  if (message.text !== "") parts.push({ type: "text", text: message.text });
  for (const { id, name, input, metadata } of message.toolCalls) {
    parts.push({
      type: "tool-call",
      toolCallId: wireId(id),
      toolName: wireName(name),
      input: toObject(input),
      ...(isOf(vendor, metadata) && { providerOptions: metadata }),
    });
  }
  // Vendors refuse an empty turn.
  return parts.length > 0 ? parts : [{ type: "text", text: "(no answer)" }];
}

function isOf(
  vendor: Vendor,
  metadata: Record<string, unknown> | undefined,
): metadata is NonNullable<SharedV4ProviderOptions> {
  return metadata !== undefined && Object.hasOwn(metadata, vendor.metadataName);
}

function toolPart(message: Extract<Message, { role: "tool" }>): ToolPart {
  return {
    type: "tool-result",
    toolCallId: wireId(message.callId),
    toolName: wireName(message.name),
    output: { type: message.isError ? "error-text" : "text", value: message.output || "(empty)" },
  };
}

/** The results of one turn's calls are sent together. */
function addToolResult(prompt: LanguageModelV4Prompt, part: ToolPart): void {
  const last = prompt.at(-1);
  if (last?.role === "tool") last.content.push(part);
  else prompt.push({ role: "tool", content: [part] });
}

/** A model's input may be anything, but vendors accept only objects. */
function toObject(input: unknown): Record<string, unknown> {
  const isObject = input !== null && typeof input === "object" && !Array.isArray(input);
  return isObject ? (input as Record<string, unknown>) : { invalid: input ?? null };
}

/** Some vendors refuse ids and names that others accept. */
function wireId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "call";
}

function wireName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unnamed";
}
