import type { DashboardJobPage, DashboardJobRow } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { request } from "../api/request.ts";
import { appPath } from "../base-path.ts";
import { jobTitle } from "../parts/format.ts";
import { keepText, keptText } from "../parts/kept-text.ts";
import { Status } from "../parts/status.tsx";
import { VisibleText } from "../parts/text.tsx";

const key = "own-jobs";
const idsMax = 50;
const pollEveryMs = 3_000;
const shownMax = 3;
const noted = new EventTarget();

/** From here on this browser tells when the job has ended, on whichever page one is by then. */
export function followOwnJob(id: string): void {
  write([id, ...read().filter((other) => other !== id)].slice(0, idsMax));
}

function read(): readonly string[] {
  return keptText(key)
    .split(",")
    .filter((id) => /^job_\w+$/.test(id));
}

function write(ids: readonly string[]): void {
  keepText(key, ids.join(","));
  noted.dispatchEvent(new Event("change"));
}

function useOwnJobs(): readonly string[] {
  const text = useSyncExternalStore(
    (hear) => {
      noted.addEventListener("change", hear);
      // Another tab may have started one.
      window.addEventListener("storage", hear);
      return () => {
        noted.removeEventListener("change", hear);
        window.removeEventListener("storage", hear);
      };
    },
    () => read().join(","),
  );
  return text === "" ? [] : text.split(",");
}

/** Tells that one's own jobs have ended: here, and by the browser where one allowed it. */
export function OwnJobs() {
  const ids = useOwnJobs();
  const { pathname } = useLocation();
  const [ended, setEnded] = useState<readonly DashboardJobRow[]>([]);
  const told = useRef(new Set<string>());
  const { data } = useQuery({
    queryKey: ["own-jobs", ids],
    queryFn: ({ signal }) => request<DashboardJobPage>(`/jobs?ids=${ids.join(",")}`, { signal }),
    refetchInterval: pollEveryMs,
    refetchIntervalInBackground: true,
    enabled: ids.length > 0,
  });
  useEffect(() => {
    const over = (data?.jobs ?? []).filter(({ status }) => status !== "active");
    if (over.length === 0) return;
    write(read().filter((id) => !over.some((job) => job.id === id)));
    const news = over.filter(({ id }) => !told.current.has(id));
    for (const job of news) {
      told.current.add(job.id);
      notify(job);
    }
    // Whoever is on its page sees it there.
    const elsewhere = news.filter(({ id }) => !location.pathname.endsWith(`/jobs/${id}`));
    setEnded((before) => [...elsewhere, ...before].slice(0, shownMax));
  }, [data]);
  const shown = ended.filter(({ id }) => !pathname.endsWith(`/jobs/${id}`));
  return (
    <section
      aria-label="Notifications"
      className="fixed right-4 bottom-16 z-20 grid w-[min(360px,calc(100vw-32px))] gap-2"
    >
      <div role="status" className="contents">
        {shown.map((job) => (
          <div
            key={job.id}
            className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-3 rounded-md border border-line bg-sheet px-4 py-3 shadow-md"
          >
            <Link to="/jobs/$id" params={{ id: job.id }} className="grid min-w-0 gap-1">
              <Status status={job.status} phase={job.phase} failureCode={job.failureCode} attention={job.attention} />
              <span className="truncate font-medium underline underline-offset-3">
                <VisibleText text={jobTitle(job)} />
              </span>
            </Link>
            <button
              type="button"
              className="min-h-6 text-quiet hover:text-ink"
              onClick={() => setEnded((before) => before.filter(({ id }) => id !== job.id))}
            >
              Dismiss
            </button>
          </div>
        ))}
      </div>
    </section>
  );
}

/** Only where somebody looks elsewhere: who has the page before them is told there. */
function notify(job: DashboardJobRow): void {
  if (!("Notification" in window) || Notification.permission !== "granted" || !document.hidden) return;
  const isFollowUp = job.status === "completed" && job.failureCode !== null;
  const failed = isFollowUp ? "Follow-up failed" : "Failed";
  const word = job.failureCode === null ? "Completed" : job.failureCode === "cancelled" ? "Cancelled" : failed;
  const notification = new Notification(`${word}: ${jobTitle(job).slice(0, 100)}`, {
    body: job.pullRequest ? `Pull request #${job.pullRequest.number}` : "",
    tag: job.id,
  });
  notification.onclick = () => {
    window.focus();
    location.assign(`${appPath}/jobs/${job.id}`);
  };
}
