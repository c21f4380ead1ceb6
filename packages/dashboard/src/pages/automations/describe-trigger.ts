import type { DashboardTrigger } from "@emend/contract";

/** When an automation asks, in a line. */
export function describeTrigger(trigger: DashboardTrigger): string {
  switch (trigger.kind) {
    case "cron":
      return `at ${trigger.expression}, ${trigger.timezone}`;
    case "push":
      return [`after pushes to @${trigger.repository}`, ...refsOf(trigger), ...pathsOf(trigger)].join(", ");
    case "manual":
      return "by hand alone";
  }
}

type Push = Extract<DashboardTrigger, { kind: "push" }>;

function refsOf({ branches, tags }: Push): string[] {
  return [
    ...(branches.length > 0 ? [`branches ${branches.join(" ")}`] : []),
    ...(tags.length > 0 ? [`tags ${tags.join(" ")}`] : []),
  ];
}

function pathsOf({ include, exclude }: Push): string[] {
  return [
    ...(include.length > 0 ? [`where ${include.join(" ")} changed`] : []),
    ...(exclude.length > 0 ? [`but ${exclude.join(" ")}`] : []),
  ];
}
