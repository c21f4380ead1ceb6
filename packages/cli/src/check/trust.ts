import { join, relative, resolve, sep } from "node:path";
import { canEvaluate, evaluateConfig, trySandbox } from "@emend/runners";
import { type OpenOptions, repositoryAround } from "@emend/site";
import { startBound } from "@emend/tree";
import { safeText } from "../terminal/format.ts";

type Evaluate = NonNullable<OpenOptions["evaluate"]>;

export interface Trust {
  /** Undefined: nothing can be run here. */
  evaluate?: Evaluate;
  /** What was run, and what was not and why. */
  notes: string[];
  /** The configuration that was run. */
  evaluated: string | null;
}

const readAsText = "The check read it as text, and what it computes is unknown.";

/** What `--trust` allows: the site's configuration is run, in the sandbox, once. */
export async function openTrust(dir: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Trust> {
  const path = env.PATH ?? "";
  const sandbox = await trySandbox(startBound, path);
  const trust: Trust = { notes: [], evaluated: null };
  if (sandbox.kind === "unusable") {
    trust.notes.push(
      `--trust: configurations are run only in a sandbox, and ${sandbox.words}. Nothing was run: the check read the configuration as text.`,
    );
    return trust;
  }
  const { dir: inside } = repositoryAround(dir);
  const folder = resolve(dir, ...inside.split("/").flatMap((part) => (part === "" ? [] : [".."])));
  const known = new Map<string, ReturnType<Evaluate>>();
  const evaluate: Evaluate = async (framework, marker) => {
    if (!canEvaluate(framework)) {
      trust.notes.push(`--trust: the configuration of ${framework} is not a program. Nothing was run.`);
      return null;
    }
    const place = relative(folder, join(dir, marker)).split(sep).join("/");
    const result = await evaluateConfig(
      { start: startBound, sandbox, path },
      { folder, marker: place, framework },
      signal,
    );
    if (result.kind === "failed") {
      trust.notes.push(
        `--trust: ${safeText(marker)} could not be run: ${safeText(result.words)}. ${readAsText} If a package is missing, install what the site needs, and check again.`,
      );
      return null;
    }
    trust.evaluated = marker;
    trust.notes.push(`--trust: ran ${safeText(marker)} in the sandbox.`);
    return result.values as Awaited<ReturnType<Evaluate>>;
  };
  trust.evaluate = (framework, marker) => {
    const found = known.get(marker) ?? evaluate(framework, marker);
    known.set(marker, found);
    return found;
  };
  return trust;
}
