import type { Automation, AutomationRun, CreateAutomationBody, EditAutomationBody } from "@emend/contract";
import type { CallOptions, Connection } from "./connection.ts";
import { projectPath, segment } from "./jobs.ts";
import { parseBody, request } from "./request.ts";

/** What starts jobs of a project on a schedule, after a push or on a pull request. */
export interface Automations {
  list(options?: CallOptions): Promise<Automation[]>;
  /** `{ preset: "links" }`, or a name, a prompt and a trigger. */
  create(input: CreateAutomationBody, options?: CallOptions): Promise<Automation>;
  /** Changes what is given. `{ paused: true }` pauses it. */
  edit(id: string, input: EditAutomationBody, options?: CallOptions): Promise<Automation>;
  /** Runs it now. */
  run(id: string, options?: CallOptions): Promise<AutomationRun>;
  /** Removes it, and returns it as it was. */
  remove(id: string, options?: CallOptions): Promise<Automation>;
}

export function automationsOf(of: (options: CallOptions) => Connection, projectId: string): Automations {
  const path = () => `${projectPath(projectId)}/automations`;
  const one = (id: string) => `${path()}/${segment("id", id, "an automation's id, aut_…")}`;
  const isOne = (body: object): body is Automation => "id" in body && "trigger" in body;
  const isRun = (body: object): body is AutomationRun => "id" in body && "state" in body && "words" in body;

  /** Sent once: a repeated request could create or run a second one. */
  async function sendOnce<T extends object>(
    what: { method: "POST" | "DELETE"; path: string; body?: object },
    is: (body: object) => body is T,
    options: CallOptions,
  ): Promise<T> {
    const deps = { ...of(options), outageMsMax: 0 };
    return parseBody(deps, await request(deps, what, options.signal), { name: "automation", is });
  }

  return {
    async list(options = {}) {
      const deps = of(options);
      const response = await request(deps, { method: "GET", path: path() }, options.signal);
      return parseBody(deps, response, { name: "list of automations", is: isList }).automations;
    },
    create: (input, options = {}) => sendOnce({ method: "POST", path: path(), body: input }, isOne, options),
    async edit(id, input, options = {}) {
      const deps = of(options);
      const response = await request(deps, { method: "PATCH", path: one(id), body: input }, options.signal);
      return parseBody(deps, response, { name: "automation", is: isOne });
    },
    run: (id, options = {}) => sendOnce({ method: "POST", path: `${one(id)}/run` }, isRun, options),
    remove: (id, options = {}) => sendOnce({ method: "DELETE", path: one(id) }, isOne, options),
  };
}

function isList(body: object): body is { automations: Automation[] } {
  return "automations" in body && Array.isArray(body.automations);
}
