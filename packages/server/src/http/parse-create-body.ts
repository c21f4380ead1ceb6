import { isBranchName } from "@emend/base/branch-name.ts";
import { describeMistake } from "@emend/base/describe-mistake.ts";
import { CreateJobBody, idempotencyKeyLengthMax, isLanguageModel, nearName } from "@emend/contract";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Project } from "../accounts/projects/projects.ts";
import { AppError } from "../errors.ts";
import type { NewJobRules } from "../jobs/create-job.ts";

// Lengths are counted here in code points, as the document says; the checker counts grapheme clusters.
const { prompt: _, ...optionalFields } = CreateJobBody.properties;
const shape = Compile(
  Type.Object({ prompt: Type.String({ minLength: 1 }), ...optionalFields, baseRef: Type.Optional(Type.String()) }),
);

/**
 * Validates a create's body against the contract and the project's models. Nothing is coerced; unknown fields are
 * ignored.
 */
export function parseCreateBody(
  body: unknown,
  rules: { promptCodePointsMax: number; models: readonly string[] },
): CreateJobBody {
  if (!shape.Check(body)) throw invalid(wordsFor(shape.Errors(body)[0], body));
  const { prompt, baseRef, model, draft, maxCostUsd, preview, plan, unknown, files } = body;
  if (isLongerThan(prompt, rules.promptCodePointsMax)) {
    throw invalid(`prompt must not have more than ${rules.promptCodePointsMax} characters.`);
  }
  if (baseRef !== undefined && !isBranchName(baseRef)) throw invalid("baseRef is not a valid git branch name.");
  if (model !== undefined && !rules.models.includes(model)) {
    throw invalid(`model must be one that the project allows: ${rules.models.join(", ")}.`);
  }
  return {
    prompt,
    ...(baseRef !== undefined && { baseRef }),
    ...(model !== undefined && { model }),
    ...(draft !== undefined && { draft }),
    ...(maxCostUsd !== undefined && { maxCostUsd }),
    ...(preview !== undefined && { preview }),
    ...(plan !== undefined && { plan }),
    ...(unknown !== undefined && { unknown }),
    ...(files !== undefined && { files }),
  };
}

/** Whether a job plans first: as it asks, or by the project's rule for long prompts. Only a language model can. */
export function plansFirst(body: CreateJobBody, project: Project, model: string): boolean {
  const isLanguage = isLanguageModel(model);
  if (body.plan && !isLanguage) {
    throw invalid(`plan needs a language model, and ${model} is none. Use preview to see what it would change.`);
  }
  const { planPromptsOver: over } = project.settings;
  return body.plan ?? (isLanguage && over > 0 && isLongerThan(body.prompt, over));
}

/** The header's value, or null if it was not sent. */
export function parseIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && header.length > 0 && header.length <= idempotencyKeyLengthMax) return header;
  throw invalid(`Idempotency-Key must have 1 to ${idempotencyKeyLengthMax} characters.`);
}

function isLongerThan(text: string, codePointsMax: number): boolean {
  if (text.length <= codePointsMax) return false;
  let count = 0;
  for (const _ of text) {
    count += 1;
    if (count > codePointsMax) return true;
  }
  return false;
}

function wordsFor(error: Parameters<typeof describeMistake>[0] | undefined, body: unknown): string {
  if (error === undefined || (error.instancePath === "" && error.keyword === "type"))
    return "The body must be an object.";
  const words = `${describeMistake(error, [])}.`;
  if (error.keyword !== "required") return words;
  const sent = Object.keys(Object(body)).find((name) => name.length <= 40 && nearName(name, ["prompt"]) !== undefined);
  return sent === undefined ? words : `${words} The body has \`${sent}\`; did you mean \`prompt\`?`;
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

const hourMs = 3_600_000;

/** A project's rules for new jobs. `model` is the default if a request names none. */
export function newJobRules(project: Project, model: string): NewJobRules {
  const { branchPrefix, limits, createsPerHourMax } = project.settings;
  return {
    repositoryUrl: project.repositoryUrl,
    branchPrefix,
    model,
    costUsdMax: limits.costUsdMax,
    quota: { usesMax: createsPerHourMax, windowMs: hourMs },
  };
}

/** Only the prompt and its files count in a message. */
export function promptOf(body: unknown): unknown {
  if (body === null || typeof body !== "object" || Array.isArray(body)) return body;
  const isRead = (name: string) => name === "files" || !Object.hasOwn(optionalFields, name);
  return Object.fromEntries(Object.entries(body).filter(([name]) => isRead(name)));
}
