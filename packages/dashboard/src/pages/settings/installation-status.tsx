import type { DashboardStatus } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { statusQuery } from "../../api/account-queries.ts";
import { request } from "../../api/request.ts";
import { FigureRow } from "../../parts/bars.tsx";
import { Button, CopyBlock } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { durationOf, localTime } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { Pending, Problem } from "../../parts/notice.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";

/** The installation's status; refreshes automatically. */
export function InstallationStatus() {
  const { data, error } = useQuery(statusQuery);
  if (!data) return <Pending error={error} />;
  const alive = data.nodes.filter(({ isAlive }) => isAlive);
  const workers = alive.filter(({ role }) => role !== "api");
  const { queue } = data;
  const waiting = data.outbox.filter(({ nextTryAt }) => nextTryAt !== null);
  const givenUp = data.outbox.filter(({ nextTryAt }) => nextTryAt === null);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
      <FigureRow
        figures={[
          { word: "Version", figure: data.version, note: `Postgres ${data.database.version.split(" ")[0]}` },
          { word: "Processes", figure: String(alive.length), note: counted(workers.length, "worker") },
          { word: "Running jobs", figure: String(queue.running) },
          {
            word: "Waiting jobs",
            figure: String(queue.waiting),
            ...(queue.waiting > 0 && { note: `longest for ${durationOf(queue.oldestSeconds * 1000)}` }),
          },
          { word: "Database", figure: sizeOf(data.database.bytes) },
          { word: "Webhooks to send", figure: String(data.deliveriesDue) },
        ]}
      />
      {workers.length === 0 && (
        <p className="flex items-center gap-1.5 font-medium text-bad">
          <Icon name="warning" /> No worker is running, so no job starts. Start a process with the role all or worker.
        </p>
      )}
      <Section title="Processes">
        <ul className="divide-y divide-line">
          {data.nodes.map((node) => (
            <Row
              key={node.id}
              isGood={node.isAlive && node.problem === null}
              words={node.isAlive ? (node.problem ?? "Running") : "Not responding"}
              name={node.host}
            >
              {roleNames[node.role] ?? node.role} · {node.version} · started <Age at={node.startedAt} /> · last seen{" "}
              <Age at={node.seenAt} />
            </Row>
          ))}
        </ul>
      </Section>
      {waiting.length > 0 && (
        <Section title="Waiting for another service">
          <ul className="divide-y divide-line">
            {waiting.map(({ kind, subject, problem, since, nextTryAt }) => (
              <Row key={kind + subject} isGood={false} words="Retrying" name={taskNames[kind] ?? kind}>
                <VisibleText text={`${problem} ${subject}`} /> · since <Age at={since} />
                {nextTryAt && ` · next try ${localTime(nextTryAt)}`}
              </Row>
            ))}
          </ul>
        </Section>
      )}
      {givenUp.length > 0 && (
        <Section title="Given up">
          <ul className="divide-y divide-line">
            {givenUp.map((task) => (
              <GivenUp key={task.kind + task.subject} task={task} />
            ))}
          </ul>
        </Section>
      )}
      <Section title="Models">
        <ul className="divide-y divide-line">
          {data.models.map(({ name, url, problem }) => (
            <Row key={name} isGood={problem === null} words={problem ?? (url ? "Reachable" : "Built in")} name={name}>
              {url ?? "Runs in Emend. It needs no key and no network."}
            </Row>
          ))}
        </ul>
      </Section>
      <Section title="Forges">
        <ul className="divide-y divide-line">
          {data.forges.map(({ forge, url, projects, problem }) => (
            <Row key={forge + url} isGood={problem === null} words={problem ?? "Reachable"} name={url}>
              {forge} · {counted(projects, "project")}
            </Row>
          ))}
          {data.forges.length === 0 && <li className="px-4 py-2 text-quiet">All projects are hosted by Emend.</li>}
        </ul>
      </Section>
      <Section title="Backup">
        <LastBackup at={data.lastBackupAt} />
      </Section>
    </div>
  );
}

function GivenUp({ task }: { task: DashboardStatus["outbox"][number] }) {
  const client = useQueryClient();
  const { kind, subject, problem, since } = task;
  const retry = useMutation({
    mutationFn: () => request("/tasks/retry", { body: { kind, subject } }),
    onSettled: () => client.invalidateQueries(statusQuery),
  });
  const name = taskNames[kind] ?? kind;
  return (
    <Row isGood={false} words="Given up" name={name}>
      <span className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <span className="min-w-0 wrap-anywhere">
          <VisibleText text={`${problem} ${subject}`} /> · <Age at={since} />
        </span>
        <Button onClick={() => retry.mutate()} disabled={retry.isPending} aria-label={`Run again: ${name} ${subject}`}>
          Run again
        </Button>
      </span>
      {retry.error && <Problem error={retry.error} />}
    </Row>
  );
}

const taskNames: Readonly<Record<string, string>> = {
  answer_comment: "Answer on a pull request",
  answer_issue: "Answer on an issue",
  hear_chat: "Message in a chat",
  show_chat: "Status in a chat",
  learn_from_reviews: "Lessons of reviews",
  hear_issue: "Request on an issue",
  look_at_gate: "Statuses of pull requests",
  look_at_claims: "Comparison of claims with the code",
  check_site: "Check of a site",
  send_email: "Email",
  set_details: "Labels and reviewers",
};
const roleNames: Readonly<Record<string, string>> = { all: "API and worker", api: "API", worker: "Worker" };

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2>{title}</h2>
      <Sheet>{children}</Sheet>
    </section>
  );
}

function Row(props: { name: string; isGood: boolean; words: string; children: ReactNode }) {
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 px-4 py-2">
      <p className="min-w-0 font-medium wrap-anywhere">
        <VisibleText text={props.name} />
      </p>
      <p
        className={`inline-flex items-center gap-1.5 text-right font-medium ${props.isGood ? "text-good" : "text-bad"}`}
      >
        <Icon name={props.isGood ? "check" : "cross"} />
        {props.words}
      </p>
      <p className="col-span-2 min-w-0 text-quiet wrap-anywhere">{props.children}</p>
    </li>
  );
}

function LastBackup({ at }: { at: DashboardStatus["lastBackupAt"] }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 px-4 py-3">
      <p>
        {at === null ? (
          "No backup yet. Make one on the server:"
        ) : (
          <>
            The last backup was made <Age at={at} />.
          </>
        )}
      </p>
      {at === null && <CopyBlock text="emend backup emend-backup" />}
    </div>
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function sizeOf(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const figure = bytes / 1000 ** power;
  return `${figure.toFixed(figure < 10 && power > 0 ? 1 : 0)} ${units[power]}`;
}
