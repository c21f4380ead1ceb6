import type { DashboardPullFile, DiffLine, JobDiff } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { request } from "../api/request.ts";
import { Button } from "../parts/button.tsx";
import { keepText, keptText } from "../parts/kept-text.ts";
import { Pending, Problem } from "../parts/notice.tsx";
import { useMayWrite } from "../parts/use-may-write.ts";

export type Side = "before" | "after";

/** What people add to a diff: comments at their lines, and edits. */
export interface LineReview {
  /** Starts a comment. Null: reading only. */
  onLine: ((path: string, side: Side, line: number) => void) | null;
  /** What is shown below a line. Null: nothing. `lines`: those of the file. */
  notesAt(path: string, side: Side, line: number, lines: readonly DiffLine[]): ReactNode;
  /** What is shown above the file's lines, because its own line is not there. */
  notesAbove(path: string, isShown: (side: Side, line: number) => boolean, lines: readonly DiffLine[]): ReactNode;
  /** Buttons in the file's heading. */
  actionsOf(file: JobDiff["files"][number], lines: readonly DiffLine[]): ReactNode;
  /** What takes the place of the file's lines. Null: nothing. */
  bodyOf(path: string): ReactNode;
  /** Opens the editor at a line. Null: it cannot be edited. */
  onEdit: ((path: string, line: number) => void) | null;
  /** The files that the reader has viewed, which are folded. Absent: not noted. */
  viewed?: { paths: ReadonlySet<string>; set(path: string, isViewed: boolean): void };
}

interface EditorProps {
  /** The pull request's path in the API. */
  pullPath: string;
  path: string;
  /** Where the cursor begins. */
  line?: number | undefined;
  onClose(): void;
}

/** Puts the cursor at the beginning of a line, in the middle of the field. */
export function showLineIn(field: HTMLTextAreaElement | null, line: number | undefined): void {
  if (!field || line === undefined || line < 1) return;
  const lines = field.value.split("\n");
  const at = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  field.focus();
  field.setSelectionRange(at, at + (lines[line - 1]?.length ?? 0));
  field.scrollTop = (field.scrollHeight / lines.length) * (line - 1) - field.clientHeight / 2;
  field.scrollIntoView({ block: "center" });
}

/** Edits a file of a pull request's branch. */
export function FileEditor(props: EditorProps) {
  const file = useQuery({
    queryKey: ["pull-file", props.pullPath, props.path],
    queryFn: ({ signal }) =>
      request<DashboardPullFile>(`${props.pullPath}/file?path=${encodeURIComponent(props.path)}`, { signal }),
    // Reading it again would replace what somebody is editing.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (!file.data) {
    return (
      // As high as the editor.
      <div className={file.error ? "px-4" : "min-h-[calc(60dvh+146px)]"}>
        <Pending error={file.error} />
      </div>
    );
  }
  return <Editor {...props} file={file.data} />;
}

/** What was typed is kept until it is committed, also if the branch changed meanwhile. */
function Editor({ pullPath, path, line, file, onClose }: EditorProps & { file: DashboardPullFile }) {
  const key = `edit.${pullPath}.${path}`;
  // A browser's text field has line feeds only.
  const isCrlf = file.text.includes("\r\n") && !/(^|[^\r])\n/.test(file.text);
  const original = file.text.replaceAll("\r\n", "\n");
  const [text, setText] = useState(() => keptText(key) || original);
  const [message, setMessage] = useState(`Edit ${path.split("/").at(-1)}`);
  const queries = useQueryClient();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => showLineIn(field.current, line), [line]);
  const commit = useMutation({
    mutationFn: () =>
      request(`${pullPath}/edit`, {
        body: { head: file.head, path, text: isCrlf ? text.replaceAll("\n", "\r\n") : text, message },
      }),
    async onSuccess() {
      keepText(key, "");
      await Promise.all(
        ["pull", "job", "diff", "file"].map((first) => queries.invalidateQueries({ queryKey: [first] })),
      );
      onClose();
    },
  });
  function write(words: string) {
    setText(words);
    keepText(key, words === original ? "" : words);
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!commit.isPending) commit.mutate();
  }
  return (
    <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-3 px-4 py-3">
      <textarea
        ref={field}
        aria-label={`Text of ${path}`}
        spellCheck
        maxLength={1024 * 1024}
        className="h-[60dvh] w-full font-mono text-[13px] leading-5"
        value={text}
        onChange={(event) => write(event.target.value)}
      />
      <label className="grid gap-1">
        <span className="font-semibold text-quiet">Commit message</span>
        <input required maxLength={200} value={message} onChange={(event) => setMessage(event.target.value)} />
      </label>
      <Problem error={commit.error} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <Button
          look="plain"
          onClick={() => {
            keepText(key, "");
            onClose();
          }}
        >
          Discard edit
        </Button>
        <Button type="submit" look="primary" disabled={text === original || message.trim() === "" || commit.isPending}>
          {commit.isPending ? "Checking and committing …" : "Commit edit"}
        </Button>
      </div>
    </form>
  );
}

export function HeadButton(props: {
  isOn: boolean;
  onToggle(): void;
  /** It is about to be pressed. */
  onNear?(): unknown;
  label?: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-pressed={props.isOn}
      aria-label={props.label}
      className={`rounded-md px-2 py-1 text-quiet hover:text-ink aria-pressed:bg-hush aria-pressed:text-ink ${props.className ?? ""}`}
      onClick={props.onToggle}
      onPointerEnter={props.onNear}
      onFocus={props.onNear}
    >
      {props.children}
    </button>
  );
}

export function EditButton({ path, ...props }: { path: string; isOn: boolean; onToggle(): void }) {
  return (
    <HeadButton {...props} label={`Edit ${path}`}>
      Edit
    </HeadButton>
  );
}

export interface EditedPlace {
  path: string;
  line?: number | undefined;
}

/** Edits alone, for the page of a job. `pullPath` null: it cannot be edited. */
export function useEdits(pullPath: string | null): LineReview | undefined {
  const mayWrite = useMayWrite();
  const [edited, setEdited] = useState<EditedPlace | null>(null);
  return useMemo(() => {
    if (pullPath === null || !mayWrite) return undefined;
    return {
      onEdit: (path, line) => setEdited({ path, line }),
      onLine: null,
      notesAt: () => null,
      notesAbove: () => null,
      actionsOf: ({ path, change }) =>
        change === "deleted" ? null : (
          <EditButton
            path={path}
            isOn={edited?.path === path}
            onToggle={() => setEdited(edited?.path === path ? null : { path })}
          />
        ),
      bodyOf: (path) =>
        edited?.path === path ? <FileEditor pullPath={pullPath} {...edited} onClose={() => setEdited(null)} /> : null,
    };
  }, [pullPath, mayWrite, edited]);
}
