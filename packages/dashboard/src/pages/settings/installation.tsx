import type { DashboardSettings } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { settingsQuery } from "../../api/account-queries.ts";
import { request } from "../../api/request.ts";
import { Form } from "../../parts/form.tsx";
import { SelectInput, TextInput } from "../../parts/inputs.tsx";
import { Pending } from "../../parts/notice.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { SingleSignOn } from "./single-sign-on.tsx";

export function Installation() {
  const { data, error } = useQuery(settingsQuery);
  if (!data) return <Pending error={error} />;
  return (
    <div className="grid max-w-[640px] grid-cols-[minmax(0,1fr)] gap-6">
      <section className="grid gap-2">
        <h2>Retention</h2>
        <Sheet className="p-4">
          <Retention setting={data.archiveAfterDays} />
        </Sheet>
      </section>
      <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <h2>Single sign-on</h2>
        <Sheet className="p-4">
          <SingleSignOn singleSignOn={data.singleSignOn} />
        </Sheet>
      </section>
    </div>
  );
}

type Choice = "environment" | "never" | "after";

function Retention({ setting }: { setting: DashboardSettings["archiveAfterDays"] }) {
  const queries = useQueryClient();
  const stored: Choice = setting.source === "environment" ? "environment" : setting.days === null ? "never" : "after";
  const [choice, setChoice] = useState(stored);
  const [days, setDays] = useState(String(setting.days ?? 90));
  const save = useMutation({
    mutationFn: () => {
      const archiveAfterDays = { environment: "environment", never: null, after: Number(days) }[choice];
      return request<DashboardSettings>("/settings", { method: "PATCH", body: { archiveAfterDays } });
    },
    onSuccess: (settings) => queries.setQueryData(settingsQuery.queryKey, settings),
  });
  return (
    <Form action={save} submit="Save" {...(save.isSuccess && { note: "Saved." })}>
      <SelectInput
        label="Archive finished jobs"
        help="Archived jobs leave the list and keep their pull requests. This setting overrides EMEND_ARCHIVE_AFTER_DAYS."
        value={choice}
        onValue={setChoice}
        options={[
          { value: "environment", words: `Default from the environment: ${inWords(setting.environment)}` },
          { value: "never", words: "Never" },
          { value: "after", words: "After a number of days" },
        ]}
      />
      {choice === "after" && (
        <TextInput label="Days" type="number" required min={1} max={36_500} step={1} value={days} onText={setDays} />
      )}
    </Form>
  );
}

function inWords(days: number | null): string {
  if (days === null) return "never";
  return days === 1 ? "after a day" : `after ${days} days`;
}
