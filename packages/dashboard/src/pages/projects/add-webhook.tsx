import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { CheckInput, SelectInput, TextInput } from "../../parts/inputs.tsx";

const events = [
  { value: "job.completed", words: "a job completed" },
  { value: "job.failed", words: "a job failed" },
  { value: "job.archived", words: "a job was archived" },
  { value: "pull_request.merged", words: "its pull request was merged" },
  { value: "pull_request.closed", words: "its pull request was closed" },
] as const;
const formats = [
  { value: "standard", words: "Signed JSON (Standard Webhooks)" },
  { value: "slack", words: "Slack message" },
] as const;

export function AddWebhook({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const queries = useQueryClient();
  const [url, setUrl] = useState("");
  const [format, setFormat] = useState<"standard" | "slack">("standard");
  const [chosen, setChosen] = useState<readonly string[]>(events.map(({ value }) => value));
  const add = useMutation({
    mutationFn: () =>
      request<{ id: string; secret: string }>(`/projects/${projectId}/webhooks`, {
        body: { url: url.trim(), format, events: chosen },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["webhooks", projectId] }),
  });
  if (add.data && format === "standard") {
    return (
      <Dialog title="Webhook secret" onClose={onClose}>
        <p>Copy it now. You won't see it again. Use it to verify that a request comes from Emend.</p>
        <CopyBlock text={add.data.secret} />
        <div className="flex justify-end">
          <Button onClick={onClose}>Done</Button>
        </div>
      </Dialog>
    );
  }
  if (add.data) {
    return (
      <Dialog title="Slack webhook added" onClose={onClose}>
        <p>Slack needs no secret.</p>
        <div className="flex justify-end">
          <Button onClick={onClose}>Good</Button>
        </div>
      </Dialog>
    );
  }
  const toggle = (event: string, isOn: boolean) =>
    setChosen((before) => (isOn ? [...before, event] : before.filter((each) => each !== event)));
  return (
    <Dialog title="Add a webhook" onClose={onClose}>
      <Form action={add} submit="Add webhook" isDisabled={chosen.length === 0} onCancel={onClose}>
        <TextInput
          label="Address"
          type="url"
          required
          maxLength={2000}
          isCode
          placeholder="https://example.com/hooks/emend"
          value={url}
          onText={setUrl}
        />
        <SelectInput label="Format" value={format} onValue={setFormat} options={formats} />
        <fieldset className="grid gap-1">
          <legend className="pb-1 font-semibold">When</legend>
          {events.map(({ value, words }) => (
            <CheckInput
              key={value}
              label={words}
              isOn={chosen.includes(value)}
              onToggle={(isOn) => toggle(value, isOn)}
            />
          ))}
        </fieldset>
      </Form>
    </Dialog>
  );
}
