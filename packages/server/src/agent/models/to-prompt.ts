import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { Message } from "../agent.ts";
import type { Vendor } from "./vendor.ts";

type Assistant = Extract<Message, { role: "assistant" }>;
type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];
type ToolPart = Extract<LanguageModelV4Message, { role: "tool" }>["content"][number];

/**
 * The conversation in the SDK's words. Two marks tell the vendor what it may keep: the instructions, which are the same
 * for every turn of a job, and the conversation so far, which the next turn begins with.
 */
export function toPrompt(vendor: Vendor, system: string, messages: readonly Message[]): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [{ role: "system", content: system, ...mark(vendor) }];
  for (const message of messages) {
    if (message.role === "user") prompt.push({ role: "user", content: [{ type: "text", text: message.text }] });
    else if (message.role === "assistant") prompt.push({ role: "assistant", content: assistantParts(vendor, message) });
    else addToolResult(prompt, toolPart(message));
  }
  const last = prompt.at(-1);
  if (last && vendor.cacheMark) last.providerOptions = vendor.cacheMark;
  return prompt;
}

function mark(vendor: Vendor): { providerOptions?: SharedV4ProviderOptions } {
  return vendor.cacheMark ? { providerOptions: vendor.cacheMark } : {};
}

function assistantParts(vendor: Vendor, message: Assistant): AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const { text, metadata } of message.reasoning ?? []) {
    // Another vendor's thoughts mean nothing here, and an unsigned thought is refused.
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
  // Vendors refuse a turn that says nothing.
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

/** The results of one turn's calls go back together. */
function addToolResult(prompt: LanguageModelV4Prompt, part: ToolPart): void {
  const last = prompt.at(-1);
  if (last?.role === "tool") last.content.push(part);
  else prompt.push({ role: "tool", content: [part] });
}

/** What a model sent may be anything; what a vendor takes back is an object. */
function toObject(input: unknown): Record<string, unknown> {
  const isObject = input !== null && typeof input === "object" && !Array.isArray(input);
  return isObject ? (input as Record<string, unknown>) : { invalid: input ?? null };
}

/** Ids and names that one vendor, or a model's fancy, made are not taken by every other. */
function wireId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "call";
}

function wireName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unnamed";
}
