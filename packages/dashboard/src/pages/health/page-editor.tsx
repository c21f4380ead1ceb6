import type { DashboardEditCheck, DashboardProject } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { request } from "../../api/request.ts";
import { showLineIn } from "../../diff/file-editor.tsx";
import { Button } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { FindingList } from "../../parts/finding-row.tsx";
import { TextInput } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { keepText, keptText } from "../../parts/kept-text.ts";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { usePaused } from "../../parts/use-paused.ts";

interface PageEditorProps {
  project: DashboardProject | undefined;
  projectId: string;
  path: string;
  commit: string;
  text: string;
  line: number;
  onClose(): void;
}

const typingPauseMs = 700;

/** Edits a page of the base branch. The checks follow what is typed, and the result becomes a pull request. */
export function PageEditor({ project, projectId, path, commit, text: given, line, onClose }: PageEditorProps) {
  const key = `edit.${projectId}.${path}`;
  // A browser's text field has line feeds only.
  const isCrlf = given.includes("\r\n") && !/(^|[^\r])\n/.test(given);
  const original = given.replaceAll("\r\n", "\n");
  const [text, setText] = useState(() => keptText(key) || original);
  const [title, setTitle] = useState(`Edit ${path.split("/").at(-1)}`);
  const field = useRef<HTMLTextAreaElement>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  useEffect(() => showLineIn(field.current, line), [line]);
  const body = { commit, path, text: isCrlf ? text.replaceAll("\n", "\r\n") : text };
  const paused = usePaused(body.text, typingPauseMs);
  const check = useQuery({
    queryKey: ["page-check", projectId, path, commit, paused],
    queryFn: ({ signal }) =>
      request<DashboardEditCheck>(`/projects/${projectId}/page/check`, { body: { ...body, text: paused }, signal }),
    enabled: paused !== given,
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
    retry: 2,
  });
  const propose = useMutation({
    mutationFn: () =>
      request<{ number: number; url: string }>(`/projects/${projectId}/page/propose`, { body: { ...body, title } }),
    async onSuccess({ number, url }) {
      keepText(key, "");
      void queries.invalidateQueries({ queryKey: ["pulls"] });
      if (project?.forge === "local") {
        await navigate({ to: "/pulls/$projectId/$number", params: { projectId, number: String(number) } });
      } else location.assign(url);
    },
  });
  const isChanged = text !== original;
  function write(words: string) {
    setText(words);
    keepText(key, words === original ? "" : words);
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!propose.isPending) propose.mutate();
  }
  return (
    <Sheet className="p-4">
      <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-3" aria-label={`Edit ${path}`}>
        <textarea
          ref={field}
          aria-label={`Text of ${path}`}
          spellCheck
          maxLength={1024 * 1024}
          className="h-[50dvh] w-full font-mono text-[13px] leading-5"
          value={text}
          onChange={(event) => write(event.target.value)}
        />
        {/* A place of its own, so that the buttons stay where they are. */}
        <div role="status" className="grid min-h-12 grid-cols-[minmax(0,1fr)] content-start gap-2">
          <CheckResult check={isChanged ? check.data : undefined} isLooking={isChanged && check.isFetching} />
        </div>
        <TextInput label="Title of the pull request" required maxLength={200} value={title} onText={setTitle} />
        <Problem error={propose.error} />
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
          <Button
            type="submit"
            look="primary"
            disabled={!isChanged || title.trim() === "" || propose.isPending || Boolean(check.data?.refusal)}
          >
            {propose.isPending ? "Opening …" : "Open pull request"}
          </Button>
        </div>
      </form>
    </Sheet>
  );
}

function CheckResult({ check, isLooking }: { check: DashboardEditCheck | undefined; isLooking: boolean }) {
  if (!check) return <p className="text-quiet">{isLooking ? "Checking …" : "Checked while you type."}</p>;
  if (check.refusal !== null) {
    return (
      <p className="wrap-anywhere text-warn">
        <VisibleText text={check.refusal} />
      </p>
    );
  }
  const { introduced, fixed } = check;
  return (
    <>
      <p className={`flex items-center gap-1.5 ${introduced.length > 0 ? "text-warn" : "text-good"}`}>
        <Icon name={introduced.length > 0 ? "warning" : "check"} />
        {introduced.length === 0 ? "No new findings" : `${introduced.length} new`}
        {fixed.length > 0 && `, ${fixed.length} fixed`}
        {isLooking && <span className="text-quiet"> · checking …</span>}
      </p>
      {introduced.length > 0 && <FindingList findings={introduced} />}
    </>
  );
}
