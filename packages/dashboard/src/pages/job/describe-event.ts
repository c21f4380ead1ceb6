import type { JobEvent } from "@emend/contract";

export interface ToldEvent {
  title: string;
  text: string;
  /** Of an agent's turn, its number. */
  step: number;
  tools: readonly { name: string; input: string; ok: boolean }[];
  isEnd: boolean;
}

const phases: Record<string, string> = {
  queued: "Queued",
  preparing: "Fetching the repository",
  working: "Working on the docs",
  checking: "Checking the change",
  publishing: "Publishing",
};

/** What an event says to somebody who watches. Data of another process: what is not understood is told by its name. */
export function describeEvent(event: JobEvent): ToldEvent {
  const data = recordOf(event.data);
  switch (event.kind) {
    case "job.created":
      return say("Created");
    case "job.message":
      return say("Follow-up");
    case "run.started":
      return say(Number(data.run) > 1 ? `Resumed, run ${data.run}` : "Started");
    case "phase":
      return say(phases[String(data.phase)] ?? String(data.phase), reasonOf(data));
    case "step":
      return {
        ...say(`Step ${data.number ?? ""}`, String(data.text ?? "")),
        step: Number(data.number ?? 0),
        tools: toolsOf(data.tools),
      };
    case "findings":
      return say(data.verdict === "denied" ? "Refused by policy" : "Checked", findingsOf(data));
    case "pull_request":
      return say(`Pull request ${typeof data.number === "number" ? `#${data.number}` : ""}`, stateOf(data));
    case "completed":
      return { ...say("Completed"), isEnd: true };
    case "failed":
      return { ...say("Failed", String(data.code ?? "")), isEnd: true };
    case "archived":
      return { ...say("Archived"), isEnd: true };
    default:
      return say(event.kind);
  }
}

function say(title: string, text = ""): ToldEvent {
  return { title, text, step: 0, tools: [], isEnd: false };
}

function stateOf({ state, draft }: Record<string, unknown>): string {
  if (state === "open" && draft === true) return "open as a draft";
  return typeof state === "string" ? state : "";
}

function reasonOf(data: Record<string, unknown>): string {
  switch (data.reason) {
    case "released":
      return "given back by a worker that stopped";
    case "retry":
      return `${typeof data.message === "string" ? data.message : "A service was unavailable."} Emend will retry.`;
    case "waiting":
      return `${typeof data.message === "string" ? `${data.message} ` : ""}Waiting for the forge.`;
    case "asked":
      return "Retried";
    case "crash":
      return "its worker was lost";
    default:
      return "";
  }
}

function findingsOf({ introduced, fixed, before, after }: Record<string, unknown>): string {
  if (typeof before !== "number") return "";
  return `${introduced} new, ${fixed} fixed; ${before} → ${after} on the whole site`;
}

function toolsOf(tools: unknown): ToldEvent["tools"] {
  if (!Array.isArray(tools)) return [];
  return tools.map(recordOf).map((tool) => ({
    name: String(tool.name ?? ""),
    input: Object.entries(recordOf(tool.input))
      .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join(", "),
    ok: tool.ok !== false,
  }));
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
