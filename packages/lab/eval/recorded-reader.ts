import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Evidence } from "@emend/base/evidence.ts";
import type { Finding } from "@emend/site";
import type { Model } from "../../agent/src/agent.ts";
import { askSecondReader, type FinishedChange } from "../../agent/src/second-reader.ts";

const file = join(import.meta.dirname, "readers-answers.jsonl");

/** A strong model's answers to the second reader's questions, by the question's hash. A changed question has none. */
export interface RecordedReader {
  answers: Map<string, unknown>;
  /** Where questions without an answer are written, `HASH.txt`, and answers looked for, `HASH.json`. */
  questions: string | undefined;
  missing: number;
}

export async function readRecordedReader(questions?: string): Promise<RecordedReader> {
  const lines = existsSync(file) ? (await readFile(file, "utf8")).trimEnd().split("\n") : [];
  const answers = new Map(lines.map((line) => JSON.parse(line)).map(({ question, report }) => [question, report]));
  if (questions !== undefined) await mkdir(questions, { recursive: true });
  return { answers, questions, missing: 0 };
}

/** What is left of the recorded answer after its quotes were verified. Null: none is recorded. */
export async function askRecordedReader(
  reader: RecordedReader,
  change: FinishedChange,
  given: { evidence: Evidence; candidates: readonly Finding[] },
): Promise<readonly string[] | null> {
  let isRecorded = true;
  const model: Model = {
    name: "recorded",
    nature: "language",
    nextTurn: async ({ system, messages }) => {
      const asked = messages.map((message) => (message.role === "user" ? message.text : "")).join("\n");
      const report = await answerOf(reader, `${system}\n\n${asked}\n`);
      isRecorded = report !== undefined;
      return {
        text: "",
        toolCalls: [{ id: "1", name: "report", input: report ?? { findings: [] } }],
        usage: { model: "recorded", inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 },
      };
    },
  };
  const answer = await askSecondReader(
    model,
    change,
    { ...given, readings: [] },
    async (text) => text,
    AbortSignal.timeout(60_000),
  );
  if (!isRecorded || answer === "unavailable" || answer.reading === null) return null;
  return answer.findings.map(({ kind, path, line, why }) => `${kind} ${path}:${line}: ${why}`);
}

async function answerOf(reader: RecordedReader, text: string): Promise<unknown> {
  const question = hash("sha256", text).slice(0, 16);
  if (reader.answers.has(question)) return reader.answers.get(question);
  if (reader.questions !== undefined) {
    const given = join(reader.questions, `${question}.json`);
    if (existsSync(given)) {
      const report: unknown = JSON.parse(await readFile(given, "utf8"));
      reader.answers.set(question, report);
      await appendFile(file, `${JSON.stringify({ question, report })}\n`);
      return report;
    }
    await writeFile(join(reader.questions, `${question}.txt`), text);
  }
  reader.missing++;
  return undefined;
}
