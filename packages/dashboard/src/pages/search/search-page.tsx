import type { DashboardSearch } from "@emend/contract";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { useProjects } from "../../api/projects.tsx";
import { request } from "../../api/request.ts";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { jobTitle } from "../../parts/format.ts";
import { Empty, Pending } from "../../parts/notice.tsx";
import { ProseLine } from "../../parts/prose.tsx";
import { RowLink } from "../../parts/row-link.tsx";
import { Status } from "../../parts/status.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { usePaused } from "../../parts/use-paused.ts";
import { PullState } from "../pulls/pull-state.tsx";

const route = getRouteApi("/search");
const textLengthMin = 2;
const typingPauseMs = 300;

/** Jobs, pull requests, pages and findings with a text in them. The text is in the URL, so it can be shared. */
export function SearchPage() {
  const { text: asked = "" } = route.useSearch();
  const navigate = useNavigate();
  const [text, setText] = useState(asked);
  const wanted = usePaused(text.trim(), typingPauseMs).slice(0, 200);
  useEffect(() => {
    if (wanted !== asked)
      void navigate({ to: "/search", search: wanted === "" ? {} : { text: wanted }, replace: true });
  }, [wanted, asked, navigate]);
  const search = useQuery({
    queryKey: ["search", wanted],
    queryFn: ({ signal }) => request<DashboardSearch>(`/search?${new URLSearchParams({ text: wanted })}`, { signal }),
    enabled: wanted.length >= textLengthMin,
    placeholderData: keepPreviousData,
  });
  const found = wanted.length >= textLengthMin ? search.data : undefined;
  return (
    <>
      <title>Search · Emend</title>
      <Head title="Search" />
      <search>
        <input
          // biome-ignore lint/a11y/noAutofocus: the page is for it
          autoFocus
          type="search"
          aria-label="Search"
          placeholder="Search jobs, pull requests, pages and findings"
          maxLength={200}
          className="w-full"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </search>
      {wanted.length < textLengthMin ? (
        <Empty>
          <p>Enter at least two characters.</p>
        </Empty>
      ) : found ? (
        <Found found={found} />
      ) : (
        <Pending error={search.error} />
      )}
    </>
  );
}

function Found({ found: { jobs, pulls, pages, findings } }: { found: DashboardSearch }) {
  const all = [...jobs, ...pulls, ...pages, ...findings];
  const projects = useProjects(all.map(({ projectId }) => projectId)).found;
  const nameOf = (projectId: string) => projects.get(projectId)?.name ?? projectId;
  if (all.length === 0) {
    return (
      <Empty>
        <p>No matches.</p>
      </Empty>
    );
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6 pt-5">
      <Group title="Pages">
        {pages.map(({ projectId, path, line, text }) => (
          <Row
            key={`${projectId} ${path} ${line}`}
            path={pagePath(projectId, path, line)}
            title={`${path}:${line}`}
            isCode
            words={<VisibleText text={text} />}
            project={nameOf(projectId)}
          />
        ))}
      </Group>
      <Group title="Findings">
        {findings.map(({ projectId, check, path, line, message }) => (
          <Row
            key={`${projectId} ${check} ${path} ${line} ${message}`}
            path={pagePath(projectId, path, line)}
            title={`${path}:${line}`}
            isCode
            words={<ProseLine text={message} />}
            project={nameOf(projectId)}
          />
        ))}
      </Group>
      <Group title="Pull requests">
        {pulls.map((pull) => (
          <Row
            key={`${pull.projectId} ${pull.number}`}
            path={`/pulls/${pull.projectId}/${pull.number}`}
            title={`${pull.title} #${pull.number}`}
            mark={<PullState pull={pull} />}
            project={nameOf(pull.projectId)}
          />
        ))}
      </Group>
      <Group title="Jobs">
        {jobs.map((job) => (
          <Row
            key={job.id}
            path={`/jobs/${job.id}`}
            title={jobTitle(job)}
            mark={
              <Status status={job.status} phase={job.phase} failureCode={job.failureCode} attention={job.attention} />
            }
            project={nameOf(job.projectId)}
          />
        ))}
      </Group>
    </div>
  );
}

function pagePath(project: string, path: string, line: number): string {
  return `/health/page?${new URLSearchParams({ project, path, line: String(line) })}`;
}

function Group({ title, children }: { title: string; children: readonly ReactNode[] }) {
  if (children.length === 0) return null;
  return (
    <section aria-label={title} className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2>{title}</h2>
      <Sheet className="overflow-hidden">
        <ul className="divide-y divide-line">{children}</ul>
      </Sheet>
    </section>
  );
}

function Row(props: {
  path: string;
  title: string;
  isCode?: true;
  words?: ReactNode;
  mark?: ReactNode;
  project: string;
}) {
  return (
    <li>
      <RowLink
        path={props.path}
        className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 px-4 py-2 -outline-offset-2 hover:bg-hush md:grid-cols-[minmax(0,1fr)_auto_160px]"
      >
        <span className="min-w-0">
          <span className={`block truncate font-medium ${props.isCode ? "font-mono text-[13px]" : ""}`}>
            <VisibleText text={props.title} />
          </span>
          {props.words && <span className="block truncate text-quiet">{props.words}</span>}
        </span>
        <span>{props.mark}</span>
        <span className="col-span-2 truncate text-quiet md:col-span-1">
          <VisibleText text={props.project} />
        </span>
      </RowLink>
    </li>
  );
}
