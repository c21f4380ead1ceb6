import type { DashboardPull } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm, Sheet } from "../../parts/dialog.tsx";
import { CheckInput } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/notice.tsx";
import { Person } from "../../parts/person.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { GateMark } from "../gates/gate-page.tsx";
import { pullPath, pullQuery } from "./queries.ts";

/** The pull request's actions and state. */
export function MergeBox({ pull }: { pull: DashboardPull }) {
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const name = { projectId: pull.projectId, number: String(pull.number) };
  const [asking, setAsking] = useState<"merge" | "close" | null>(null);
  const [wish, setWish] = useState({ squash: false, removeBranch: true });
  async function readAgain() {
    await queries.invalidateQueries({ queryKey: pullQuery(name).queryKey });
    void queries.invalidateQueries({ queryKey: ["pulls"] });
    void queries.invalidateQueries({ queryKey: ["job"] });
  }
  const act = useMutation({
    mutationFn: () => request(`${pullPath(name)}/ready`, { body: {} }),
    onSettled: readAgain,
  });
  const { mergeability, verdict } = pull;
  const isOpen = pull.state === "open";
  return (
    <Sheet className="grid gap-2 px-4 py-3">
      <section aria-label="Merging" className="grid gap-2">
        <Standing pull={pull} />
        {isOpen && <Statuses statuses={pull.statuses} />}
        <Problem error={act.error} />
        {isOpen && !mayWrite && <p className="text-quiet">You need the maintainer role to merge or close.</p>}
        {isOpen && mayWrite && (
          <div className="flex flex-wrap gap-2">
            {(verdict.kind === "ready" || verdict.kind === "review") && (
              <Button look="primary" disabled={act.isPending} onClick={() => setAsking("merge")}>
                <Icon name="merged" />
                Merge
              </Button>
            )}
            {asking === "merge" && mergeability.kind === "clean" && (
              <Confirm
                title={`Merge #${pull.number}?`}
                submit="Merge pull request"
                look="primary"
                onConfirm={() =>
                  request(`${pullPath(name)}/merge`, { body: { head: mergeability.head, ...wish } }).finally(readAgain)
                }
                onClose={() => setAsking(null)}
              >
                <p className="wrap-anywhere">
                  This merges{" "}
                  <code>
                    <VisibleText text={pull.headRef} />
                  </code>{" "}
                  into{" "}
                  <code>
                    <VisibleText text={pull.baseRef} />
                  </code>
                  .
                </p>
                <CheckInput
                  label="Combine all commits into one (squash)"
                  isOn={wish.squash}
                  onToggle={(squash) => setWish({ ...wish, squash })}
                />
                <CheckInput
                  label="Delete the branch after the merge"
                  isOn={wish.removeBranch}
                  onToggle={(removeBranch) => setWish({ ...wish, removeBranch })}
                />
              </Confirm>
            )}
            {pull.draft && (
              <Button disabled={act.isPending} onClick={() => act.mutate()}>
                Mark ready
              </Button>
            )}
            <Button look="danger" disabled={act.isPending} onClick={() => setAsking("close")}>
              Close
            </Button>
            {asking === "close" && (
              <Confirm
                title={`Close #${pull.number} without merging?`}
                submit="Close pull request"
                onConfirm={() => request(`${pullPath(name)}/close`, { body: {} }).finally(readAgain)}
                onClose={() => setAsking(null)}
              >
                <p>The branch is kept. A closed pull request can't be opened again.</p>
              </Confirm>
            )}
          </div>
        )}
      </section>
    </Sheet>
  );
}

/** The statuses of the commit that would be merged. Of several, each has its name. */
function Statuses({ statuses }: Pick<DashboardPull, "statuses">) {
  if (statuses.length === 0) return null;
  return (
    <ul aria-label="Statuses" className="grid gap-1">
      {statuses.map(({ name, state, words, url }) => (
        <li key={name} className="flex flex-wrap gap-x-2 wrap-anywhere">
          <GateMark state={state} />
          <a href={url} className="min-w-0 underline underline-offset-3">
            <VisibleText text={words} />
          </a>
          {statuses.length > 1 && (
            <span className="text-quiet">
              <VisibleText text={name} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function Standing({ pull }: { pull: DashboardPull }) {
  const { mergeability, verdict } = pull;
  const found = verdict.words !== "" && (
    <p className="wrap-anywhere text-warn">
      <VisibleText text={verdict.words} />
    </p>
  );
  if (verdict.kind === "merged") {
    return (
      <>
        <h2 className="text-merged">Merged</h2>
        <p>
          <Age at={pull.updatedAt} />
          {pull.mergedBy && (
            <>
              {" by "}
              <Person subject={pull.mergedBy} />
            </>
          )}
          {pull.mergeCommit && (
            <>
              {" as "}
              <code>{pull.mergeCommit.slice(0, 10)}</code>
            </>
          )}
        </p>
      </>
    );
  }
  if (verdict.kind === "closed") {
    return (
      <>
        <h2>Closed</h2>
        <p className="text-quiet">
          <Age at={pull.updatedAt} /> without merging. The branch is kept.
        </p>
      </>
    );
  }
  switch (verdict.kind) {
    case "draft":
      return (
        <>
          <h2>A draft</h2>
          {found}
          <p>No conflicts. Mark it ready before you merge it.</p>
        </>
      );
    case "review":
      return (
        <>
          <h2>Review before you merge</h2>
          {found}
          <p>It has no conflicts. Address this, or merge it as it is.</p>
        </>
      );
    case "ready":
      return (
        <>
          <h2>Ready to merge</h2>
          <p className="flex items-center gap-1.5 text-good">
            <Icon name="check" />
            Merges cleanly
          </p>
        </>
      );
    case "conflicts":
      return (
        <>
          <h2>Conflicts</h2>
          <p className="flex items-center gap-1.5 text-bad">
            <Icon name="cross" />
            Changed on both sides:
          </p>
          <ul className="max-h-40 overflow-y-auto">
            {(mergeability.kind === "conflicts" ? mergeability.paths : []).map((path) => (
              <li key={path} className="wrap-anywhere">
                <code>
                  <VisibleText text={path} />
                </code>
              </li>
            ))}
          </ul>
          <p className="text-quiet">
            Run the job again for a new pull request, or merge the base into the branch, resolve the conflicts and push.
          </p>
        </>
      );
    case "blocked":
      return (
        <>
          <h2>Can't be merged yet</h2>
          <p className="text-bad wrap-anywhere">
            <VisibleText text={verdict.words} />
          </p>
        </>
      );
    case "contained":
      return (
        <>
          <h2>Nothing to merge</h2>
          <p>{verdict.words}</p>
        </>
      );
  }
}
