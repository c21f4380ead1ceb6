import type { JobEvent } from "@emend/contract";
import { useState } from "react";
import { Toggle } from "../../parts/toggle.tsx";
import { RawEvents } from "./raw-events.tsx";
import { Timeline } from "./timeline.tsx";

const views = ["Summary", "Raw events"] as const;
type View = (typeof views)[number];

/** Everything that happened; `isOpen` until somebody folds or unfolds it. */
export function Events(props: { jobId: string; events: readonly JobEvent[]; isOpen: boolean }) {
  const [view, setView] = useState<View>("Summary");
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = chosen ?? props.isOpen;
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open !== isOpen && setChosen(currentTarget.open)}
      className="rounded-md border border-line bg-sheet"
    >
      <summary className="px-4 py-2 font-semibold -outline-offset-2 hover:bg-hush">
        Timeline <span className="font-normal text-quiet">{props.events.length} events</span>
      </summary>
      {isOpen && (
        <div className="border-t border-line py-2">
          <div className="flex justify-end px-3 pb-1">
            <Toggle<View> label="How to show events" options={views} chosen={view} onChoose={(next) => setView(next)} />
          </div>
          {view === "Summary" ? (
            <Timeline jobId={props.jobId} events={props.events} />
          ) : (
            <RawEvents events={props.events} />
          )}
        </div>
      )}
    </details>
  );
}
