import type { DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { createKeyLine } from "../../parts/commands.ts";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Problem } from "../../parts/notice.tsx";
import { Step } from "./step.tsx";

interface KeyStepProps {
  project: DashboardProject | null;
  url: string;
  hasKey: boolean;
  secret: string | null;
  onSecret(secret: string): void;
}

export function KeyStep({ project, url, hasKey, secret, onSecret }: KeyStepProps) {
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: (projectId: string) => {
      const body = { name: "First key", projectIds: [projectId], scope: "write", expiresInDays: 90, allowList: null };
      return request<{ key: string }>("/keys", { body });
    },
    onSuccess({ key }) {
      onSecret(key);
      return queries.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  const id = project?.id ?? "PROJECT";
  const lines = [
    { name: "Create one", text: createKeyLine(id) },
    {
      name: "Try it",
      text: `curl ${url}/v2/agent/${id}/jobs -H "Authorization: Bearer ${secret ?? "$EMEND_API_KEY"}"`,
    },
  ];
  return (
    <Step
      number={2}
      title="Create an API key"
      done={hasKey ? (secret ? "Created. It expires in 90 days." : "Done.") : null}
      isNext={project !== null && (!hasKey || secret !== null)}
      lines={lines}
    >
      {secret && (
        <>
          <p>Copy it now. You won't see it again.</p>
          <CopyBlock text={secret} />
        </>
      )}
      {!hasKey && (
        <>
          <Problem error={create.error} />
          <p>
            <Button
              look={project ? "primary" : "ordinary"}
              disabled={!project || create.isPending}
              onClick={() => project && create.mutate(project.id)}
            >
              Create key
            </Button>
          </p>
        </>
      )}
    </Step>
  );
}
