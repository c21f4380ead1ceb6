import { type Static, Type } from "typebox";
import { jsonAnswer, refusals } from "./answers.ts";
import { ProjectParams, projectId } from "./operations.ts";

const closed = { additionalProperties: false };
const Globs = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { maxItems: 50 });
const repository = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "Name of a context repository; `.` is the docs' own repository.",
});

/** The ready-made automations. */
export const presetNames = [
  "stale-references",
  "merged-code",
  "links",
  "screenshots",
  "changelog",
  "translations",
  "support-tickets",
  "release-issues",
] as const;
export type PresetName = (typeof presetNames)[number];

/** When an automation runs. */
export const AutomationTrigger = Type.Union(
  [
    Type.Object({ kind: Type.Literal("manual") }, closed),
    Type.Object(
      {
        kind: Type.Literal("cron"),
        expression: Type.String({ maxLength: 100, examples: ["0 9 * * 1"] }),
        timezone: Type.String({ maxLength: 100, examples: ["UTC"] }),
      },
      closed,
    ),
    Type.Object(
      { kind: Type.Literal("push"), repository, branches: Globs, tags: Globs, include: Globs, exclude: Globs },
      closed,
    ),
    Type.Object(
      {
        kind: Type.Literal("pull_request"),
        repository,
        on: Type.Array(Type.Enum(["opened", "updated", "merged"], { type: "string" }), { minItems: 1, maxItems: 3 }),
        branches: Globs,
        include: Globs,
        exclude: Globs,
      },
      closed,
    ),
    Type.Object({ kind: Type.Literal("webhook") }, closed),
  ],
  { $id: "AutomationTrigger" },
);
export type AutomationTrigger = Static<typeof AutomationTrigger>;

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const trigger = Type.Unsafe<Static<typeof AutomationTrigger>>({ $ref: "AutomationTrigger#" });

export const Automation = Type.Object(
  {
    id: Type.String({ description: "The automation's identifier." }),
    name: Type.String(),
    trigger,
    prompt: Type.String({ description: "What its jobs must do, with {{variables}}." }),
    model: nullable("A model that the project allows; null: the project's."),
    paused: Type.Boolean(),
    problem: nullable("Why nothing starts it; null: nothing is wrong."),
    jobId: nullable("The last job that it created."),
    createdAt: Type.String({ description: "ISO 8601." }),
  },
  {
    ...closed,
    $id: "Automation",
    examples: [
      {
        id: "aut_6d1f3b0c2a5e4f7b8c9d0e1f2a3b4c5d",
        name: "Weekly links",
        trigger: { kind: "cron", expression: "0 9 * * 1", timezone: "UTC" },
        prompt: "Fix broken links.",
        model: null,
        paused: false,
        problem: null,
        jobId: null,
        createdAt: "2026-11-15T12:00:00.000Z",
      },
    ],
  },
);
export type Automation = Static<typeof Automation>;

export const AutomationList = Type.Object(
  { automations: Type.Array(Type.Unsafe<Automation>({ $ref: "Automation#" })) },
  { ...closed, $id: "AutomationList", examples: [{ automations: [] }] },
);

export const AutomationRun = Type.Object(
  {
    id: Type.String(),
    state: Type.Enum(["waiting", "started", "continued", "merged", "skipped"], { type: "string" }),
    words: Type.String({ description: "What came of the run." }),
    jobId: nullable("The job that it started or continued."),
  },
  { ...closed, $id: "AutomationRun" },
);
export type AutomationRun = Static<typeof AutomationRun>;

const fields = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  trigger,
  prompt: Type.String({ minLength: 1, maxLength: 20_000 }),
  model: Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()]),
};

export const CreateAutomationBody = Type.Object(
  {
    name: Type.Optional(fields.name),
    trigger: Type.Optional(trigger),
    prompt: Type.Optional(fields.prompt),
    model: Type.Optional(fields.model),
    preset: Type.Optional(
      Type.String({
        maxLength: 100,
        description: `A ready-made automation, one of ${presetNames.map((name) => `\`${name}\``).join(", ")}. It sets what you leave out.`,
      }),
    ),
    repository: Type.Optional(Type.String({ maxLength: 100, description: "The context repository of a preset." })),
  },
  {
    $id: "CreateAutomationBody",
    description: "Without `preset`, `name` and `prompt` are required. Unknown fields are ignored.",
  },
);
export type CreateAutomationBody = Static<typeof CreateAutomationBody>;

export const EditAutomationBody = Type.Object(
  {
    name: Type.Optional(fields.name),
    trigger: Type.Optional(trigger),
    prompt: Type.Optional(fields.prompt),
    model: Type.Optional(fields.model),
    paused: Type.Optional(Type.Boolean()),
  },
  { $id: "EditAutomationBody", description: "What you leave out stays. Unknown fields are ignored." },
);
export type EditAutomationBody = Static<typeof EditAutomationBody>;

const automationOperation = { tags: ["Automations"], security: [{ adminKey: [] }] };
const AutomationParams = Type.Object({ projectId, id: Type.String({ description: "The automation's identifier." }) });
const reads = { 401: refusals.unauthorized, 404: refusals.notFound, 500: refusals.internal, 503: refusals.unavailable };
const writes = { ...reads, 403: refusals.forbidden };
const takesBody = {
  ...writes,
  400: refusals.invalidRequest,
  409: refusals.nameConflict,
  413: refusals.payloadTooLarge,
  415: refusals.unsupportedMediaType,
};

export const listAutomationsOperation = {
  ...automationOperation,
  operationId: "listAutomations",
  summary: "List automations",
  description: "Lists the project's automations, oldest first.",
  params: ProjectParams,
  response: { 200: jsonAnswer("The automations.", "AutomationList"), ...reads },
};
export const createAutomationOperation = {
  ...automationOperation,
  operationId: "createAutomation",
  summary: "Create automation",
  description: "Creates an automation, from a preset or from its parts.",
  params: ProjectParams,
  body: { $ref: "CreateAutomationBody#" },
  response: { 201: jsonAnswer("The automation.", "Automation"), ...takesBody },
};
export const editAutomationOperation = {
  ...automationOperation,
  operationId: "editAutomation",
  summary: "Edit automation",
  description: "Changes an automation. A new trigger ignores events from before the change.",
  params: AutomationParams,
  body: { $ref: "EditAutomationBody#" },
  response: { 200: jsonAnswer("The automation.", "Automation"), ...takesBody },
};
export const runAutomationOperation = {
  ...automationOperation,
  operationId: "runAutomation",
  summary: "Run automation",
  description: "Runs an automation now, paused or not. No body is needed.",
  params: AutomationParams,
  response: { 200: jsonAnswer("What came of the run.", "AutomationRun"), ...writes },
};
export const removeAutomationOperation = {
  ...automationOperation,
  operationId: "removeAutomation",
  summary: "Remove automation",
  description: "Removes an automation and its history. Its jobs and pull requests stay. No body is needed.",
  params: AutomationParams,
  response: { 200: jsonAnswer("The automation as it was.", "Automation"), ...writes },
};
