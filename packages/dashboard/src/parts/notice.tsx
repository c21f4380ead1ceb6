import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError, sessionEnded } from "../api/request.ts";
import { Button, buttonLook } from "./button.tsx";
import { Icon } from "./icon.tsx";

export function Problem({ error }: { error: unknown }) {
  const isOver = useIsOver(error);
  if (!error || isOver) return null;
  return (
    <p role="alert" className="flex gap-2 rounded-md border border-bad bg-sheet px-3 py-2 text-bad">
      <Icon name="warning" className="mt-0.5" />
      <span className="min-w-0 wrap-anywhere">{error instanceof Error ? error.message : String(error)}</span>
    </p>
  );
}

/** A "log in again" error is over after the login. */
function useIsOver(error: unknown): boolean {
  const [over, setOver] = useState<unknown>(null);
  useEffect(() => {
    if (!(error instanceof ApiError && error.status === 401)) return;
    const forget = () => setOver(error);
    sessionEnded.addEventListener("resumed", forget);
    return () => sessionEnded.removeEventListener("resumed", forget);
  }, [error]);
  return over !== null && over === error;
}

/** What takes the place of something until it is there, about as high. */
export function Skeleton({ className = "h-5" }: { className?: string }) {
  return <div aria-hidden="true" className={`rounded-md bg-hush ${className}`} />;
}

/** `rows`: how many of a list to leave room for. */
function Loading({ rows }: { rows: number }) {
  return (
    <div role="status" className="told-late grid gap-3 px-4 py-4">
      <span className="sr-only">Loading …</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
        <Skeleton key={index} className={index % 3 === 2 ? "h-6 w-3/5" : index % 3 === 1 ? "h-6 w-4/5" : "h-6"} />
      ))}
    </div>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  // A command to copy is shown as a block.
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] justify-items-center gap-3 px-4 py-10 text-center text-quiet [&>div]:w-full [&>div]:max-w-[600px]">
      {children}
    </div>
  );
}

function Retry({ error }: { error: unknown }) {
  const queries = useQueryClient();
  return (
    <div className="grid gap-3 py-6">
      <Problem error={error} />
      <Button className="justify-self-start" onClick={() => queries.refetchQueries({ type: "active" })}>
        Try again
      </Button>
    </div>
  );
}

/** Shown while a page has no data. */
export function Pending({ error, rows = 6 }: { error: unknown; rows?: number }) {
  if (!error) return <Loading rows={rows} />;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Empty>
        <p>Not found. It was removed, or you have no access to its project.</p>
        <Link to="/" search={{}} className={buttonLook("ordinary")}>
          Go to jobs
        </Link>
      </Empty>
    );
  }
  return <Retry error={error} />;
}
