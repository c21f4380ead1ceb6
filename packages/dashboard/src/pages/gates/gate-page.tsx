import type { DashboardGate, GateState } from "@emend/contract";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useProjects } from "../../api/projects.tsx";
import { request } from "../../api/request.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { CodeLines, FindingList, type RowMark } from "../../parts/finding-row.tsx";
import { Form, TextInput } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Pending, Problem } from "../../parts/notice.tsx";
import { PagePlace } from "../../parts/page-place.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";

const states: Record<GateState, RowMark> = {
  pending: { icon: "queued", colour: "text-quiet", word: "Pending" },
  passed: { icon: "check", colour: "text-good", word: "Passed" },
  neutral: { icon: "warning", colour: "text-warn", word: "Not blocking" },
  failed: { icon: "cross", colour: "text-bad", word: "Failed" },
};

/** A commit's status: always an icon and a word. */
export function GateMark({ state }: { state: GateState }) {
  const { icon, colour, word } = states[state];
  return (
    <span className={`inline-flex items-center gap-1.5 font-medium whitespace-nowrap ${colour}`}>
      <Icon name={icon} />
      {word}
    </span>
  );
}

const route = getRouteApi("/gates/$id");
const everyMs = 5_000;
/** The job's page shows the whole prompt. */
const promptShownMax = 1_000;

function gateQuery(id: string) {
  return queryOptions({
    queryKey: ["gate", id],
    queryFn: ({ signal }) => request<DashboardGate>(`/gates/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: everyMs,
  });
}

/** The page of a status on a forge: all pages and lines that it is about, and the button that fixes them. */
export function GatePage() {
  const { id } = route.useParams();
  const gate = useQuery(gateQuery(id));
  const { found } = useProjects(gate.data ? [gate.data.projectId] : []);
  if (!gate.data) return <Pending error={gate.error} />;
  const { title, number, url, repository, state, words, refusal, findings, projectId, head } = gate.data;
  const project = found.get(projectId);
  const open = findings.filter(({ verdict }) => verdict?.kind !== "still right");
  const dismissed = findings.filter(({ verdict }) => verdict?.kind === "still right");
  return (
    <>
      <title>{`${title.slice(0, 100)} · #${number} · Emend`}</title>
      <header className="grid grid-cols-[minmax(0,1fr)] gap-3 pt-8 pb-5">
        <h1>
          <VisibleText text={title} /> <span className="font-normal text-quiet">#{number}</span>
        </h1>
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <GateMark state={state} />
          <a href={url} rel="noreferrer" className="underline underline-offset-3">
            The pull request
          </a>
          <span className="min-w-0 truncate text-quiet">
            {repository === "" ? "Docs repository" : <VisibleText text={repository} />} at{" "}
            <code>{head.slice(0, 10)}</code>
          </span>
          <span className="min-w-0 truncate text-quiet">
            <VisibleText text={project?.name ?? projectId} />
          </span>
          <span className="text-quiet">
            <Age at={gate.data.updatedAt} />
          </span>
        </p>
      </header>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-3 px-4 py-3">
          <p className="wrap-anywhere">
            <VisibleText text={words} />
          </p>
          {refusal !== null && <Problem error={`The forge does not show this status. ${refusal}`} />}
          {gate.data.asked && <Asked asked={gate.data.asked} />}
          <Actions gate={gate.data} />
        </Sheet>
        {open.length > 0 && (
          <section aria-label="Places" className="grid grid-cols-[minmax(0,1fr)] gap-2">
            <h2>
              {open.length} {open.length === 1 ? "place" : "places"}
            </h2>
            <Places gate={gate.data} findings={open} />
          </section>
        )}
        {dismissed.length > 0 && (
          <details>
            <summary>
              {dismissed.length} {dismissed.length === 1 ? "place that is" : "places that are"} still right
            </summary>
            <Places gate={gate.data} findings={dismissed} />
          </details>
        )}
      </div>
    </>
  );
}

/** What a model was asked, and how much of the limit that is. */
export function Asked({ asked }: { asked: NonNullable<DashboardGate["asked"]> }) {
  const { requests, requestsMax, costUsd, costUsdMax } = asked;
  const isUsedUp = requests >= requestsMax || costUsd >= costUsdMax;
  return (
    <p className="text-quiet">
      The model answered {requests} of at most {requestsMax} questions, for ${costUsd.toFixed(3)} of at most $
      {costUsdMax.toFixed(2)}.{isUsedUp && " The limit is reached, so the rest was not asked."}
    </p>
  );
}

type Place = DashboardGate["findings"][number];

/** Each place with the page's words, the code before and now, the reason, and what a fix writes. */
function Places({ gate, findings }: { gate: DashboardGate; findings: readonly Place[] }) {
  const mayWrite = useMayWrite();
  return (
    <Sheet className="overflow-hidden">
      <FindingList
        findings={findings}
        place={({ path, line }) => <PagePlace projectId={gate.projectId} path={path} line={line} />}
        more={(finding) => (
          <>
            <Why finding={finding} />
            {mayWrite && finding.severity !== "info" && (
              <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
                {finding.canFix && <FixOne gateId={gate.id} finding={finding} />}
                <Wrong gateId={gate.id} finding={finding} />
              </div>
            )}
          </>
        )}
      />
    </Sheet>
  );
}

const verdictWords: Record<NonNullable<Place["verdict"]>["kind"], string> = {
  "wrong docs": "The model confirms it",
  "still right": "The model says that the page is still right",
  "cannot tell": "The model cannot tell",
};

function Why({ finding: { causes = [], claim, seen, renamed, verdict, sourceUrl } }: { finding: Place }) {
  const shown = claim ?? seen;
  const source = shown && { place: shown.source, url: sourceUrl };
  const fixed = shown && renamed ? previewOf(shown.text, renamed) : null;
  return (
    <>
      {verdict && (
        <p className="wrap-anywhere">
          {verdictWords[verdict.kind]}: <VisibleText text={verdict.reason} />
        </p>
      )}
      {shown && (
        <>
          <CodeLines label="The page" text={shown.text} />
          {shown.was !== "" && source && <CodeLines label="The code before" source={source} text={shown.was} />}
          {shown.now !== null && (
            <CodeLines label="The code now" {...(shown.was === "" && source && { source })} text={shown.now} />
          )}
        </>
      )}
      {fixed !== null && <CodeLines label="The page after the fix" text={fixed} />}
      {!shown && causes.length > 0 && (
        <p className="text-quiet wrap-anywhere">
          It was in{" "}
          <code>
            <VisibleText text={causes.join(", ")} />
          </code>
        </p>
      )}
    </>
  );
}

/** The changed lines of a passage, as a fix without a model writes them. */
function previewOf(text: string, { from, to }: { from: string; to: string }): string | null {
  const changed = text.split("\n").flatMap((line) => (line.includes(from) ? line.replaceAll(from, to) : []));
  return changed.length === 0 ? null : changed.join("\n");
}

/** Of several findings, one: the docs' pull request changes this place only, or this place too if it is open. */
function FixOne({ gateId, finding: { check, path, line, message } }: { gateId: string; finding: Place }) {
  const make = useDocsPull(gateId);
  return (
    <>
      <Problem error={make.error} />
      <Button
        disabled={make.isPending}
        aria-label={`Propose a fix for ${path}:${line}`}
        onClick={() => make.mutate({ only: { check, path, line, message } })}
      >
        Propose a fix
      </Button>
    </>
  );
}

/** Starts the job of the docs' pull request, or gives it one finding more. Goes to its page. */
function useDocsPull(gateId: string) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (body: { only?: Pick<Place, "check" | "path" | "line" | "message"> }) =>
      request<{ jobId: string }>(`/gates/${encodeURIComponent(gateId)}/job`, { body }),
    onSuccess: ({ jobId }) => navigate({ to: "/jobs/$id", params: { id: jobId } }),
  });
}

