import type { DashboardPull, DashboardThread, DiffLine } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { request } from "../../api/request.ts";
import { MarkdownText } from "../../diff/preview/markdown-text.tsx";
import { Button } from "../../parts/button.tsx";
import { CheckInput } from "../../parts/form.tsx";
import { keepText, keptText } from "../../parts/kept-text.ts";
import { Problem } from "../../parts/notice.tsx";
import { Person } from "../../parts/person.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { type PullName, pullPath, pullQuery } from "./queries.ts";

export interface Draft {
  path: string;
  side: DashboardThread["side"];
  firstLine: number;
  lastLine: number;
}

/** Reads the pull request again after each change. */
function useAct(name: PullName) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ path, body }: { path: string; body: object }) => request(`${pullPath(name)}/${path}`, { body }),
    onSettled: () => queries.invalidateQueries({ queryKey: pullQuery(name).queryKey }),
  });
}

function linesWords({ firstLine, lastLine }: { firstLine: number; lastLine: number }): string {
  return firstLine === lastLine ? `Line ${firstLine}` : `Lines ${firstLine} to ${lastLine}`;
}

function placeOf({ path, side, lastLine }: Pick<Draft, "path" | "side" | "lastLine">): string {
  return `${path} ${side} ${lastLine}`;
}

/** Where a new comment was sent to. Its form is gone, and the focus with it: the keyboard continues from the comment. */
let expected: string | null = null;

const box =
  "m-2 grid max-w-[760px] grid-cols-[minmax(0,1fr)] gap-2 rounded-md border border-line bg-sheet font-sans text-[14px] leading-5";

export function Thread({ pull, name, thread }: { pull: DashboardPull; name: PullName; thread: DashboardThread }) {
  const mayWrite = useMayWrite();
  const act = useAct(name);
  const [text, setText] = useState("");
  const [isOpen, setIsOpen] = useState<boolean | null>(null);
  const section = useRef<HTMLElement>(null);
  const place = placeOf(thread);
  useEffect(() => {
    if (expected !== place) return;
    expected = null;
    section.current?.focus();
  }, [place]);
  const isResolved = thread.resolvedBy !== null;
  const at = `threads/${encodeURIComponent(thread.id)}`;
  function reply(event: FormEvent) {
    event.preventDefault();
    if (text.trim() === "" || act.isPending) return;
    act.mutate({ path: `${at}/replies`, body: { text } }, { onSuccess: () => setText("") });
  }
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-label={`Comments on ${thread.side === "before" ? "removed " : ""}${linesWords(thread).toLowerCase()}`}
      className={box}
    >
      <p className="flex flex-wrap items-center gap-x-3 border-b border-line px-3 py-1.5 text-quiet">
        <span>
          {thread.side === "before" && "Removed "}
          {thread.side === "before" ? linesWords(thread).toLowerCase() : linesWords(thread)}
        </span>
        {thread.isOutdated && <span className="text-warn">Outdated</span>}
        {isResolved && (
          <span className="text-good">
            {thread.appliedCommit ? "Applied" : "Resolved"} by <Person subject={thread.resolvedBy ?? ""} />
          </span>
        )}
        {isResolved && (
          <button type="button" className="ml-auto underline underline-offset-3" onClick={() => setIsOpen(!isOpen)}>
            {isOpen ? "Hide" : "Show"}
          </button>
        )}
      </p>
      {(!isResolved || isOpen) && (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3 px-3 pb-3">
          {thread.isOutdated && (
            <pre className="max-h-40 overflow-auto rounded-md bg-hush px-3 py-1.5 text-[13px]">
              <VisibleText text={thread.quoted} />
            </pre>
          )}
          {thread.comments.map((comment) => (
            <article key={comment.id} className="grid grid-cols-[minmax(0,1fr)] gap-1 wrap-anywhere">
              <p className="flex justify-between gap-3 text-quiet">
                <span className="truncate font-semibold text-ink">
                  <Person subject={comment.author} />
                </span>
                <Age at={comment.at} />
              </p>
              {comment.text.trim() !== "" && <MarkdownText text={comment.text} level={3} />}
            </article>
          ))}
          {thread.suggestion !== null && <Suggestion quoted={thread.quoted} suggestion={thread.suggestion} />}
          <Problem error={act.error} />
          {mayWrite && (
            <form onSubmit={reply} className="grid gap-2">
              <textarea
                aria-label="Reply"
                placeholder="Reply"
                maxLength={20_000}
                className="field-sizing-content max-h-60 min-h-9 w-full resize-none"
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
              <div className="flex flex-wrap justify-end gap-2">
                {thread.suggestion !== null && !isResolved && !thread.isOutdated && pull.state === "open" && (
                  <Button
                    look="primary"
                    disabled={act.isPending}
                    onClick={() => act.mutate({ path: `${at}/apply`, body: { head: pull.headCommit } })}
                  >
                    {act.isPending ? "Applying …" : "Apply suggestion"}
                  </Button>
                )}
                <Button
                  disabled={act.isPending}
                  onClick={() =>
                    act.mutate(
                      { path: `${at}/resolve`, body: { resolved: !isResolved } },
                      // The button may be gone.
                      { onSuccess: () => section.current?.focus() },
                    )
                  }
                >
                  {isResolved ? "Reopen" : "Resolve"}
                </Button>
                <Button type="submit" disabled={text.trim() === "" || act.isPending}>
                  Reply
                </Button>
              </div>
            </form>
          )}
        </div>
      )}
    </section>
  );
}

