import type { DashboardJobRow } from "@emend/contract";
import { useEffect, useRef } from "react";
import { Button } from "../../parts/button.tsx";
import { Near } from "../../parts/near.tsx";
import { JobRow } from "./job-row.tsx";

const rowsPerPiece = 20;
const nearPx = 1_600;

/** Ten thousand rows cost what is on screen; older ones are asked for as the end comes near. */
export function JobList(props: {
  rows: readonly DashboardJobRow[];
  nameOf: ReadonlyMap<string, string>;
  hasMore: boolean;
  isLoading: boolean;
  onMore(): void;
}) {
  const { rows } = props;
  const rowPx = matchMedia("(min-width: 1024px)").matches ? 37 : 61;
  const pieces = Array.from({ length: Math.ceil(rows.length / rowsPerPiece) }, (_, index) =>
    rows.slice(index * rowsPerPiece, (index + 1) * rowsPerPiece),
  );
  return (
    <>
      <div className="overflow-hidden rounded-md border border-line bg-sheet">
        {pieces.map((piece, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is a place in the list
          <Near key={index} estimatePx={piece.length * rowPx} startsNear={index === 0}>
            {() => (
              <ul className={`divide-y divide-line ${index > 0 ? "border-t border-line" : ""}`}>
                {piece.map((job) => (
                  <JobRow key={job.id} job={job} project={props.nameOf.get(job.projectId) ?? job.projectId} />
                ))}
              </ul>
            )}
          </Near>
        ))}
      </div>
      {props.hasMore && <More rowCount={rows.length} isLoading={props.isLoading} onMore={props.onMore} />}
    </>
  );
}

function More({ rowCount, isLoading, onMore }: { rowCount: number; isLoading: boolean; onMore(): void }) {
  const ref = useRef<HTMLParagraphElement>(null);
  const more = useRef(onMore);
  more.current = onMore;
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each page that arrived the end may still be near
  useEffect(() => {
    if (!ref.current || isLoading) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && more.current(), {
      rootMargin: `${nearPx}px 0px`,
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [rowCount, isLoading]);
  return (
    <p ref={ref} className="pt-4 text-center">
      <Button onClick={onMore} disabled={isLoading}>
        {isLoading ? "Loading older jobs …" : "Older jobs"}
      </Button>
    </p>
  );
}
