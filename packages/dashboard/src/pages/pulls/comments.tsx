import type { DashboardComment } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { request } from "../../api/request.ts";
import { MarkdownText } from "../../diff/preview/markdown-text.tsx";
import { Age } from "../../parts/age.tsx";
import { Button } from "../../parts/button.tsx";
import { keepText, keptText } from "../../parts/kept-text.ts";
import { Problem } from "../../parts/notice.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { VisibleText } from "../../parts/visible-text.tsx";
import { type PullName, pullPath, pullQuery } from "./queries.ts";

/** What people say about it. What is typed is kept until it was taken. */
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
              <VisibleText text={comment.author} />
            </span>
            <Age at={comment.at} />
          </p>
          <div className="grid grid-cols-[minmax(0,1fr)] gap-2 px-4 py-3 wrap-anywhere">
            <MarkdownText text={comment.text} />
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
