import type { DashboardPull } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { sessionQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, Sheet } from "../../parts/dialog.tsx";
import { Form, LinesInput } from "../../parts/form.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { keepText, keptText } from "../../parts/kept-text.ts";
import { Problem } from "../../parts/notice.tsx";
import { namesQuery } from "../../parts/person.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { pullPath, pullQuery } from "./queries.ts";

type Verdict = "approved" | "changes_requested";
type Review = DashboardPull["reviews"][number];

const looks: Record<Review["state"], { icon: IconName; className: string; word: string }> = {
  approved: { icon: "check", className: "text-good", word: "Approved" },
  changes_requested: { icon: "cross", className: "text-bad", word: "Requested changes" },
  requested: { icon: "queued", className: "text-quiet", word: "Review requested" },
};

/** Who approves, who requests changes, and who is asked to review. */
export function Reviewers({ pull }: { pull: DashboardPull }) {
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const address = pullPath({ projectId: pull.projectId, number: String(pull.number) });
  const [wish, setWish] = useState<Verdict | null>(null);
  async function readAgain() {
    await queries.invalidateQueries({
      queryKey: pullQuery({ projectId: pull.projectId, number: String(pull.number) }).queryKey,
    });
    void queries.invalidateQueries({ queryKey: ["inbox"] });
  }
  const ask = useMutation({
    mutationFn: (body: { reviewer: string; isWanted: boolean }) => request(`${address}/reviewers`, { body }),
    onSettled: readAgain,
  });
  const isOpen = pull.state === "open";
  if (!isOpen && pull.reviews.length === 0) return null;
  return (
    <Sheet className="grid gap-2 px-4 py-3">
      <section aria-label="Reviews" className="grid gap-2">
        <h2>Reviews</h2>
        {pull.approvalsMin > 0 && isOpen && (
          <p className="text-quiet">
            A merge needs {pull.approvalsMin === 1 ? "one approval" : `${pull.approvalsMin} approvals`} of the newest
            commit.
          </p>
        )}
        {pull.reviews.length === 0 && <p className="text-quiet">No reviews yet.</p>}
        <ul className="grid gap-1 empty:hidden">
          {pull.reviews.map((review) => (
            <ReviewRow
              key={review.reviewer}
              review={review}
              // Those of the project's settings are not in this pull request.
              onRemove={
                mayWrite && isOpen && review.at !== null
                  ? () => ask.mutate({ reviewer: review.reviewer, isWanted: false })
                  : null
              }
            />
          ))}
        </ul>
        {isOpen && mayWrite && (
          <>
            <div className="flex flex-wrap gap-2">
              <Button onClick={() => setWish("approved")}>
                <Icon name="check" className="text-good" />
                Approve
              </Button>
              <Button onClick={() => setWish("changes_requested")}>Request changes</Button>
            </div>
            <AskReviewer pull={pull} onAsk={(reviewer) => ask.mutate({ reviewer, isWanted: true })} />
          </>
        )}
        <Problem error={ask.error} />
        {wish !== null && (
          <ReviewDialog
            key={wish}
            pull={pull}
            verdict={wish}
            onDone={async () => {
              await readAgain();
              setWish(null);
            }}
            onClose={() => setWish(null)}
          />
        )}
      </section>
    </Sheet>
  );
}

function ReviewRow({ review, onRemove }: { review: Review; onRemove: (() => void) | null }) {
  const you = useQuery(sessionQuery).data?.subject;
  const { icon, className, word } = looks[review.state];
  return (
    <li className="flex items-start gap-2">
      <Icon name={icon} className={`mt-0.5 ${className}`} />
      <span className="min-w-0 flex-1 wrap-anywhere">
        <span title={review.reviewer}>{review.reviewer === you ? "you" : <VisibleText text={review.name} />}</span>{" "}
        <span className="text-quiet">· {word}</span>
        {review.state === "approved" && !review.isCurrent && <span className="text-warn"> · an earlier commit</span>}
      </span>
      {onRemove && (
        <button
          type="button"
          className="min-h-6 text-quiet underline underline-offset-3 hover:text-ink"
          aria-label={`Remove the review of ${review.name}`}
          onClick={onRemove}
        >
          Remove
        </button>
      )}
    </li>
  );
}

/** The other members who can review. */
function AskReviewer({ pull, onAsk }: { pull: DashboardPull; onAsk(reviewer: string): void }) {
  const you = useQuery(sessionQuery).data?.subject.toLowerCase();
  const people = useQuery(namesQuery).data?.people;
  const asked = new Set(
    pull.reviews.filter(({ state }) => state === "requested").map(({ reviewer }) => reviewer.toLowerCase()),
  );
  const others = (people ?? []).filter(
    ({ email, mayReview }) => mayReview && email.toLowerCase() !== you && !asked.has(email.toLowerCase()),
  );
  return (
    <select
      aria-label="Ask for a review"
      className="w-full"
      value=""
      disabled={others.length === 0}
      onChange={(event) => onAsk(event.target.value)}
    >
      <option value="" disabled>
        {people && others.length === 0 ? "No other members to ask" : "Ask somebody for a review …"}
      </option>
      {others.map(({ email, name }) => (
        <option key={email} value={email}>
          {name}
        </option>
      ))}
    </select>
  );
}

const dialogs: Record<Verdict, { title: string; help: string }> = {
  approved: { title: "Approve", help: "Can be empty. It becomes a comment." },
  changes_requested: {
    title: "Request changes",
    help: "It becomes a comment. If Emend opened this pull request, it makes the changes, with your open comments on lines.",
  },
};

/** The text is kept until the server accepts it. */
function ReviewDialog(props: { pull: DashboardPull; verdict: Verdict; onDone(): Promise<void>; onClose(): void }) {
  const { pull, verdict } = props;
  const key = `review.${pull.projectId}.${pull.number}`;
  const [text, setText] = useState(() => keptText(key));
  const address = pullPath({ projectId: pull.projectId, number: String(pull.number) });
  const send = useMutation({
    mutationFn: () => request(`${address}/review`, { body: { head: pull.headCommit, verdict, text } }),
    async onSuccess() {
      keepText(key, "");
      await props.onDone();
    },
  });
  const { title, help } = dialogs[verdict];
  return (
    <Dialog title={`${title} #${pull.number}`} onClose={props.onClose}>
      <Form action={send} submit={title} onCancel={props.onClose}>
        <LinesInput
          label="Comment"
          help={help}
          value={text}
          maxLength={20_000}
          onText={(words) => {
            setText(words);
            keepText(key, words);
          }}
        />
      </Form>
    </Dialog>
  );
}