/** Silences a finding with a reason. The audit log keeps it as a verdict. */
function Wrong({ gateId, finding }: { gateId: string; finding: Place }) {
  const [reason, setReason] = useState<string | null>(null);
  const queries = useQueryClient();
  const { check, path, line, message } = finding;
  const say = useMutation({
    mutationFn: () =>
      request(`/gates/${encodeURIComponent(gateId)}/wrong`, { body: { check, path, line, message, reason } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: gateQuery(gateId).queryKey }),
  });
  if (say.isSuccess) {
    return <p className="text-quiet">Silenced. Emend checks the pull request again without it.</p>;
  }
  if (reason === null) {
    return (
      <p>
        <button type="button" className="text-quiet underline underline-offset-3" onClick={() => setReason("")}>
          This is wrong
        </button>
      </p>
    );
  }
  return (
    <Form action={say} submit="Silence it" isDisabled={reason.trim() === ""} onCancel={() => setReason(null)}>
      <TextInput
        label="Why is the page right?"
        help="This finding is not reported again on this page. The project’s settings list it under Checks."
        value={reason}
        onText={setReason}
        maxLength={500}
        autoFocus
      />
    </Form>
  );
}

/** One button: opens the docs' pull request, or starts the job that creates it. */
function Actions({ gate }: { gate: DashboardGate }) {
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const make = useDocsPull(gate.id);
  const look = useMutation({
    mutationFn: () => request(`/gates/${encodeURIComponent(gate.id)}/look`, { body: {} }),
    onSettled: () => queries.invalidateQueries({ queryKey: gateQuery(gate.id).queryKey }),
  });
  return (
    <>
      <Problem error={make.error ?? look.error} />
      {gate.fix && "cannot" in gate.fix && !gate.jobId && <p className="text-quiet">{gate.fix.cannot}</p>}
      {gate.fix && "prompt" in gate.fix && (
        <details>
          <summary>What the fix asks for</summary>
          <CodeLines label="Code" text={gate.fix.prompt.slice(0, promptShownMax)} />
        </details>
      )}
      <div className="flex flex-wrap gap-2">
        {gate.jobId && (
          <Link to="/jobs/$id" params={{ id: gate.jobId }} className={buttonLook("ordinary")}>
            The job
          </Link>
        )}
        {mayWrite && gate.fix && "prompt" in gate.fix && (
          <Button look="primary" disabled={make.isPending} onClick={() => make.mutate({})}>
            Fix the docs
          </Button>
        )}
        {mayWrite && (
          <Button disabled={look.isPending} onClick={() => look.mutate()}>
            Check again
          </Button>
        )}
      </div>
    </>
  );
}
