import type { DashboardProject } from "@emend/contract";
import { Bars } from "../../parts/bars.tsx";

/** This hour's quota and its use over time. */
export function Quota({ project }: { project: DashboardProject }) {
  const { createsThisHour: used, createsByFiveMinutes, settings } = project;
  const max = settings.createsPerHourMax;
  return (
    <span className={`flex items-center gap-2 ${used >= max ? "text-warn" : "text-quiet"}`}>
      <Bars
        counts={createsByFiveMinutes}
        label={`Jobs of the last hour, by five minutes: ${createsByFiveMinutes.join(", ")}`}
      />
      <span className="whitespace-nowrap md:min-w-32 md:text-right">
        {used} of {max} this hour
      </span>
    </span>
  );
}
