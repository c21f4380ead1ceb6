import type { DashboardInboxItem } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useRef } from "react";
import { useProjects } from "../../api/projects.tsx";
import { inboxQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { buttonLook } from "../../parts/button.tsx";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { ProseLine } from "../../parts/prose.tsx";
import { RowLink } from "../../parts/row-link.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";

const kinds: Record<DashboardInboxItem["kind"], { icon: IconName; className: string; word: string }> = {
  question: { icon: "queued", className: "text-warn", word: "Question" },
  approval: { icon: "queued", className: "text-warn", word: "Waiting for you" },
  plan: { icon: "queued", className: "text-warn", word: "Plan" },
  review: { icon: "open", className: "text-good", word: "Review" },
  pull: { icon: "open", className: "text-good", word: "Your pull request" },
  automation: { icon: "cross", className: "text-bad", word: "Failed automation" },
  drift: { icon: "warning", className: "text-warn", word: "Outdated page" },
};

/** What waits for the person who reads it. */
export function InboxPage() {
  const inbox = useQuery(inboxQuery);
  const queries = useQueryClient();
  const heading = useRef<HTMLDivElement>(null);
  const dismiss = useMutation({
    mutationFn: (item: string) => request("/inbox/dismiss", { body: { item } }),
    onSuccess: (_, item) => {
      queries.setQueryData(inboxQuery.queryKey, (before) =>
        before ? { ...before, items: before.items.filter(({ id }) => id !== item) } : before,
      );
      // Its button is gone.
      heading.current?.focus();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: inboxQuery.queryKey }),
  });
  const items = inbox.data?.items;
  const { found } = useProjects((items ?? []).map(({ projectId }) => projectId));
  return (
    <>
      <title>Inbox · Emend</title>
      <Head title="Inbox" />
      <Problem error={dismiss.error} />
      <div ref={heading} tabIndex={-1} className="outline-none">
        <Sheet className="overflow-hidden">
          {items ? (
            <ul className="divide-y divide-line">
              {items.map((item) => (
                <li key={item.id} className="flex items-stretch hover:bg-hush">
                  <ItemLink item={item}>
                    <span className={`flex items-center gap-1.5 font-medium ${kinds[item.kind].className}`}>
                      <Icon name={kinds[item.kind].icon} />
                      {kinds[item.kind].word}
                    </span>
                    <span className="min-w-0">
                      <span className="block truncate font-medium">
                        <VisibleText text={item.title} />
                        {item.number !== null && <span className="font-normal text-quiet"> #{item.number}</span>}
                      </span>
                      {item.words !== "" && (
                        <span className="block truncate text-quiet">
                          <ProseLine text={item.words} />
                        </span>
                      )}
                    </span>
                    <span className="flex gap-3 text-quiet md:contents">
                      <span className="truncate text-quiet">
                        <VisibleText text={found.get(item.projectId)?.name ?? item.projectId} />
                      </span>
                      <span className="whitespace-nowrap text-quiet md:text-right">
                        <Age at={item.at} />
                      </span>
                    </span>
                  </ItemLink>
                  <button
                    type="button"
                    className="px-4 text-quiet -outline-offset-2 hover:text-ink"
                    aria-label={`Dismiss ${kinds[item.kind].word.toLowerCase()}: ${item.title}`}
                    disabled={dismiss.isPending}
                    onClick={() => dismiss.mutate(item.id)}
                  >
                    Dismiss
                  </button>
                </li>
              ))}
            </ul>
          ) : (
            <Pending error={inbox.error} />
          )}
          {items?.length === 0 && (
            <Empty>
              <p>Nothing waits for you. Questions, reviews, failed automations and outdated pages appear here.</p>
              <Link to="/" search={{}} className={buttonLook("ordinary")}>
                Go to jobs
              </Link>
            </Empty>
          )}
        </Sheet>
      </div>
      {inbox.data?.hasMore && <p className="pt-4 text-center text-quiet">More appear when you are done with these.</p>}
    </>
  );
}

const rowLook =
  "grid min-w-0 flex-1 grid-cols-[minmax(0,1fr)] items-center gap-x-4 gap-y-0.5 py-2 pl-4 -outline-offset-2 md:grid-cols-[160px_minmax(0,1fr)_minmax(0,160px)_84px]";

/** To the job, the pull request here or on its forge, or the page at its place. */
function ItemLink({ item, children }: { item: DashboardInboxItem; children: ReactNode }) {
  if (item.url !== null) {
    return (
      <a href={item.url} rel="noreferrer" {...rowAttribute} className={rowLook}>
        {children}
      </a>
    );
  }
  return (
    <RowLink path={pathOf(item)} className={rowLook}>
      {children}
    </RowLink>
  );
}

function pathOf({ projectId, number, jobId, path }: DashboardInboxItem): string {
  if (number !== null) return `/pulls/${projectId}/${number}`;
  if (jobId !== null) return `/jobs/${jobId}`;
  return `/health/page?${new URLSearchParams({ project: projectId, path: path ?? "" })}`;
}
