import type { DashboardTrigger } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { contextQuery } from "../../api/project-queries.ts";
import { LinesInput, linesOf, SelectInput, TextInput } from "../../parts/inputs.tsx";
import { localTimezone } from "./local-timezone.ts";

const kinds = [
  { value: "manual", words: "Manually" },
  { value: "cron", words: "On a schedule" },
  { value: "push", words: "After a push to a context repository" },
] as const;
type Push = Extract<DashboardTrigger, { kind: "push" }>;
const noPaths = { branches: [], tags: [], include: [], exclude: [] };

/** When an automation asks. */
export function TriggerInputs(props: {
  projectId: string;
  trigger: DashboardTrigger;
  onTrigger(trigger: DashboardTrigger): void;
}) {
  const { trigger, onTrigger } = props;
  const repositories = useQuery(contextQuery(props.projectId)).data ?? [];
  function choose(kind: DashboardTrigger["kind"]) {
    switch (kind) {
      case "manual":
        return onTrigger({ kind });
      case "cron":
        return onTrigger({ kind, expression: "0 9 * * 1", timezone: localTimezone() });
      case "push":
        return onTrigger({ kind, repository: repositories[0]?.name ?? "", ...noPaths });
    }
  }
  return (
    <>
      <SelectInput label="When" value={trigger.kind} onValue={choose} options={kinds} />
      {trigger.kind === "cron" && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextInput
            label="Schedule"
            help="Cron: minute, hour, day of month, month, day of week. 0 9 * * 1 is Mondays at 9:00."
            required
            isCode
            maxLength={100}
            value={trigger.expression}
            onText={(expression) => onTrigger({ ...trigger, expression })}
          />
          <TextInput
            label="Time zone"
            required
            isCode
            maxLength={100}
            value={trigger.timezone}
            onText={(timezone) => onTrigger({ ...trigger, timezone })}
          />
        </div>
      )}
      {trigger.kind === "push" &&
        (repositories.length === 0 ? (
          <p className="text-warn">This project has no context repository. Add one under Guidance first.</p>
        ) : (
          <PushInputs push={trigger} names={repositories.map(({ name }) => name)} onPush={onTrigger} />
        ))}
    </>
  );
}

function PushInputs({ push, names, onPush }: { push: Push; names: readonly string[]; onPush(push: Push): void }) {
  const known = names.includes(push.repository) ? names : [push.repository, ...names];
  return (
    <>
      <SelectInput
        label="Repository"
        value={push.repository}
        onValue={(repository) => onPush({ ...push, repository })}
        options={known.map((value) => ({ value, words: value }))}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Globs
          label="Branches"
          help="Leave both empty for the default branch."
          of="branches"
          push={push}
          onPush={onPush}
        />
        <Globs label="Tags" help="For example v*." of="tags" push={push} onPush={onPush} />
        <Globs label="Only these paths" help="For example src/**." of="include" push={push} onPush={onPush} />
        <Globs label="Except these paths" help="One pattern per line." of="exclude" push={push} onPush={onPush} />
      </div>
    </>
  );
}

function Globs(props: { label: string; help: string; of: keyof typeof noPaths; push: Push; onPush(push: Push): void }) {
  const { of, push, onPush } = props;
  // As it is typed, with the empty line that one is about to fill.
  const [text, setText] = useState(push[of].join("\n"));
  return (
    <LinesInput
      label={props.label}
      help={props.help}
      value={text}
      onText={(next) => {
        setText(next);
        onPush({ ...push, [of]: linesOf(next) });
      }}
    />
  );
}
