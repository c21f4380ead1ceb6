import type { DashboardPull, DashboardThread, DiffLine } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { request } from "../../api/request.ts";
import { EditButton, type EditedPlace, FileEditor, HeadButton, type LineReview } from "../../diff/file-editor.tsx";
import { followOwnJob } from "../../layout/own-jobs.tsx";
import { Button } from "../../parts/button.tsx";
import { ChooseModel } from "../../parts/choose-model.tsx";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { type PullName, pullPath, pullQuery } from "./queries.ts";
import { type Draft, NewThread, Thread } from "./review-threads.tsx";

/** The comments on lines, the form for a new one, and the editor, each at its place in the diff. */
export function useReview(pull: DashboardPull, first: EditedPlace | null): LineReview {
  const mayWrite = useMayWrite();
  const [draft, setDraft] = useState<Draft | null>(null);
  const [edited, setEdited] = useState<EditedPlace | null>(first);
  const setViewed = useSetViewed({ projectId: pull.projectId, number: String(pull.number) });
  return useMemo(() => {
    const name = { projectId: pull.projectId, number: String(pull.number) };
    const byPlace = Map.groupBy(
      pull.threads.filter(({ isOutdated }) => !isOutdated),
      ({ path, side, lastLine }) => `${path} ${side} ${lastLine}`,
    );
    const show = (thread: DashboardThread) => <Thread key={thread.id} pull={pull} name={name} thread={thread} />;
    const form = (lines: readonly DiffLine[]) =>
      draft && (
        <NewThread
          key={`${draft.path} ${draft.side} ${draft.firstLine}`}
          draft={draft}
          pull={pull}
          name={name}
          lines={lines}
          onChange={setDraft}
          onClose={() => setDraft(null)}
        />
      );
    return {
      viewed: { paths: new Set(pull.viewed), set: setViewed },
      onEdit: mayWrite && pull.state === "open" ? (path, line) => setEdited({ path, line }) : null,
      onLine: mayWrite ? (path, side, line) => setDraft({ path, side, firstLine: line, lastLine: line }) : null,
      notesAt(path, side, line, lines): ReactNode {
        const threads = byPlace.get(`${path} ${side} ${line}`) ?? [];
        const isHere = draft?.path === path && draft.side === side && draft.lastLine === line;
        if (threads.length === 0 && !isHere) return null;
        return (
          <>
            {threads.map(show)}
            {isHere && form(lines)}
          </>
        );
      },
      notesAbove(path, isShown, lines): ReactNode {
        const hidden = pull.threads.filter(
          (thread) => thread.path === path && (thread.isOutdated || !isShown(thread.side, thread.lastLine)),
        );
        const isHere = draft?.path === path && !isShown(draft.side, draft.lastLine);
        return (
          <>
            {hidden.map(show)}
            {isHere && form(lines)}
          </>
        );
      },
      actionsOf({ path, change }, lines): ReactNode {
        if (!mayWrite) return null;
        const first = lines.find(({ kind }) => kind === "added") ?? lines.find(({ kind }) => kind === "deleted");
        const at = first && ("after" in first ? (["after", first.after] as const) : null);
        const [side, line] = at ?? ["before" as const, first && "before" in first ? first.before : 1];
        const isHere = draft?.path === path;
        return (
          <>
            {first && (
              <HeadButton
                label={`Comment on a line of ${path}`}
                // A finger uses the lines' numbers.
                className="max-sm:not-focus:sr-only"
                isOn={isHere}
                onToggle={() => setDraft(isHere ? null : { path, side, firstLine: line, lastLine: line })}
              >
                Comment
              </HeadButton>
            )}
            {pull.state === "open" && change !== "deleted" && (
              <EditButton
                path={path}
                isOn={edited?.path === path}
                onToggle={() => setEdited(edited?.path === path ? null : { path })}
              />
            )}
          </>
        );
      },
      bodyOf: (path) =>
        edited?.path === path && mayWrite ? (
          <FileEditor pullPath={pullPath(name)} {...edited} onClose={() => setEdited(null)} />
        ) : null,
    };
  }, [pull, mayWrite, draft, edited, setViewed]);
}

/** Shown at once, and noted on the server. */
function useSetViewed({ projectId, number }: PullName): (path: string, isViewed: boolean) => void {
  const queries = useQueryClient();
  const { mutate } = useMutation({
    mutationFn: (body: { path: string; isViewed: boolean }) =>
      request(`${pullPath({ projectId, number })}/viewed`, { body }),
    onMutate({ path, isViewed }) {
      queries.setQueryData(pullQuery({ projectId, number }).queryKey, (before) => {
        const others = before?.viewed.filter((each) => each !== path) ?? [];
        return before && { ...before, viewed: isViewed ? [...others, path] : others };
      });
    },
    onError: () => queries.invalidateQueries({ queryKey: pullQuery({ projectId, number }).queryKey }),
  });
  return useCallback((path, isViewed) => mutate({ path, isViewed }), [mutate]);
}

/** Sends the open comments to Emend as a follow-up. */
export function AskBar({ pull }: { pull: DashboardPull }) {
  const mayWrite = useMayWrite();
  const navigate = useNavigate();
  const open = pull.threads.filter(({ resolvedBy }) => resolvedBy === null).length;
  const name = { projectId: pull.projectId, number: String(pull.number) };
  const { jobId } = pull;
  const ask = useMutation({
    mutationFn: () => request(`${pullPath(name)}/ask`, { body: {} }),
    onSuccess() {
      if (jobId === null) return;
      followOwnJob(jobId);
      void navigate({ to: "/jobs/$id", params: { id: jobId } });
    },
  });
  if (open === 0) return null;
  return (
    <div className="grid gap-2 pt-6">
      <div className="flex flex-wrap items-center justify-between gap-3 rounded-md border border-line bg-sheet px-4 py-2">
        <p>
          {open} open {open === 1 ? "comment" : "comments"} on lines
        </p>
        {mayWrite && pull.ask === "ready" && (
          <Button disabled={ask.isPending} onClick={() => ask.mutate()}>
            Ask Emend to address {open === 1 ? "it" : "them"}
          </Button>
        )}
        {mayWrite && pull.ask === "working" && jobId !== null && (
          <p className="text-quiet">
            Emend is working on this pull request.{" "}
            <Link to="/jobs/$id" params={{ id: jobId }} className="underline underline-offset-3">
              Open the job
            </Link>
          </p>
        )}
        {mayWrite && pull.ask === "needs_model" && (
          <p className="text-quiet">
            Emend can address comments with a language model. <ChooseModel projectId={pull.projectId} />
          </p>
        )}
      </div>
      <Problem error={ask.error} />
    </div>
  );
}

/** Comments on files that are no longer in the diff. */
export function ElsewhereThreads({ pull }: { pull: DashboardPull }) {
  const name = { projectId: pull.projectId, number: String(pull.number) };
  const paths = new Set(pull.diff.files.map(({ path }) => path));
  return pull.threads
    .filter(({ path }) => !paths.has(path))
    .map((thread) => (
      <div key={thread.id} className="grid grid-cols-[minmax(0,1fr)] pt-3">
        <p className="font-mono text-[13px] wrap-anywhere text-quiet">
          <VisibleText text={thread.path} />
        </p>
        <Thread pull={pull} name={name} thread={thread} />
      </div>
    ));
}
