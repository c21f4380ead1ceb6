import type { FailureCode } from "@emend/contract";

/**
 * What a failed job offers first, and can succeed with. `retry`: where it stopped. `again`: the same prompt as a new job.
 * `reword`: another prompt. The others open the place where the cause can be changed.
 */
type FailureAction = "retry" | "again" | "reword" | "model" | "budget" | "policy" | "connection";

interface FailureAdvice {
  title: string;
  words: string;
  action: FailureAction;
}

/** Every failure, in a writer's words, with its one action. */
export const failureAdvice: Readonly<Record<FailureCode, FailureAdvice>> = {
  model_unavailable: {
    title: "The model gave no usable answer",
    words: "Test the model and its key, or choose another model. Then retry: the work so far is saved.",
    action: "model",
  },
  budget_exceeded: {
    title: "The job reached its budget",
    words: "Raise the project's limits, or ask for less in one job. The finished work is kept.",
    action: "budget",
  },
  timeout: {
    title: "The job reached its time limit",
    words: "Raise the project's limits, or ask for less in one job. The finished work is kept.",
    action: "budget",
  },
  cancelled: { title: "Cancelled", words: "Nothing was published.", action: "again" },
  policy_denied: {
    title: "The project's policy forbids this change",
    words: "Allow the paths in the project's policy, or ask for a change elsewhere.",
    action: "policy",
  },
  branch_conflict: {
    title: "Somebody else changed the job's branch",
    words: "A new job gets a branch of its own.",
    action: "again",
  },
  forge_rejected: {
    title: "The repository's host refused the change",
    words: "Often the token lacks a permission. Test the connection, then retry: the work is saved.",
    action: "connection",
  },
  forge_unavailable: {
    title: "The repository's host did not answer",
    words: "The work is saved. Retry publishes it without calling a model.",
    action: "retry",
  },
  repository_unavailable: {
    title: "Emend can't read the repository",
    words: "Check that it exists, has a first commit, and that the project's token can read it.",
    action: "connection",
  },
  instruction_not_understood: {
    title: "The built-in rules did not understand the instruction",
    words: "They run an instruction only if they understand all of it. A language model takes free text.",
    action: "reword",
  },
  internal: {
    title: "Emend failed unexpectedly",
    words: "Retry it. If it happens again, send the job's id to your operator: the server's log has details.",
    action: "retry",
  },
};
