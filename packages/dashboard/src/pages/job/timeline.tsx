import type { DashboardStep, FailureCode, JobEvent, StepFile } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { memo, useState } from "react";
import { request } from "../../api/request.ts";
import { LineCounts } from "../../parts/bars.tsx";
import { durationOf } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { Near } from "../../parts/near.tsx";
import { Clock, VisibleText } from "../../parts/text.tsx";
import { failureAdvice } from "./failure-actions.ts";

const eventsPerPiece = 25;
const eventPx = 52;
const filesShownMax = 5;

/** The events in words. Only visible ones are rendered. `isLive`: more may follow. */
export function Timeline(props: { jobId: string; events: readonly JobEvent[]; isLive: boolean }) {
  const { jobId, events } = props;
  const startMs = events[0] ? Date.parse(events[0].at) : 0;
  const last = events.at(-1);
  return (
    <>
      <Pieces jobId={jobId} events={events} startMs={startMs} />
      {props.isLive && last && waitsForModel(last) && (
        <p className="grid grid-cols-[52px_minmax(0,1fr)] gap-2 px-4 py-1 text-quiet">
          <Icon name="running" className="justify-self-end" />
          <span>
            Waiting for the model, <Clock since={last.at} />
          </span>
        </p>
      )}
    </>
  );
}

/** The model is working from the start of the phase, and from each step to the next. */
function waitsForModel({ kind, data }: JobEvent): boolean {
  return kind === "step" || (kind === "phase" && recordOf(data).phase === "working");
}

function Pieces({ jobId, events, startMs }: { jobId: string; events: readonly JobEvent[]; startMs: number }) {
  const pieces = Array.from({ length: Math.ceil(events.length / eventsPerPiece) }, (_, index) => index);
  return pieces.map((index) => {
    const end = Math.min(events.length, (index + 1) * eventsPerPiece);
    return (
      <Near key={index} estimatePx={(end - index * eventsPerPiece) * eventPx} startsNear={index === 0}>
        {() => <Piece jobId={jobId} events={events} from={index * eventsPerPiece} end={end} startMs={startMs} />}
      </Near>
    );
  });
}

interface PieceProps {
  jobId: string;
  /** Only grows: events between `from` and `end` never change. */
  events: readonly JobEvent[];
  from: number;
  end: number;
  startMs: number;
}

const Piece = memo(
  function Piece({ jobId, events, from, end, startMs }: PieceProps) {
    return (
      <ol className="grid">
        {events.slice(from, end).map((event) => (
          <Happened key={event.seq} jobId={jobId} event={event} startMs={startMs} />
        ))}
      </ol>
    );
  },
  (before, now) => before.jobId === now.jobId && before.end === now.end && before.startMs === now.startMs,
);

function Happened({ jobId, event, startMs }: { jobId: string; event: JobEvent; startMs: number }) {
  const told = describeEvent(event);
  // "Edited guides/retries.mdx +1 −1"; several, or under another name, are listed.
  const [only] = told.files;
  const inTitle = told.files.length === 1 && only && told.title.includes(only.path) ? only : null;
  const listed = inTitle ? [] : told.files;
  return (
    <li className="grid grid-cols-[52px_minmax(0,1fr)] gap-2 px-4 py-1">
      <time
        dateTime={event.at}
        title={new Date(event.at).toLocaleString()}
        className="text-right font-mono text-[12px] text-quiet"
      >
        {durationOf(Date.parse(event.at) - startMs)}
      </time>
      <div className="min-w-0 wrap-anywhere">
        <span className={told.isEnd ? "font-semibold" : ""}>
          <VisibleText text={told.title} />
        </span>
        {inTitle && (
          <>
            {" "}
            <LineCounts additions={inTitle.additions} deletions={inTitle.deletions} />
          </>
        )}
        {listed.slice(0, filesShownMax).map((file) => (
          <p key={file.path} className="flex items-baseline gap-2">
            <span className="min-w-0 font-mono text-[12px] wrap-anywhere">
              {file.change !== "modified" && <span className="text-quiet">{file.change} </span>}
              <VisibleText text={file.from ? `${file.from} → ${file.path}` : file.path} />
            </span>
            <LineCounts additions={file.additions} deletions={file.deletions} />
          </p>
        ))}
        {listed.length > filesShownMax && <p className="text-quiet">and {listed.length - filesShownMax} more files</p>}
        {told.text && (
          <p className="text-quiet">
            <VisibleText text={told.text} />
          </p>
        )}
        {told.tools.length > 0 && <StepTools jobId={jobId} step={told.step} tools={told.tools} />}
      </div>
    </li>
  );
}

