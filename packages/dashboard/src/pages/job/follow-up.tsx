import { isLanguageModel, type JobRun } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { jobQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { followOwnJob } from "../../layout/own-jobs.tsx";
import { AttachButton, ChosenFileList, uploadAll, useChosenFiles } from "../../parts/attached-files.tsx";
import { Button } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { localTime } from "../../parts/format.ts";
import { keepText, keptText } from "../../parts/kept-text.ts";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";

export const followUpId = "follow-up";

/**
 * Sends a message: the agent sees it before its next turn, or a finished job continues on the same branch and pull
 * request. The text is kept until the server accepts it.
 */
export function FollowUp({ run, projectId }: { run: JobRun; projectId: string }) {
  const key = `follow-up.${run.id}`;
  const [prompt, setPrompt] = useState(() => keptText(key));
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const chosen = useChosenFiles();
  const takesFiles = isLanguageModel(run.model);
  const send = useMutation({
    async mutationFn(text: string) {
      const files = await uploadAll(projectId, takesFiles ? chosen.files : []);
      return request(`/jobs/${run.id}/message`, { body: { prompt: text, ...files } });
    },
    async onSuccess() {
      write("");
      chosen.clear();
      followOwnJob(run.id);
      await queries.invalidateQueries({ queryKey: jobQuery(run.id).queryKey });
      // To what happens now.
      window.scrollTo({ top: 0 });
    },
  });
  if (!mayWrite || !takesMessages(run)) return null;
  function write(text: string) {
    setPrompt(text);
    keepText(key, text);
  }
  function submit(event?: FormEvent) {
    event?.preventDefault();
    if (prompt !== "" && !send.isPending) send.mutate(prompt);
  }
  const isPlan = isPlanReady(run);
  const question = run.waiting?.for === "answer" ? run.waiting : null;
  return (
    <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-3 px-4 py-3">
      {question && (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-2" role="status">
          <h2 className="text-quiet">The agent asks</h2>
          <p className="wrap-anywhere font-semibold">
            <VisibleText text={question.message} />
          </p>
          <ul className="flex flex-wrap gap-2">
            {(question.options ?? []).map((option) => (
              <li key={option} className="max-w-full">
                <Button
                  className="text-left whitespace-normal!"
                  disabled={send.isPending}
                  onClick={() => send.mutate(option)}
                >
                  <VisibleText text={option} />
                </Button>
              </li>
            ))}
          </ul>
        </div>
      )}
      <form onSubmit={submit} className="grid gap-2">
        <label htmlFor={followUpId} className="font-semibold text-quiet">
          {labelOf(run)}
        </label>
        <textarea
          id={followUpId}
          rows={2}
          className="field-sizing-content max-h-60 min-h-16 w-full resize-none text-[16px] leading-6"
          placeholder={placeholderOf(run)}
          value={prompt}
          onChange={(event) => write(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
          }}
          {...(takesFiles && chosen.handlers)}
        />
        {takesFiles && <ChosenFileList chosen={chosen} />}
        {question?.nextTryAt && (
          <p className="text-quiet">
            Without an answer by {localTime(question.nextTryAt)}, the agent continues with its best guess and opens a
            draft.
          </p>
        )}
        <Problem error={send.error} />
        <div className="flex flex-wrap justify-end gap-2">
          {takesFiles && <AttachButton chosen={chosen} />}
          {isPlan && (
            <Button look="primary" disabled={send.isPending} onClick={() => send.mutate("Carry out the plan.")}>
              Approve plan
            </Button>
          )}
          <Button type="submit" disabled={prompt === "" || send.isPending}>
            Send
          </Button>
        </div>
      </form>
    </Sheet>
  );
}

function isPlanReady({ plan, status }: JobRun): boolean {
  return plan && status === "completed";
}

function placeholderOf(run: JobRun): string {
  const { status, waiting } = run;
  if (isPlanReady(run)) return "What should the plan do otherwise?";
  if (waiting?.for === "answer") return "Your answer";
  if (waiting?.for === "approval") return "What should it do otherwise?";
  return status === "active" ? "What should it know?" : "What else should change?";
}

function labelOf(run: JobRun): string {
  const { status, pullRequest, waiting } = run;
  if (isPlanReady(run)) return "Approve the plan, or change it";
  if (waiting?.for === "answer") return waiting.options?.length ? "Or answer in your own words" : "Answer";
  if (waiting?.for === "approval") return "Or have the change made in another way";
  if (status === "active") return "Tell the job something while it works";
  return pullRequest ? `Ask for changes on pull request #${pullRequest.number}` : "Ask for changes";
}

/** The server's rule: not in the archive, and not after its pull request was merged or closed. */
function takesMessages({ status, pullRequest }: JobRun): boolean {
  if (status === "archived") return false;
  return pullRequest === null || pullRequest.state === "open";
}
