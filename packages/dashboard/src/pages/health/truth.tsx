import type { Claim, DashboardHealth, DashboardSiteCheck, DashboardTruthPage } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { healthQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { followOwnJob } from "../../layout/own-jobs.tsx";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Chart } from "../../parts/chart.tsx";
import { ChooseModel } from "../../parts/choose-model.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { FindingList } from "../../parts/finding-row.tsx";
import { localTime } from "../../parts/format.ts";
import { Problem } from "../../parts/notice.tsx";
import { PagePlace } from "../../parts/page-place.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { Asked } from "../gates/gate-page.tsx";

/** The job's page shows the whole prompt. */
const promptShownMax = 1_000;

/** What the pages say about code that has changed since: over time, and by page with its cause and its fix. */
export function Truth({ projectId, health }: { projectId: string; health: DashboardHealth }) {
  const latest = health.checks.at(-1);
  const isCompared = latest !== undefined && latest.sources.length > 0;
  if (!isCompared && health.truth.length === 0) return null;
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label="True to the code">
      <h2>True to the code</h2>
      {latest?.sources.map(({ repository, problem }) => (
        <Problem key={repository ?? ""} error={problem && `${repository ?? "This repository"}: ${problem}`} />
      ))}
      <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-3 p-4">
        <Chart title="Out of step with the code" kind="lines" {...seriesOf(health.checks)} />
        {latest && isCompared && <ComparedWith sources={latest.sources} />}
        {health.backfills.map(({ repository, ...asked }) => (
          <div key={repository ?? ""} className="wrap-anywhere text-quiet">
            <p>
              When <VisibleText text={repository ?? "this repository"} /> was new, Emend compared its last 30 days, at
              most 200 commits.
            </p>
            <Asked asked={asked} />
          </div>
        ))}
        {health.truth.length === 0 && <p>{agreement(latest?.sources ?? [])}</p>}
      </Sheet>
      {health.truth.map((page) => (
        <OutdatedPage key={page.path} projectId={projectId} page={page} />
      ))}
    </section>
  );
}

/** Without every source read, nobody knows whether the pages are right. */
function agreement(sources: DashboardSiteCheck["sources"]): string {
  if (sources.every(({ commit, problem }) => commit !== null && problem === null))
    return "Every page agrees with the code.";
  const isAnyRead = sources.some(({ commit }) => commit !== null);
  return isAnyRead
    ? "No known differences. Some of the code was not compared."
    : "The pages were not compared with the code.";
}

function seriesOf(checks: readonly DashboardSiteCheck[]) {
  const count = (name: string) => checks.map(({ counts }) => counts.find(({ check }) => check === name)?.count ?? 0);
  return {
    points: checks.map(({ checkedAt }) => localTime(checkedAt)),
    series: [
      { name: "outdated names", colour: "text-bad", values: count("stale-reference") },
      { name: "texts whose code changed", colour: "text-warn", dash: "6 3", values: count("changed-claim") },
      { name: "texts whose code is gone", colour: "text-ink", dash: "2 3", values: count("gone-claim") },
    ],
  };
}

function ComparedWith({ sources }: Pick<DashboardSiteCheck, "sources">) {
  const read = sources.filter(({ commit }) => commit !== null);
  if (read.length === 0) return null;
  return (
    <p className="wrap-anywhere text-quiet">
      Compared with{" "}
      {read.map(({ repository, commit }, index) => (
        <span key={repository ?? ""}>
          {index > 0 && ", "}
          <VisibleText text={repository ?? "this repository"} /> at <code>{commit?.slice(0, 10)}</code>
        </span>
      ))}
      . Emend compares after each new commit.
    </p>
  );
}

/** One page: each place with its cause, and the job that repairs it. */
function OutdatedPage({ projectId, page }: { projectId: string; page: DashboardTruthPage }) {
  const mayWrite = useMayWrite();
  const { path, findings, fix } = page;
  return (
    <Sheet className="overflow-hidden">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-4 py-2">
        <h3 className="min-w-0 font-mono text-[13px] wrap-anywhere">
          <Link to="/health/page" search={{ project: projectId, path }} className="underline underline-offset-3">
            <VisibleText text={path} />
          </Link>
        </h3>
        {mayWrite && "prompt" in fix && <Repair projectId={projectId} path={path} fix={fix} />}
      </div>
      {mayWrite && "cannot" in fix && (
        <p className="border-b border-line px-4 py-2 text-quiet">
          {fix.cannot} <ChooseModel projectId={projectId} />
        </p>
      )}
      <FindingList
        findings={findings}
        place={({ line }) => <PagePlace projectId={projectId} path={path} line={line} />}
        more={({ cause, repository, claimId, check }) => (
          <>
            {cause && <Cause cause={cause} repository={repository} />}
            {mayWrite && claimId && (
              <ClaimActions projectId={projectId} id={claimId} mayConfirm={check === "changed-claim"} />
            )}
          </>
        )}
      />
    </Sheet>
  );
}

function Repair(props: {
  projectId: string;
  path: string;
  fix: Extract<DashboardTruthPage["fix"], { prompt: string }>;
}) {
  const { prompt, underWay } = props.fix;
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: () => request<{ id: string }>(`/projects/${props.projectId}/jobs`, { body: { prompt } }),
    async onSuccess({ id }) {
      followOwnJob(id);
      await navigate({ to: "/jobs/$id", params: { id } });
    },
  });
  if (underWay) {
    return (
      <Link to="/jobs/$id" params={{ id: underWay.jobId }} className={buttonLook("ordinary")}>
        {underWay.number === null ? "In progress" : `Waits in pull request #${underWay.number}`}
      </Link>
    );
  }
  return (
    <>
      <Button
        disabled={start.isPending}
        title={prompt.slice(0, promptShownMax)}
        aria-label={`Fix ${props.path}`}
        onClick={() => start.mutate()}
      >
        Fix page
      </Button>
      {start.error && (
        <div className="basis-full">
          <Problem error={start.error} />
        </div>
      )}
    </>
  );
}

/** The change of the code that a finding comes from. */
export function Cause({ cause, repository }: { cause: NonNullable<Claim["cause"]>; repository: string | null }) {
  return (
    <p className="wrap-anywhere text-quiet">
      <VisibleText text={cause.message} /> · <code>{cause.commit.slice(0, 10)}</code> by{" "}
      <VisibleText text={cause.author} />, {cause.date}
      {cause.pullRequest !== null && `, pull request #${cause.pullRequest}`}
      {repository !== null && (
        <>
          {" "}
          in <VisibleText text={repository} />
        </>
      )}
    </p>
  );
}

/** What a person can say about a claim. */
export function ClaimActions(props: { projectId: string; id: string; mayConfirm: boolean }) {
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (end: "confirm" | "remove") =>
      request<Claim>(`/projects/${props.projectId}/claims/${props.id}/${end}`, { body: {} }),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: healthQuery(props.projectId).queryKey }),
        queries.invalidateQueries({ queryKey: ["page", props.projectId] }),
      ]),
  });
  return (
    <div className="flex flex-wrap items-center gap-2 pt-1">
      {props.mayConfirm && (
        <Button disabled={change.isPending} onClick={() => change.mutate("confirm")}>
          The page is right
        </Button>
      )}
      <Button look="plain" disabled={change.isPending} onClick={() => change.mutate("remove")}>
        Remove claim
      </Button>
      <Problem error={change.error} />
    </div>
  );
}