/** A step's calls, folded. When opened, each call's input and result are fetched. */
function StepTools(props: { jobId: string; step: number; tools: ToldEvent["tools"] }) {
  const { jobId, step, tools } = props;
  const [isOpen, setIsOpen] = useState(false);
  const details = useQuery({
    queryKey: ["step", jobId, step],
    queryFn: ({ signal }) => request<DashboardStep>(`/jobs/${encodeURIComponent(jobId)}/steps/${step}`, { signal }),
    enabled: isOpen,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary className="text-quiet">
        <VisibleText text={tools.map(({ name }) => name).join(", ")} />
        {tools.some(({ ok }) => !ok) && <span className="text-warn"> · refused</span>}
      </summary>
      <div className="grid gap-2 py-1">
        {tools.map((tool, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the calls of a step never move
          <div key={index}>
            <p className="flex gap-1.5 font-mono text-[12px]">
              <Icon name={tool.ok ? "check" : "cross"} className={tool.ok ? "text-good" : "text-bad"} />
              <span className="min-w-0 wrap-anywhere">
                <VisibleText text={`${tool.name} ${tool.input}`} />
              </span>
            </p>
            <Answer tool={details.data?.tools[index]} />
          </div>
        ))}
        {isOpen && details.error && <p className="text-quiet">{details.error.message}</p>}
      </div>
    </details>
  );
}

function Answer({ tool }: { tool: DashboardStep["tools"][number] | undefined }) {
  if (!tool?.output) return null;
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
      className="mt-1 max-h-60 overflow-auto rounded-md bg-hush px-2 py-1 text-[12px] leading-[18px] whitespace-pre-wrap wrap-anywhere"
    >
      <VisibleText text={tool.output} />
    </pre>
  );
}

interface ToldEvent {
  title: string;
  text: string;
  /** The number of the agent's turn. */
  step: number;
  tools: readonly { name: string; input: string; ok: boolean }[];
  /** What it changed. One that its title names has its figures there. */
  files: readonly StepFile[];
  isEnd: boolean;
}

const phases: Record<string, string> = {
  queued: "Queued",
  preparing: "Fetching the repository",
  working: "Working on the docs",
  checking: "Checking the change",
  publishing: "Publishing",
};

