import type { DashboardProject, IgnoredFindings } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { CheckInput, Form, LinesInput, SelectInput, TextInput } from "../../parts/form.tsx";
import { type Draft, draftOf, editOf, type Setting, silencersIn } from "./setting.ts";
import type { SettingGroup } from "./setting-groups.ts";

/** The settings of some groups in one form. The input stays until it is accepted. */
export function SettingsForm({ project, groups }: { project: DashboardProject; groups: readonly SettingGroup[] }) {
  const queries = useQueryClient();
  const settings = groups.flatMap(({ rows }) => rows.flat());
  const [saved, setSaved] = useState(() => draftOf(project, settings));
  const [draft, setDraft] = useState<Draft>(saved);
  const isChanged = settings.some(({ path }) => saved[path] !== draft[path]);
  const save = useMutation({
    mutationFn: () => {
      const body = editOf(settings, saved, draft);
      return request<DashboardProject>(`/projects/${project.id}`, { method: "PATCH", body });
    },
    onSuccess(edited) {
      setSaved(draftOf(edited, settings));
      setDraft(draftOf(edited, settings));
      void queries.invalidateQueries({ queryKey: ["projects"] });
    },
  });
  return (
    <Sheet className="p-5">
      <Form
        action={save}
        submit="Save"
        isDisabled={!isChanged}
        note={isChanged ? "Unsaved changes" : save.isSuccess ? "Saved" : ""}
      >
        {groups.map(({ title, words, rows }) => (
          <section
            key={title}
            aria-label={title}
            className="grid grid-cols-[minmax(0,1fr)] gap-4 border-b border-line pb-5"
          >
            <h2 id={title.toLowerCase().replaceAll(" ", "-")} className="scroll-mt-4 text-[18px] leading-7">
              {title}
            </h2>
            {words && <p className="text-quiet">{words}</p>}
            {rows.map((row) => (
              <div
                key={row[0]?.path}
                className={`grid grid-cols-[minmax(0,1fr)] gap-4 ${row.length > 1 ? "sm:grid-cols-2" : ""}`}
              >
                {row.map((setting) => (
                  <SettingInput
                    key={setting.path}
                    setting={setting}
                    value={draft[setting.path] ?? ""}
                    onValue={(value) => setDraft((before) => ({ ...before, [setting.path]: value }))}
                  />
                ))}
              </div>
            ))}
          </section>
        ))}
      </Form>
    </Sheet>
  );
}

const choices = [
  { value: "", words: "forge default" },
  { value: "true", words: "yes" },
  { value: "false", words: "no" },
];
const levels = [
  { value: "", words: "default (only if Emend hosts it)" },
  { value: "off", words: "off" },
  { value: "neutral", words: "report, do not block" },
  { value: "failing", words: "fail on errors" },
];

function SettingInput({
  setting,
  value,
  onValue,
}: {
  setting: Setting;
  value: string | boolean;
  onValue(value: string | boolean): void;
}) {
  const { path: _path, kind, scale: _scale, min, step, options: own = [], ...shown } = setting;
  if (kind === "check") return <CheckInput {...shown} isOn={value === true} onToggle={onValue} />;
  if (kind === "choice" || kind === "level" || kind === "select") {
    const options = kind === "choice" ? choices : kind === "level" ? levels : own;
    return <SelectInput {...shown} value={String(value)} onValue={onValue} options={options} />;
  }
  if (kind === "silencers") return <SilencersInput {...shown} value={String(value)} onValue={onValue} />;
  const text = { ...shown, value: String(value), onText: onValue };
  if (kind === "lines" || kind === "optionalLines") {
    const { isCode: _isCode, ...lines } = text;
    return <LinesInput {...lines} />;
  }
  if (kind !== "number" && kind !== "optionalNumber")
    return <TextInput {...text} required={setting.path === "name"} maxLength={1000} />;
  return <TextInput {...text} type="number" required={kind === "number"} min={min ?? 0} step={step ?? 1} />;
}

/** One row per pattern: which findings it silences, and why. */
function SilencersInput(props: { label: string; value: string; onValue(value: string): void }) {
  const patterns = silencersIn(props.value);
  const change = (next: readonly IgnoredFindings[]) => props.onValue(JSON.stringify(next));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {patterns.map((pattern, at) => {
        const edit = (more: Partial<IgnoredFindings>) =>
          change(patterns.map((one, index) => (index === at ? { ...one, ...more } : one)));
        return (
          <fieldset
            // biome-ignore lint/suspicious/noArrayIndexKey: a pattern is its place
            key={at}
            className="grid grid-cols-[minmax(0,1fr)] gap-3 rounded-md border border-line p-3"
          >
            <legend className="px-1 text-quiet">
              {props.label} {at + 1}
            </legend>
            <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2">
              <TextInput
                label="Check"
                isCode
                required
                placeholder="broken-link"
                value={pattern.check}
                onText={(check) => edit({ check })}
              />
              <TextInput
                label="Pages"
                isCode
                placeholder="every page, or versions/1.0/**"
                value={pattern.path ?? ""}
                onText={(path) => edit({ path })}
              />
              <TextInput
                label="Part of the message"
                placeholder="any message"
                value={pattern.message ?? ""}
                onText={(message) => edit({ message })}
              />
              <TextInput
                label="Reason"
                required
                placeholder="frozen with the release"
                value={pattern.reason}
                onText={(reason) => edit({ reason })}
              />
            </div>
            <div>
              <Button
                look="danger"
                aria-label={`Remove ${props.label.toLowerCase()} ${at + 1}`}
                onClick={() => change(patterns.filter((_, index) => index !== at))}
              >
                Remove
              </Button>
            </div>
          </fieldset>
        );
      })}
      <div>
        <Button onClick={() => change([...patterns, { check: "", reason: "" }])}>
          Add {props.label.toLowerCase()}
        </Button>
      </div>
    </div>
  );
}
