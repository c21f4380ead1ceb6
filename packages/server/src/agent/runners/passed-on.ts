import type { IncomingMessage } from "node:http";

/** What the known programs say of themselves and of the protocol. Whom a request is for and who pays is ours to say. */
const passing =
  /^(?:accept|user-agent|anthropic-version|x-stainless-[\w-]+|x-app|x-claude-code-[\w-]+|x-client-request-id|originator|version|session[_-]id|conversation_id|thread[_-]id|x-openai-subagent|x-codex-(?:turn-state|turn-metadata|window-id|parent-thread-id|installation-id|beta-features))$/;
/** Trials of a vendor's, by which it goes elsewhere or opens what the key's owner keeps there. */
const reachingTrial = /web-|mcp|fetch|files|code-execution|skills|browser|connector|managed/i;

/** The headers of a program's request that the vendor hears. */
export function headersPassedOn({ headersDistinct }: IncomingMessage): [string, string][] {
  return Object.entries(headersDistinct).flatMap(([name, values = []]) => {
    if (passing.test(name)) return values.map((value): [string, string] => [name, value]);
    const trials = values.flatMap((value) => value.split(",")).map((value) => value.trim());
    if (name === "anthropic-beta") return trialsOf(name, (trial) => !reachingTrial.test(trial), trials);
    if (name === "openai-beta") return trialsOf(name, (trial) => /^responses/.test(trial), trials);
    return [];
  });
}

/** Of a query, what Claude Code's client adds. */
export function queryPassedOn(query: URLSearchParams): string {
  return query.get("beta") === "true" ? "?beta=true" : "";
}

function trialsOf(name: string, passes: (trial: string) => boolean, trials: readonly string[]): [string, string][] {
  const passed = trials.filter((trial) => trial !== "" && passes(trial));
  return passed.length === 0 ? [] : [[name, passed.join(",")]];
}
