import type { JobEvent } from "@emend/contract";
import { useEffect, useRef, useState } from "react";
import { Toggle } from "../../parts/button.tsx";
import { Near } from "../../parts/near.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { Timeline } from "./timeline.tsx";

const views = ["Summary", "Events as data"] as const;
type View = (typeof views)[number];

/** All events. `isOpen` until somebody folds or unfolds it. */
export function Events(props: {
  jobId: string;
  events: readonly JobEvent[];
  isOpen: boolean;
  isLive: boolean;
  /** It came while somebody looked: it keeps its height, whatever else comes. */
  isWatched: boolean;
}) {
  const [view, setView] = useState<View>("Summary");
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = chosen ?? props.isOpen;
  const end = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what came last is in view
  useEffect(() => {
    end.current?.scrollTo({ top: end.current.scrollHeight });
  }, [props.events.length, isOpen]);
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open !== isOpen && setChosen(currentTarget.open)}
      className="rounded-md border border-line bg-sheet"
    >
      <summary className="px-4 py-2 font-semibold -outline-offset-2 hover:bg-hush">
        Timeline{" "}
        <span className="font-normal text-quiet">
          {props.events.length} {props.events.length === 1 ? "event" : "events"}
        </span>
      </summary>
      {isOpen && (
        <div
          ref={props.isWatched ? end : null}
          className={`border-t border-line py-2 ${props.isWatched ? "h-96 overflow-y-auto" : ""}`}
        >
          <div className="flex justify-end px-3 pb-1">
            <Toggle<View> label="How to show events" options={views} chosen={view} onChoose={(next) => setView(next)} />
          </div>
          {view === "Summary" ? (
            <Timeline jobId={props.jobId} events={props.events} isLive={props.isLive} />
          ) : (
            <RawEvents events={props.events} />
          )}
        </div>
      )}
    </details>
  );
}

const eventsPerPiece = 50;

/** The raw events, for people who write programs. */
function RawEvents({ events }: { events: readonly JobEvent[] }) {
  const pieces = Array.from({ length: Math.ceil(events.length / eventsPerPiece) }, (_, index) =>
    events.slice(index * eventsPerPiece, (index + 1) * eventsPerPiece),
  );
  return pieces.map((piece) => (
    <Near key={piece[0]?.seq} estimatePx={piece.length * 48} startsNear={piece[0]?.seq === 1}>
      {() => (
        <pre className="px-4 text-[12px] leading-[18px] whitespace-pre-wrap wrap-anywhere">
          {piece.map((event) => (
            <code key={event.seq} className="block py-0.5 text-[12px] leading-[18px]">
              <VisibleText text={JSON.stringify(event)} />
            </code>
          ))}
        </pre>
      )}
    </Near>
  ));
}
