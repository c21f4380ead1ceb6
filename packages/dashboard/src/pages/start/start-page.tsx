import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { keysQuery, newestJobsQuery, projectsQuery, sessionQuery } from "../../api/queries.ts";
import { buttonLook } from "../../parts/button.tsx";
import { Pending } from "../../parts/notice.tsx";
import { Head } from "../../parts/sheet.tsx";
import { isLive } from "../keys/is-live.ts";
import { JobStep } from "./job-step.tsx";
import { KeyStep } from "./key-step.tsx";
import { ProjectStep } from "./project-step.tsx";

/** From an empty installation to a first pull request, in three steps; each says how a script does the same. */
export function StartPage() {
  const session = useQuery(sessionQuery);
  const projects = useQuery(projectsQuery);
  const keys = useQuery(keysQuery);
  const jobs = useQuery(newestJobsQuery({}));
  const [secret, setSecret] = useState<string | null>(null);
  if (!session.data || !projects.data || !keys.data || !jobs.data) {
    return <Pending error={session.error ?? projects.error ?? keys.error ?? jobs.error} />;
  }
  const project = projects.data.at(-1) ?? null;
  const shared = { project, url: session.data.publicUrl };
  const hasKey = keys.data.some(isLive);
  const hasJob = jobs.data.jobs.length > 0;
  return (
    <div className="mx-auto max-w-[760px]">
      <title>Start · Emend</title>
      <Head title={hasJob ? "All set" : "Three steps to a first pull request"}>
        <Link to="/" className={buttonLook("ordinary")}>
          {hasJob ? "Go to jobs" : "Skip"}
        </Link>
      </Head>
      <ol className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <ProjectStep project={project} />
        <KeyStep {...shared} hasKey={hasKey} secret={secret} onSecret={setSecret} />
        <JobStep {...shared} hasKey={hasKey} hasJob={hasJob} secret={secret} />
      </ol>
    </div>
  );
}
