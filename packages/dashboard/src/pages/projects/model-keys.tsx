import type { DashboardProject } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { modelKeysQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Form } from "../../parts/form.tsx";
import { SelectInput, TextInput } from "../../parts/inputs.tsx";
import { Pending, Problem } from "../../parts/notice.tsx";
import { Sheet } from "../../parts/sheet.tsx";

const vendorNames: Readonly<Record<string, string>> = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  google: "Google",
  compatible: "OpenAI-compatible endpoint",
};

/** Keys of the project's own, in place of the installation's. What is stored is never shown. */
export function ModelKeys({ project }: { project: DashboardProject }) {
  const queries = useQueryClient();
  const keys = useQuery(modelKeysQuery(project.id));
  const [vendor, setVendor] = useState("anthropic");
  const [key, setKey] = useState("");
  const send = (body: { vendor: string; key: string | null }) =>
    request(`/projects/${project.id}/model-keys`, { body });
  const refresh = () => queries.invalidateQueries({ queryKey: ["model-keys", project.id] });
  const set = useMutation({
    mutationFn: () => send({ vendor, key: key.trim() }),
    onSuccess() {
      setKey("");
      return refresh();
    },
  });
  const forget = useMutation({ mutationFn: (which: string) => send({ vendor: which, key: null }), onSuccess: refresh });
  if (!keys.data) return <Pending error={keys.error} />;
  const own = keys.data.filter(({ isSet }) => isSet);
  return (
    <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-4 p-5">
      <h2 className="font-serif text-[18px] leading-7">Model keys</h2>
      {own.length === 0 ? (
        <p className="text-quiet">This project uses the installation's keys. Set a key here to override one.</p>
      ) : (
        <ul className="divide-y divide-line border-y border-line">
          {own.map((each) => (
            <li key={each.vendor} className="flex flex-wrap items-center justify-between gap-2 py-1.5">
              <span>{vendorNames[each.vendor] ?? each.vendor}: project key</span>
              <Button look="danger" disabled={forget.isPending} onClick={() => forget.mutate(each.vendor)}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Problem error={forget.error} />
      <Form
        action={set}
        submit="Set key"
        isDisabled={key.trim() === ""}
        note={set.isSuccess && key === "" ? "Set" : ""}
      >
        <div className="grid gap-4 sm:grid-cols-[200px_minmax(0,1fr)]">
          <SelectInput
            label="Vendor"
            value={vendor}
            onValue={setVendor}
            options={keys.data.map((each) => ({ value: each.vendor, words: vendorNames[each.vendor] ?? each.vendor }))}
          />
          <TextInput
            label="Key"
            type="password"
            autoComplete="off"
            isCode
            maxLength={4096}
            value={key}
            onText={setKey}
          />
        </div>
      </Form>
    </Sheet>
  );
}
