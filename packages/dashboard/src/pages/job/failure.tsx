import type { FailureCode, JobRun } from "@emend/contract";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

const whatToDo: Record<FailureCode, string> = {
  model_unavailable: "Check the model's credential and address with `emend doctor`, then run the job again.",
  budget_exceeded: "Raise the project's limits, or ask for less at once, and run it again.",
  timeout: "Raise the project's time limit, or ask for less at once, and run it again.",
  cancelled: "Run it again when you want it after all.",
  policy_denied: "Allow the path in the project's policy, or word the job so that it leaves it alone.",
  branch_conflict: "Somebody else's commit is on the job's branch. Run the job again: it gets a branch of its own.",
  forge_rejected: "Read the forge's words above; often the token lacks a permission.",
  forge_unavailable: "The forge did not answer for long. Run the job again once it does.",
  repository_unavailable: "Check the repository's address and the project's token.",
  instruction_not_understood: "Word it as one of the forms in docs/rules.md, or set a model for the project.",
  internal: "This is a fault of Emend: the server's log says more. Running it again may help.",
};

/** What went wrong, in the server's words, what to do about it, and the way to say it differently. */
export function Failure({ failure, onReword }: { failure: NonNullable<JobRun["failure"]>; onReword(): void }) {
  return (
    <section className="grid gap-2 rounded-md border border-bad bg-sheet px-4 py-3" aria-label="Failure">
      <p className="flex items-center gap-2 font-semibold text-bad">
        <Icon name="cross" />
        <code>{failure.code}</code>
      </p>
      <p className="whitespace-pre-wrap wrap-anywhere">
        <VisibleText text={failure.message} />
      </p>
      <p className="text-quiet">{whatToDo[failure.code]}</p>
      <p>
        <Button onClick={onReword}>Change the instruction</Button>
      </p>
    </section>
  );
}
