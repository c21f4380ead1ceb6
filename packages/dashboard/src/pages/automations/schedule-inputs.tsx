import type { AutomationTrigger } from "@emend/contract";
import { useId, useState } from "react";
import { SelectInput, TextInput } from "../../parts/form.tsx";
import { readSchedule, type Schedule, toExpression, weekdays } from "./schedule.ts";

type Cron = Extract<AutomationTrigger, { kind: "cron" }>;

const kinds = [
  { value: "daily", words: "Every day" },
  { value: "weekdays", words: "Monday to Friday" },
  { value: "weekly", words: "Every week" },
  { value: "monthly", words: "Every month" },
  { value: "custom", words: "Another schedule (cron)" },
] as const;

/** Day and time by choice. Whoever knows cron can still write it. */
export function ScheduleInputs({ trigger, onTrigger }: { trigger: Cron; onTrigger(trigger: Cron): void }) {
  const zones = useId();
  const [schedule, setSchedule] = useState(() => readSchedule(trigger.expression));
  function take(next: Schedule) {
    setSchedule(next);
    onTrigger({ ...trigger, expression: toExpression(next) });
  }
  function choose(kind: Schedule["kind"]) {
    const time = "time" in schedule ? schedule.time : "09:00";
    if (kind === "custom") take({ kind, expression: trigger.expression });
    else if (kind === "weekly" || kind === "monthly") take({ kind, day: 1, time });
    else take({ kind, time });
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2">
      <SelectInput label="How often" value={schedule.kind} onValue={choose} options={kinds} />
      {schedule.kind === "weekly" && (
        <SelectInput
          label="Day"
          value={String(schedule.day)}
          onValue={(day) => take({ ...schedule, day: Number(day) })}
          options={weekdays.map((words, day) => ({ value: String(day), words }))}
        />
      )}
      {schedule.kind === "monthly" && (
        <TextInput
          label="Day of the month"
          type="number"
          required
          min={1}
          max={31}
          value={String(schedule.day)}
          onText={(day) => take({ ...schedule, day: Number(day) })}
        />
      )}
      {schedule.kind === "custom" ? (
        <TextInput
          label="Schedule"
          help="Cron: minute, hour, day of month, month, day of week. 0 9 * * 1 is Mondays at 9:00."
          required
          isCode
          maxLength={100}
          value={schedule.expression}
          onText={(expression) => take({ kind: "custom", expression })}
        />
      ) : (
        <TextInput
          label="Time"
          type="time"
          required
          value={schedule.time}
          onText={(time) => take({ ...schedule, time })}
        />
      )}
      <TextInput
        label="Time zone"
        required
        maxLength={100}
        list={zones}
        value={trigger.timezone}
        onText={(timezone) => onTrigger({ ...trigger, timezone })}
      />
      <datalist id={zones}>
        {Intl.supportedValuesOf("timeZone").map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </div>
  );
}
