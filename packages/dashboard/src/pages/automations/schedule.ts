/** A schedule as people choose it. `custom`: a cron expression that is none of the others. */
export type Schedule =
  | { kind: "daily" | "weekdays"; time: string }
  | { kind: "weekly"; day: number; time: string }
  | { kind: "monthly"; day: number; time: string }
  | { kind: "custom"; expression: string };

export const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** Reads the forms that the inputs can show. */
export function readSchedule(expression: string): Schedule {
  const custom: Schedule = { kind: "custom", expression };
  const [, minute, hour, date, weekday] = /^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|1-5|[0-7])$/.exec(expression) ?? [];
  if (minute === undefined || hour === undefined || Number(minute) > 59 || Number(hour) > 23) return custom;
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (date !== "*") {
    const day = Number(date);
    return weekday === "*" && day >= 1 && day <= 31 ? { kind: "monthly", day, time } : custom;
  }
  if (weekday === "*") return { kind: "daily", time };
  if (weekday === "1-5") return { kind: "weekdays", time };
  return { kind: "weekly", day: Number(weekday) % 7, time };
}

export function toExpression(schedule: Schedule): string {
  if (schedule.kind === "custom") return schedule.expression;
  const [hour, minute] = schedule.time.split(":").map(Number);
  const [date, weekday] = {
    daily: () => ["*", "*"],
    weekdays: () => ["*", "1-5"],
    weekly: () => ["*", "day" in schedule ? schedule.day : "*"],
    monthly: () => ["day" in schedule ? schedule.day : "*", "*"],
  }[schedule.kind]();
  return `${minute || 0} ${hour || 0} ${date} * ${weekday}`;
}

/** "every Monday at 9:00, UTC" */
export function scheduleWords({ expression, timezone }: { expression: string; timezone: string }): string {
  const schedule = readSchedule(expression);
  if (schedule.kind === "custom") return `on the schedule ${expression}, ${timezone}`;
  const at = `at ${schedule.time.replace(/^0/, "")}, ${timezone}`;
  switch (schedule.kind) {
    case "daily":
      return `every day ${at}`;
    case "weekdays":
      return `Monday to Friday ${at}`;
    case "weekly":
      return `every ${weekdays[schedule.day]} ${at}`;
    case "monthly":
      return `on day ${schedule.day} of each month ${at}`;
  }
}
