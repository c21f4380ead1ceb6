import type { DashboardProject } from "@emend/contract";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { shellWord } from "../../parts/commands.ts";
import { Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Step } from "./step.tsx";

interface JobStepProps {
  project: DashboardProject | null;
  url: string;
  hasKey: boolean;
  hasJob: boolean;
  secret: string | null;
}

const samplePrompt =
  'Move guides/auth to security/authentication, replace "API token" with "access key", and fix broken links.';

export function JobStep({ project, url, hasKey, hasJob, secret }: JobStepProps) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState<string | null>(null);
  const prompt = typed ?? (project?.name === "Sample docs" ? samplePrompt : "Fix broken links.");
  const create = useMutation({
    mutationFn: () => request<{ id: string }>(`/projects/${project?.id}/jobs`, { body: { prompt } }),
    onSuccess: ({ id }) => navigate({ to: "/jobs/$id", params: { id } }),
  });
  const id = project?.id ?? "PROJECT";
  const key = secret ?? "$EMEND_API_KEY";
  const lines = [
    {
      name: "With the command line",
      text: `EMEND_URL=${url} EMEND_API_KEY=${key} \\\n  emend job create ${id} ${shellWord(prompt)} --wait`,
    },
    {
      name: "With curl",
      text: `curl -X POST ${url}/v2/agent/${id}/job \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d ${shellWord(JSON.stringify({ prompt }))}`,
    },
  ];
  return (
    <Step
      number={3}
      title="Run your first job"
      done={hasJob ? "Done." : null}
      isNext={project !== null && hasKey && !hasJob}
      lines={lines}
    >
      {!hasJob && (
        <Form action={create} submit="Run it" isDisabled={!project || prompt === ""} look="primary">
          <Field label="What should change in the docs?">
            {(control) => (
              <textarea
                {...control}
                rows={3}
                className="field-sizing-content max-h-60 min-h-20 w-full resize-none font-serif text-[16px] leading-6"
                value={prompt}
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
          </Field>
        </Form>
      )}
    </Step>
  );
}
