import type { AskedConstruct, JobRun } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { jobQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { followOwnJob } from "../../layout/own-jobs.tsx";
import { Button } from "../../parts/button.tsx";
import { localTime } from "../../parts/format.ts";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";

/** Of each kind; the rest is folded. */
const shownMax = 4;

/** What Emend does not know on the site, and the three answers of a person. */
export function Approval({ run }: { run: JobRun }) {
  const { message = "", constructs = [], until } = run.waiting ?? {};
  return (
    <section
      aria-label="Waiting for you"
      className="grid grid-cols-[minmax(0,1fr)] gap-3 rounded-md border border-warn bg-sheet px-4 py-3"
    >
      <div className="grid gap-1">
        <h2 className="text-warn">Waiting for you</h2>
        <p className="wrap-anywhere font-semibold" role="status">
          <VisibleText text={message} />
        </p>
      </div>
      <Constructs constructs={constructs} />
      <ApprovalButtons jobId={run.id} canDecline />
      <p className="text-quiet">
        Nothing was pushed.{" "}
        {until && `Without an answer by ${localTime(until)}, the job fails and its change is kept. `}
        To have it changed, write to the agent below.
      </p>
    </section>
  );
}

export function Constructs({ constructs }: { constructs: readonly AskedConstruct[] }) {
  const kinds = [...Map.groupBy(constructs, ({ kind }) => kind)];
  return kinds.map(([kind, group]) => <Kind key={kind} kind={kind} group={group} />);
}

function Kind({ kind, group }: { kind: string; group: readonly AskedConstruct[] }) {
  const count = group.reduce((sum, one) => sum + one.count, 0);
  const rest = group.slice(shownMax);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h3 className="font-semibold">
        {kind.charAt(0).toUpperCase()}
        {kind.slice(1)} <span className="font-normal text-quiet">{count.toLocaleString("en")}</span>
      </h3>
      <Items group={group.slice(0, shownMax)} />
      {rest.length > 0 && (
        <details>
          <summary className="text-quiet">{rest.length} more</summary>
          <div className="pt-2">
            <Items group={rest} />
          </div>
        </details>
      )}
    </div>
  );
}

function Items({ group }: { group: readonly AskedConstruct[] }) {
  return (
    <ul className="grid grid-cols-[minmax(0,1fr)] gap-3">
      {group.map((one) => (
        <li key={`${one.path} ${one.line} ${one.text}`} className="grid grid-cols-[minmax(0,1fr)] gap-1">
          <p className="wrap-anywhere">
            <code>
              <VisibleText text={one.path} />:{one.line}
            </code>
            {one.count > 1 && <span className="text-quiet"> · {one.count.toLocaleString("en")} times</span>}
          </p>
          <Lines construct={one} />
          <p className="text-quiet wrap-anywhere">
            <VisibleText text={one.reason} />
          </p>
        </li>
      ))}
    </ul>
  );
}

/** The page's own lines, with those of the construct marked. Of one in no file, its text. */
function Lines({ construct: { around, line, text } }: { construct: AskedConstruct }) {
  const lines = around?.lines ?? text.split("\n");
  const first = around?.line ?? line;
  const last = line + text.split("\n").length - 1;
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
      className="max-h-48 overflow-auto rounded-md bg-hush py-1 text-[12px] leading-[18px] whitespace-pre-wrap wrap-anywhere"
    >
      {lines.map((one, at) => {
        const number = first + at;
        const isOwn = number >= line && number <= last;
        return (
          <code
            key={number}
            className={`grid grid-cols-[36px_minmax(0,1fr)] gap-2 px-2 text-[12px] leading-[18px] ${isOwn ? "bg-sheet font-semibold" : "text-quiet"}`}
          >
            <span className="text-right text-quiet select-none">{number}</span>
            <span>
              <VisibleText text={one === "" ? " " : one} />
            </span>
          </code>
        );
      })}
    </pre>
  );
}

/** Publish, publish and allow, and while the job waits also no. */
export function ApprovalButtons({ jobId, canDecline = false }: { jobId: string; canDecline?: boolean }) {
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const answer = useMutation({
    mutationFn: ({ path, body }: { path: "approve" | "decline"; body: object }) =>
      request(`/jobs/${jobId}/${path}`, { body }),
    onSuccess: () => followOwnJob(jobId),
    // Somebody else may have answered.
    onSettled: () => queries.invalidateQueries({ queryKey: jobQuery(jobId).queryKey }),
  });
  if (!mayWrite) return <p className="text-quiet">A maintainer or an owner can publish it.</p>;
  const isBusy = answer.isPending;
  return (
    <div className="grid gap-2">
      <p className="flex flex-wrap gap-2">
        <Button look="primary" disabled={isBusy} onClick={() => answer.mutate({ path: "approve", body: {} })}>
          Publish
        </Button>
        <Button
          className="text-left whitespace-normal!"
          disabled={isBusy}
          onClick={() => answer.mutate({ path: "approve", body: { remember: true } })}
        >
          Publish and allow here from now on
        </Button>
        {canDecline && (
          <Button look="danger" disabled={isBusy} onClick={() => answer.mutate({ path: "decline", body: {} })}>
            Don't publish
          </Button>
        )}
      </p>
      <Problem error={answer.error} />
    </div>
  );
}