/** The lines, and what should replace them. */
function Suggestion({ quoted, suggestion }: { quoted: string; suggestion: string }) {
  const shown = "px-3 whitespace-pre-wrap wrap-anywhere";
  return (
    <figure className="overflow-hidden rounded-md border border-line">
      <figcaption className="border-b border-line px-3 py-1 text-quiet">Suggested change</figcaption>
      <div className="font-mono text-[13px]">
        <del className={`block bg-del no-underline ${shown}`}>
          <VisibleText text={quoted} />
        </del>
        {suggestion !== "" && (
          <ins className={`block bg-add no-underline ${shown}`}>
            <VisibleText text={suggestion} />
          </ins>
        )}
      </div>
    </figure>
  );
}

interface NewThreadProps {
  draft: Draft;
  pull: DashboardPull;
  name: PullName;
  /** The file's lines in the diff. */
  lines: readonly DiffLine[];
  onChange(draft: Draft): void;
  onClose(): void;
}

export function NewThread({ draft, pull, name, lines, onChange, onClose }: NewThreadProps) {
  const key = `line-comment.${pull.projectId}.${pull.number}.${draft.path}`;
  const [text, setText] = useState(() => keptText(key));
  const [suggestion, setSuggestion] = useState<string | null>(null);
  const act = useAct(name);
  const now = textOf(lines, draft);
  function write(words: string) {
    setText(words);
    keepText(key, words);
  }
  function submit(event?: FormEvent) {
    event?.preventDefault();
    if ((text.trim() === "" && suggestion === null) || act.isPending) return;
    const body = { head: pull.headCommit, ...draft, text, ...(suggestion !== null && { suggestion }) };
    expected = placeOf(draft);
    act.mutate(
      { path: "threads", body },
      {
        onSuccess() {
          write("");
          onClose();
        },
        onError() {
          expected = null;
        },
      },
    );
  }
  return (
    <form aria-label="New comment on lines" onSubmit={submit} className={`${box} px-3 py-3`}>
      <p className="flex flex-wrap items-center gap-2 text-quiet">
        {draft.side === "before" ? "Removed lines" : "Lines"}
        <LineInput
          label="From line"
          value={draft.firstLine}
          onChange={(firstLine) => onChange({ ...draft, firstLine, lastLine: Math.max(firstLine, draft.lastLine) })}
        />
        to
        <LineInput
          label="To line"
          value={draft.lastLine}
          onChange={(lastLine) => onChange({ ...draft, lastLine, firstLine: Math.min(lastLine, draft.firstLine) })}
        />
      </p>
      <textarea
        // biome-ignore lint/a11y/noAutofocus: it was opened to write in it
        autoFocus
        aria-label="Comment on these lines"
        placeholder="What about these lines?"
        maxLength={20_000}
        className="field-sizing-content max-h-60 min-h-16 w-full resize-none"
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
          if (event.key === "Escape") onClose();
        }}
      />
      {draft.side === "after" && now !== null && pull.state === "open" && (
        <CheckInput
          label="Suggest a change"
          isOn={suggestion !== null}
          onToggle={(isOn) => setSuggestion(isOn ? now : null)}
        />
      )}
      {suggestion !== null && (
        <textarea
          aria-label="Suggested text"
          maxLength={20_000}
          className="field-sizing-content max-h-60 min-h-9 w-full resize-none font-mono text-[13px]"
          value={suggestion}
          onChange={(event) => setSuggestion(event.target.value)}
        />
      )}
      <Problem error={act.error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button look="plain" onClick={onClose}>
          Cancel
        </Button>
        <Button
          type="submit"
          look="primary"
          disabled={(text.trim() === "" && suggestion === null) || suggestion === now || act.isPending}
        >
          Add comment
        </Button>
      </div>
    </form>
  );
}

function LineInput({ label, value, onChange }: { label: string; value: number; onChange(value: number): void }) {
  return (
    <input
      type="number"
      aria-label={label}
      min={1}
      className="w-20"
      value={value}
      onChange={(event) => onChange(Math.max(1, Math.floor(event.target.valueAsNumber || 1)))}
    />
  );
}

/** The text of lines that the diff shows. Null if it does not show all. */
function textOf(lines: readonly DiffLine[], { firstLine, lastLine }: Draft): string | null {
  const byLine = new Map(lines.flatMap((line) => ("after" in line ? [[line.after, line.text] as const] : [])));
  const wanted = Array.from({ length: Math.min(200, lastLine - firstLine + 1) }, (_, index) =>
    byLine.get(firstLine + index),
  );
  return wanted.every((text) => text !== undefined) ? wanted.join("\n") : null;
}
