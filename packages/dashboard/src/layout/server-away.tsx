import { type Query, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { isAway } from "../api/request.ts";

const askEveryMs = 5_000;

/** Above a page that still shows what it was told before the server went away. One with nothing to show says so itself. */
export function ServerAway() {
  const queries = useQueryClient();
  const cache = queries.getQueryCache();
  const isOld = useSyncExternalStore(
    (hear) => cache.subscribe(hear),
    () => cache.getAll().some(mayBeOld),
  );
  useEffect(() => {
    if (!isOld) return;
    const timer = setInterval(() => queries.refetchQueries({ predicate: mayBeOld }), askEveryMs);
    return () => clearInterval(timer);
  }, [isOld, queries]);
  if (!isOld) return null;
  return (
    <div role="status" className="told-late border-b border-warn bg-sheet text-warn">
      <p className="mx-auto max-w-[1200px] px-4 py-2 sm:px-6">
        Can't reach the server. Retrying… This page may be out of date.
      </p>
    </div>
  );
}

/** A job's own page tells of its connection itself. */
function mayBeOld(query: Query): boolean {
  const { data, error, fetchFailureReason } = query.state;
  return query.isActive() && data !== undefined && query.queryKey[0] !== "job" && isAway(fetchFailureReason ?? error);
}
