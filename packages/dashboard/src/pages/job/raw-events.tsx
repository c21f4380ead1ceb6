import type { JobEvent } from "@emend/contract";
import { Near } from "../../parts/near.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

const eventsPerPiece = 50;

/** Events as they came, for whoever writes a program against them. */
export function RawEvents({ events }: { events: readonly JobEvent[] }) {
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
