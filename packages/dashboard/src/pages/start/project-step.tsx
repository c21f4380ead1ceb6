import type { DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { Step } from "./step.tsx";

const lines = [
  { name: "Your docs, hosted by Emend", text: 'emend project add "Docs" --forge local --repo ./my-docs' },
  {
    name: "Your docs on GitHub (or GitLab, Gitea, Bitbucket)",
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
    <Step number={1} title="Add a project" done={done} isNext={!project} lines={lines}>
      {!project && (
        <>
          <p>
            A project is a docs repository. Use the sample docs to look around, or connect your own here or from the
            command line.
          </p>
          <Problem error={take.error} />
          <div className="flex flex-wrap gap-2">
            <Button look="primary" disabled={take.isPending} onClick={() => take.mutate()}>
              Use the sample docs
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
