import type { DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { Step } from "./step.tsx";

const lines = [
  { name: "Docs of yours, kept and reviewed here", text: 'emend project add "Docs" --forge local --repo ./my-docs' },
  {
    name: "On GitHub (GitLab, Gitea and Bitbucket likewise)",
    text: 'emend project add "Docs" --forge github --repo https://github.com/you/docs --token-env GITHUB_TOKEN',
  },
];

export function ProjectStep({ project }: { project: DashboardProject | null }) {
  const queries = useQueryClient();
  const take = useMutation({
    mutationFn: () => request("/start/sample", { body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["projects"] }),
  });
  const done = project && (
    <>
      <VisibleText text={project.name} /> <code className="text-quiet">{project.id}</code>
    </>
  );
  return (
    <Step number={1} title="Add a project: a repository of docs" done={done} isNext={!project} lines={lines}>
      {!project && (
        <>
          <p>
            Take the sample docs to look around with, or connect a repository of yours: here or by the command line. The
            API itself adds no projects.
          </p>
          <Problem error={take.error} />
          <div className="flex flex-wrap gap-2">
            <Button look="primary" disabled={take.isPending} onClick={() => take.mutate()}>
              Take the sample docs
            </Button>
            <Link to="/projects/new" className={buttonLook("ordinary")}>
              Connect a repository
            </Link>
          </div>
        </>
      )}
    </Step>
  );
}
