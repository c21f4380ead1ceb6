import { AppError } from "../../errors.ts";
import type { Model } from "../agent.ts";
import { createRulesModel, rulesModelName } from "../rules/rules-model.ts";

type OpenModel = (name: string) => Model;

/** Vendors by the part of a model's name before the slash. A new vendor is one file beside this one and one line here. */
const vendors: Readonly<Record<string, OpenModel>> = {
  emend: openEmendModel,
};

/** The model of this name, or `model_unavailable` in words that say what to set. */
export function resolveModel(name: string): Model {
  const vendor = name.split("/", 1)[0] ?? "";
  const open = Object.hasOwn(vendors, vendor) ? vendors[vendor] : undefined;
  if (!open) throw unavailable(name);
  return open(name);
}

function openEmendModel(name: string): Model {
  if (name !== rulesModelName) throw unavailable(name);
  return createRulesModel();
}

function unavailable(name: string): AppError {
  return new AppError("model_unavailable", {
    publicMessage: `The model ${JSON.stringify(name.slice(0, 200))} is not available here. Set EMEND_MODEL, or the project's model, to one that is: ${rulesModelName} (deterministic, needs no key).`,
  });
}
