import type { JobEvent } from "@emend/contract";
import { memo } from "react";
import { durationOf } from "../../parts/duration.ts";
import { Near } from "../../parts/near.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { describeEvent } from "./describe-event.ts";
import { StepTools } from "./step-tools.tsx";

const eventsPerPiece = 25;
const eventPx = 52;

/** What happened, in words; a thousand steps cost what is on screen. */
export function Timeline({ jobId, events }: { jobId: string; events: readonly JobEvent[] }) {
  const startMs = events[0] ? Date.parse(events[0].at) : 0;
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
  /** Only ever grows: what lies between `from` and `end` never changes. */
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
