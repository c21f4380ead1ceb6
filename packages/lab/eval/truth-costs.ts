// What the gate spends on a real change: its time without a model, and the requests that it would send to one.
import { tokensOf } from "../../agent/src/compact.ts";
import { factsOf } from "../../agent/src/models/prices.ts";
import type { Asker, Question } from "../../server/src/claims/drift/reader.ts";
import { type Judged, readWithModel } from "../../server/src/gate/read-with-model.ts";

/** Of one change. */
export interface Cost {
  /** Without a model, and without the first index of the repository. */
  seconds: number;
  requests: number;
  tokens: number;
}

const requestsMax = 30;
/** A report of two findings, or a verdict with its reason. */
const answerTokens = 150;

/** The requests for a change, by the gate's own code, with a model that answers nothing. */
export async function requestsFor(
  input: Omit<Parameters<typeof readWithModel>[0], "asker">,
  judged: readonly Judged[],
): Promise<Omit<Cost, "seconds">> {
  const asked: Question[] = [];
  const asker: Asker = {
    problem: () => null,
    ask: async (question) => {
      asked.push(question);
      return undefined;
    },
  };
  await readWithModel({ ...input, asker }, judged, new AbortController().signal);
  const sent = asked.slice(0, requestsMax);
  return { requests: sent.length, tokens: sent.reduce((sum, question) => sum + tokensOf(question) + answerTokens, 0) };
}

const smallModels = ["anthropic/claude-haiku", "openai/gpt-5-mini", "google/gemini-2.5-flash"];

export function costWords(costs: readonly Cost[]): string {
  const share = (values: readonly number[], part: number) =>
    values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;
  const both = (values: readonly number[], digits: number) =>
    `median ${share(values, 0.5).toFixed(digits)}, 95th percentile ${share(values, 0.95).toFixed(digits)}`;
  const prices = smallModels.map((name) => {
    const { input, output } = factsOf(name);
    const dollars = costs.map(
      ({ tokens, requests }) =>
        ((tokens - requests * answerTokens) * input + requests * answerTokens * output) / 1_000_000,
    );
    return `  dollars with ${name}: ${both(dollars, 4)}`;
  });
  return [
    `\n${costs.length} changes of both halves`,
    `  seconds without a model: ${both(
      costs.map(({ seconds }) => seconds),
      2,
    )}`,
    `  requests to a model: ${both(
      costs.map(({ requests }) => requests),
      0,
    )}`,
    `  tokens: ${both(
      costs.map(({ tokens }) => tokens),
      0,
    )}`,
    ...prices,
  ].join("\n");
}