/** An event for people. Unknown events are shown by name. */
export function describeEvent(event: JobEvent): ToldEvent {
  const data = recordOf(event.data);
  switch (event.kind) {
    case "job.created":
      return say("Created");
    case "job.message":
      return say("Follow-up");
    case "job.interjection":
      return say("Message", String(data.text ?? ""));
    case "job.question":
      return say("Asked a question", String(data.question ?? ""));
    case "job.waiting":
      return say("Waiting for you", String(data.message ?? ""));
    case "job.approved":
      return say("Approved", `by ${String(data.by ?? "").replace(/^user\//, "")}`);
    case "run.started":
      return say(Number(data.run) > 1 ? `Resumed, run ${data.run}` : "Started");
    case "phase":
      return say(phases[String(data.phase)] ?? String(data.phase), reasonOf(data));
    case "step":
      return {
        ...say(actsOf(data.tools, data.files) || `Step ${data.number ?? ""}`, String(data.text ?? "")),
        step: Number(data.number ?? 0),
        tools: toolsOf(data.tools),
        files: Array.isArray(data.files) ? data.files.map(recordOf).flatMap(fileOf) : [],
      };
    case "findings":
      return say(data.verdict === "denied" ? "Refused by policy" : "Checked", findingsOf(data));
    case "pull_request":
      return say(`Pull request ${typeof data.number === "number" ? `#${data.number}` : ""}`, stateOf(data));
    case "completed":
      // With a failure's code: what the job had reached before stays.
      if (data.code === "cancelled") return { ...say("Follow-up cancelled"), isEnd: true };
      if (data.refused !== undefined) return { ...say("Refused", "Nothing was left to publish."), isEnd: true };
      return {
        ...(data.code === undefined ? say("Completed") : say("Follow-up failed", failureOf(data))),
        isEnd: true,
      };
    case "failed":
      return { ...(data.code === "cancelled" ? say("Cancelled") : say("Failed", failureOf(data))), isEnd: true };
    case "archived":
      return { ...say("Archived"), isEnd: true };
    default:
      // Newer servers may send unknown kinds.
      return say((event as { kind: string }).kind);
  }
}

function say(title: string, text = ""): ToldEvent {
  return { title, text, step: 0, tools: [], files: [], isEnd: false };
}

function fileOf({ path, change, additions, deletions, from }: Record<string, unknown>): StepFile[] {
  if (typeof path !== "string") return [];
  const counts = { additions: Number(additions ?? 0), deletions: Number(deletions ?? 0) };
  return [{ path, change: change as StepFile["change"], ...counts, ...(typeof from === "string" && { from }) }];
}

/** Newer servers may send unknown codes. */
function failureOf({ code, message }: Record<string, unknown>): string {
  // A rule, a person or the time: only the message says which.
  if (code === "policy_denied" && typeof message === "string") return message;
  return failureAdvice[code as FailureCode]?.title ?? String(code ?? "");
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
      return `${typeof data.message === "string" ? `${data.message} ` : ""}Waiting.`;
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

const actsMax = 3;
const verbs: Readonly<Record<string, string>> = {
  read_file: "Read",
  search: "Searched",
  list_files: "Listed",
  edit_file: "Edited",
  write_file: "Wrote",
  delete_file: "Deleted",
  rename_page: "Moved",
  move_section: "Moved a section of",
  replace_term: "Replaced",
  set_front_matter: "Edited the front matter of",
  update_navigation: "Edited the navigation",
  fix_links: "Fixed links",
  add_page: "Added",
  add_redirect: "Added a redirect:",
  add_picture: "Added the picture",
  site_map: "Read the site's structure",
  build: "Built the site",
  look: "Looked at",
  check: "Checked the site",
  git: "Read the history",
  ask: "Asked",
  finish: "Finished",
};
/** Of calls that changed no file. */
const vainVerbs: Readonly<Record<string, string>> = {
  replace_term: "Found nothing to replace:",
  fix_links: "Found no link to fix",
};

/** What a step did: "Read guides/retries.mdx, edited quickstart.mdx". Refused calls are marked. */
function actsOf(tools: unknown, files: unknown): string {
  const done = (Array.isArray(tools) ? tools.map(recordOf) : []).filter(({ ok }) => ok !== false);
  const acts = done.map(({ name, input }) => {
    const verb = (files === undefined && vainVerbs[String(name)]) || verbs[String(name)];
    return verb === undefined ? String(name ?? "") : `${verb} ${objectOf(recordOf(input))}`.trim();
  });
  const told = [...new Set(acts)].filter((act) => act !== "");
  const more = told.length > actsMax ? `, and ${told.length - actsMax} more` : "";
  return told
    .slice(0, actsMax)
    .map((act, index) => (index === 0 ? act : act.charAt(0).toLowerCase() + act.slice(1)))
    .join(", ")
    .concat(more);
}

function objectOf({ path, paths, from, to, pattern, under }: Record<string, unknown>): string {
  if (typeof path === "string") return path;
  if (Array.isArray(paths)) return paths.length > 2 ? `${paths.length} files` : paths.join(" and ");
  if (typeof from === "string" && typeof to === "string") return `${from} → ${to}`;
  if (typeof pattern === "string") return `“${pattern}”`;
  return typeof under === "string" ? under : "";
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
