import type { DashboardComment, DashboardPull } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useCallback, useState } from "react";
import { useProjects } from "../../api/projects.tsx";
import { request } from "../../api/request.ts";
import { DiffView } from "../../diff/diff-view.tsx";
import { MarkdownText } from "../../diff/preview/markdown-text.tsx";
import { Button, CopyBlock } from "../../parts/button.tsx";
import { shellWord } from "../../parts/commands.ts";
import { Sheet } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { keepText, keptText } from "../../parts/kept-text.ts";
import { Pending, Problem } from "../../parts/notice.tsx";
import { Person } from "../../parts/person.tsx";
import { Age, Clipped, VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { PagePictures } from "../job/page-pictures.tsx";
import { Commits } from "./commits.tsx";
import { MergeBox } from "./merge-box.tsx";
import { PullState } from "./pull-state.tsx";
import { type PullName, pullPath, pullQuery } from "./queries.ts";
import { AskBar, ElsewhereThreads, useReview } from "./review.tsx";
import { Reviewers } from "./reviewers.tsx";

const route = getRouteApi("/pulls/$projectId/$number");

export function PullPage() {
  const name = route.useParams();
  // Each pull request has its own component state.
  return <Pull key={pullPath(name)} name={name} />;
}

function Pull({ name }: { name: PullName }) {
  const pull = useQuery(pullQuery(name));
  if (!pull.data) return <Pending error={pull.error} />;
  return <PullView name={name} pull={pull.data} />;
}

function PullView({ name, pull }: { name: PullName; pull: DashboardPull }) {
  const { edit: path, line } = route.useSearch();
  const review = useReview(pull, path === undefined ? null : { path, line });
  const [isSplit, setIsSplit] = useState(false);
  const address = pullPath(name);
  const fileUrl = useCallback((path: string) => `${address}/file?path=${encodeURIComponent(path)}`, [address]);
  const { title, number, headRef, baseRef, checks, diff } = pull;
  const project = useProjects([name.projectId]).found.get(name.projectId);
  return (
    <>
      <title>{`${title.slice(0, 100)} · #${number} · Emend`}</title>
      <header className="grid grid-cols-[minmax(0,1fr)] gap-3 pt-8 pb-5">
        <h1>
          <VisibleText text={title} /> <span className="font-normal text-quiet">#{number}</span>
        </h1>
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <PullState pull={pull} />
          <span className="min-w-0 wrap-anywhere">
            <code>
              <VisibleText text={headRef} />
            </code>{" "}
            into{" "}
            <code>
              <VisibleText text={baseRef} />
            </code>
          </span>
          {pull.jobId && (
            <Link
              to="/jobs/$id"
              params={{ id: pull.jobId }}
              className="text-quiet underline underline-offset-3 hover:text-ink"
            >
              The job
            </Link>
          )}
          <span className="text-quiet">
            <Age at={pull.createdAt} />
          </span>
          {/* Its name comes later: it takes the place that is left. */}
          <span className="min-w-0 flex-1 basis-40 truncate text-quiet">
            <Link to="/pulls" search={{ project: name.projectId }} className="underline underline-offset-3">
              <VisibleText text={project?.name ?? name.projectId} />
            </Link>
          </span>
        </p>
      </header>
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 pb-5 lg:grid-cols-[minmax(0,1fr)_336px]">
        <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-3 px-5 py-4 text-[16px] leading-[26px] wrap-anywhere">
          <Clipped height="max-h-88 lg:max-h-136" className="grid grid-cols-[minmax(0,1fr)] gap-3">
            {pull.body.trim() === "" ? (
              <p className="text-quiet">No description.</p>
            ) : (
              <MarkdownText text={pull.body} level={2} />
            )}
          </Clipped>
        </Sheet>
        <div className="order-first grid lg:order-none grid-cols-[minmax(0,1fr)] gap-5">
          <MergeBox pull={pull} />
          <Reviewers pull={pull} />
          {checks.length > 0 && (
            <Sheet className="grid gap-2 px-4 py-3">
              <h2>Checks</h2>
              <ul className="grid gap-1">
                {checks.map((check) => (
                  <li key={check.name} className="flex gap-2">
                    <Icon
                      name={check.verdict === "passed" ? "check" : "warning"}
                      className={`mt-0.5 ${check.verdict === "passed" ? "text-good" : "text-warn"}`}
                    />
                    <span className="min-w-0 wrap-anywhere">
                      <VisibleText text={check.name} /> <span className="sr-only">{check.verdict}</span>
                      {check.detail && (
                        <span className="text-quiet">
                          {" · "}
                          <VisibleText text={check.detail} />
                        </span>
                      )}
                    </span>
                  </li>
                ))}
              </ul>
            </Sheet>
          )}
          {/* A merge may have deleted the branch. */}
          {pull.state === "open" && (
            <Sheet className="px-4 py-3">
              <details>
                <summary>Get this branch with git</summary>
                <div className="grid gap-2 pt-2">
                  <CopyBlock text={`git clone --branch ${shellWord(headRef)} ${pull.cloneUrl}`} />
                  <p className="text-quiet">Use any user name, and one of the project's API keys as the password.</p>
                </div>
              </details>
            </Sheet>
          )}
        </div>
      </div>
      <Commits commits={pull.commits} />
      {diff.files.length > 0 ? (
        <DiffView
          diff={diff}
          findings={pull.findings}
          isSplit={isSplit}
          onSplit={setIsSplit}
          fileUrl={fileUrl}
          review={review}
        />
      ) : (
        <p className="text-quiet">The branch has no changes.</p>
      )}
      {pull.filesLeftOut > 0 && (
        <p className="text-quiet">{pull.filesLeftOut} more files changed. Get the branch with git to see them.</p>
      )}
      {pull.jobId && <PagePictures jobId={pull.jobId} pictures={pull.pictures} />}
      <ElsewhereThreads pull={pull} />
      {/* Below the lines that it is about: above, it would move them. */}
      <AskBar pull={pull} />
      <Comments name={name} comments={pull.comments} />
    </>
  );
}

/** The comments. A new comment's text is kept until the server accepts it. */
export function Comments({ name, comments }: { name: PullName; comments: readonly DashboardComment[] }) {
  const key = `comment.${name.projectId}.${name.number}`;
  const [text, setText] = useState(() => keptText(key));
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: () => request(`${pullPath(name)}/comments`, { body: { text } }),
    async onSuccess() {
      write("");
      await queries.invalidateQueries({ queryKey: pullQuery(name).queryKey });
    },
  });
  function write(words: string) {
    setText(words);
    keepText(key, words);
  }
  function submit(event?: FormEvent) {
    event?.preventDefault();
    if (text.trim() !== "" && !send.isPending) send.mutate();
  }
  return (
    <section aria-label="Comments" className="grid max-w-[720px] grid-cols-[minmax(0,1fr)] gap-3 pt-8">
      <h2>
        {comments.length === 0 ? "Comments" : `${comments.length} ${comments.length === 1 ? "comment" : "comments"}`}
      </h2>
      {comments.map((comment) => (
        <article key={comment.id} className="rounded-md border border-line bg-sheet">
          <p className="flex justify-between gap-3 border-b border-line px-4 py-2 text-quiet">
            <span className="truncate">
              <Person subject={comment.author} />
            </span>
            <Age at={comment.at} />
          </p>
          <div className="grid grid-cols-[minmax(0,1fr)] gap-2 px-4 py-3 wrap-anywhere">
            <MarkdownText text={comment.text} level={3} />
          </div>
        </article>
      ))}
      <form onSubmit={submit} className={mayWrite ? "grid gap-2" : "hidden"}>
        <textarea
          aria-label="Comment"
          placeholder="Leave a comment"
          maxLength={20_000}
          className="field-sizing-content max-h-80 min-h-20 w-full resize-none"
          value={text}
          onChange={(event) => write(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
          }}
        />
        <Problem error={send.error} />
        <Button type="submit" className="justify-self-end" disabled={text.trim() === "" || send.isPending}>
          Comment
        </Button>
      </form>
    </section>
  );
}
