import type { AgentJob, JobEvent, Jobs } from "@emend/sdk";
import type { Cli } from "../cli.ts";
import { markdownLines, safeText, seconds } from "../terminal/format.ts";
import { liveNarrator, type Narrator, plainNarrator, silentNarrator } from "../terminal/narrator.ts";

// The stream ends with the job. If it was cut off before, that must not delay the result.
const lastWordsMsMax = 5000;

/**
 * Waits for a job with long polling and passes on its events. Without an event stream, only the progress is missing.
 */
export async function watchJob(
  jobs: Pick<Jobs, "wait" | "events">,
  id: string,
  options: { after?: number; onEvent(event: JobEvent): void; signal: AbortSignal },
): Promise<AgentJob> {
  const { after, onEvent, signal } = options;
  const telling = new AbortController();
  const told = tellEvents().catch(() => {});
  async function tellEvents() {
    const how = { signal: AbortSignal.any([signal, telling.signal]), ...(after === undefined ? {} : { after }) };
    for await (const event of jobs.events(id, how)) onEvent(event);
  }
  const enough = () => telling.abort();
  try {
    const job = await jobs.wait(id, { signal });
    const timer = setTimeout(enough, lastWordsMsMax);
    await told;
    clearTimeout(timer);
    return job;
  } finally {
    enough();
  }
}

interface Teller {
  tell(event: JobEvent): void;
}

/** Turns events into one line per phase: its name, duration and result. */
export function createTeller(narrator: Narrator): Teller {
  let phase: { name: string; sinceMs: number; details: string[] } | null = null;

  function close(atMs: number, word: "done" | "failed") {
    if (!phase) return;
    const took = seconds(atMs - phase.sinceMs).padStart(6);
    narrator[word](phase.name, `${took}   ${phase.details.join(", ")}`.trimEnd());
    phase = null;
  }

  return {
    tell(event) {
      const told = describeEvent(event);
      const atMs = Date.parse(event.at);
      switch (told.kind) {
        case "phase":
          close(atMs, "done");
          phase = { name: told.name, sinceMs: atMs, details: [] };
          narrator.begin(told.name);
          break;
        case "question":
          close(atMs, "done");
          narrator.line(told.text);
          phase = { name: told.waits, sinceMs: atMs, details: [] };
          narrator.begin(phase.name);
          break;
        case "detail":
          phase?.details.push(told.text);
          narrator.begin(`${phase?.name ?? ""}: ${told.text}`);
          break;
        case "end":
          close(atMs, told.isGood ? "done" : "failed");
          break;
        case "nothing":
          break;
      }
    },
  };
}

type ToldEvent =
  | { kind: "phase"; name: string }
  | { kind: "detail"; text: string }
  | { kind: "question"; text: string; waits: string }
  | { kind: "end"; isGood: boolean }
  | { kind: "nothing" };

/** An event for people. Events come from another process: unknown ones are skipped. */
function describeEvent(event: Pick<JobEvent, "kind" | "data">): ToldEvent {
  const data = asRecord(event.data);
  switch (event.kind) {
    case "job.created":
      return { kind: "phase", name: "queued" };
    case "run.started":
    case "phase":
      return typeof data.phase === "string" ? { kind: "phase", name: data.phase } : { kind: "nothing" };
    case "job.question":
      return { kind: "question", text: questionText(data), waits: "waiting for an answer" };
    case "job.waiting":
      return { kind: "question", text: approvalText(data), waits: "waiting for you" };
    case "step":
      return detail(toolNames(data.tools).join(", "));
    case "findings":
      return detail(findingsText(data));
    case "pull_request":
      return detail(typeof data.number === "number" ? `pull request #${data.number}` : "");
    case "completed":
      return { kind: "end", isGood: data.code === undefined };
    // An active job that is archived is aborted.
    case "failed":
    case "archived":
      return { kind: "end", isGood: false };
    default:
      return { kind: "nothing" };
  }
}

function detail(text: string): ToldEvent {
  return text === "" ? { kind: "nothing" } : { kind: "detail", text };
}

function questionText({ question, options }: Record<string, unknown>): string {
  const choices = Array.isArray(options) ? options.map((option) => `  - ${safeText(String(option))}`) : [];
  const lines = markdownLines(`The agent asks: ${String(question ?? "")}`, width);
  return [...lines, ...choices, "Answer in the dashboard, or with `emend job say`."].join("\n");
}

const constructsMax = 10;

function approvalText({ message, constructs, constructCount, until }: Record<string, unknown>): string {
  const all = Array.isArray(constructs) ? constructs.map(asRecord) : [];
  const shown = all.slice(0, constructsMax).map(({ path, line, text, count }) => {
    const times = count === 1 ? "" : ` (${count} times)`;
    return safeText(`  ${path}:${line}${times}: ${String(text).split("\n", 1)[0]}`);
  });
  const more = Number(constructCount) - shown.length;
  return [
    ...markdownLines(`Waiting for you: ${String(message ?? "")}`, width),
    ...shown,
    ...(more > 0 ? [`  and ${more} more; emend job run shows all`] : []),
    `Answer in the dashboard, or with \`emend job approve\` or \`emend job decline\`, until ${safeText(String(until))}.`,
  ].join("\n");
}

function toolNames(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  return tools.map((tool) => String(asRecord(tool).name ?? "")).filter((name) => name !== "" && name !== "finish");
}

function findingsText(data: Record<string, unknown>): string {
  const { before, after } = data;
  return typeof before === "number" && typeof after === "number" ? `findings ${before} → ${after}` : "";
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Live on a terminal, plain lines in a pipe, nothing for JSON. */
export function narratorFor(cli: Cli, stream: NodeJS.WriteStream, options: { json?: boolean }): Narrator {
  if (options.json) return silentNarrator;
  return stream.isTTY && cli.env.TERM !== "dumb" ? liveNarrator(stream) : plainNarrator(stream);
}

const width = 90;

/** Why a job failed: on the headline's line if it fits, otherwise below. */
export function failureText(headline: string, failure: { code: string; message: string } | null, more = ""): string {
  if (failure === null) return safeText(`${headline}${more}`);
  const head = safeText(`${headline} (${failure.code})`);
  const lines = markdownLines(`${failure.message}${more}`, width);
  return lines.length === 1
    ? `${head}: ${lines[0]}`
    : [`${head}:`, ...lines.map((line) => `  ${line}`.trimEnd())].join("\n");
}
