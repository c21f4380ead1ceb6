import type { DashboardModel, DashboardModels, DashboardModelTrial, DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { SelectInput, TextInput } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";

type Vendor = DashboardModels["vendors"][number];

const rules = "emend/rules";
const otherModel = "other";

/** From no model to a tested one: vendor, model with its price, key, a test. */
export function ModelPicker({ project, known }: { project: DashboardProject; known: DashboardModels }) {
  const queries = useQueryClient();
  const heading = useRef<HTMLHeadingElement>(null);
  const [vendorName, setVendorName] = useState(known.model === rules ? rules : (known.model.split("/")[0] ?? rules));
  const vendor = known.vendors.find((each) => each.vendor === vendorName);
  const [chosen, setChosen] = useState(known.model);
  const [typed, setTyped] = useState("");
  const [key, setKey] = useState("");
  const listed =
    vendor?.models.find(({ name }) => name === chosen) ?? (chosen === otherModel ? undefined : vendor?.models[0]);
  const name = vendor === undefined ? rules : listed ? listed.name : `${vendor.vendor}/${typed.trim()}`;
  const isNamed = vendor === undefined || listed !== undefined || typed.trim() !== "";
  const lacks = vendor === undefined ? null : lackOf(vendor, key);
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ["models", project.id] }),
      queries.invalidateQueries({ queryKey: ["projects"] }),
    ]);
  const keyOf = key.trim() === "" ? {} : { key: key.trim() };
  const test = useMutation({
    mutationFn: () =>
      request<DashboardModelTrial>(`/projects/${project.id}/models/test`, { body: { model: name, ...keyOf } }),
  });
  const save = useMutation({
    async mutationFn() {
      // The key first: a model without one would fail its next job.
      if (vendor && key.trim() !== "") await setKeyOf(vendor.vendor, key.trim());
      await request(`/projects/${project.id}`, { method: "PATCH", body: { settings: { model: name } } });
    },
    onSuccess() {
      setKey("");
      return refresh();
    },
  });
  const forget = useMutation({ mutationFn: () => setKeyOf(vendorName, null), onSuccess: refresh });
  function setKeyOf(which: string, value: string | null) {
    return request(`/projects/${project.id}/model-keys`, { body: { vendor: which, key: value } });
  }
  useEffect(() => {
    if (location.hash !== "#model") return;
    heading.current?.scrollIntoView({ block: "start" });
    heading.current?.focus();
  }, []);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  }
  const isSaved = save.isSuccess && name === known.model && key === "";
  const isChanged = name !== known.model || key.trim() !== "";
  return (
    <Sheet className="p-5">
      <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-4" aria-label="Model">
        <div className="grid gap-1">
          <h2 id="model" ref={heading} tabIndex={-1} className="text-[18px] leading-7 outline-none">
            Model
          </h2>
          <p className="wrap-anywhere text-quiet">
            Jobs use <b className="text-ink">{known.model === rules ? "the built-in rules" : known.model}</b>
            {known.isInherited && ", the installation's default"}.{" "}
            {known.model === rules && "They follow known instructions. A language model also takes free text."}
          </p>
        </div>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 sm:grid-cols-2">
          <SelectInput
            label="Vendor"
            value={vendorName}
            onValue={(next) => {
              setVendorName(next);
              setChosen("");
              test.reset();
            }}
            options={[
              { value: rules, words: "Built-in rules (free, no key)" },
              ...known.vendors.map((each) => ({ value: each.vendor, words: each.label })),
            ]}
          />
          {vendor && (
            <SelectInput
              label="Model"
              value={listed?.name ?? otherModel}
              onValue={setChosen}
              options={[
                ...vendor.models.map((model) => ({ value: model.name, words: wordsOf(model) })),
                { value: otherModel, words: "Another model" },
              ]}
            />
          )}
        </div>
        {vendor && !listed && (
          <TextInput
            label="Model name"
            isCode
            maxLength={150}
            placeholder="as the vendor writes it"
            value={typed}
            onText={setTyped}
          />
        )}
        {vendor && <Facts model={listed ?? vendor.other} isListed={listed !== undefined} usual={known.usualJob} />}
        {vendor && vendor.needs !== null && (
          <p className="text-warn">
            Needs <code>{vendor.needs}</code>: set it where Emend starts, and start it again.
          </p>
        )}
        {vendor && vendor.needs === null && (
          <div className="grid gap-2">
            <TextInput
              label={`${vendor.label} API key`}
              type="password"
              autoComplete="off"
              isCode
              maxLength={4096}
              placeholder={
                vendor.key !== null
                  ? "leave empty to keep the key"
                  : vendor.isKeyOptional
                    ? "may be empty"
                    : "paste it here"
              }
              help={keyWords(vendor)}
              value={key}
              onText={setKey}
            />
            {vendor.key === "project" && (
              <div>
                <Button look="danger" disabled={forget.isPending} onClick={() => forget.mutate()}>
                  Remove the project's key
                </Button>
              </div>
            )}
          </div>
        )}
        <div role="status" className="empty:hidden">
          {test.data?.isAnswer && (
            <p className="flex items-center gap-2 text-good">
              <Icon name="check" />
              The model answered in {(test.data.ms / 1000).toFixed(1)} s.
            </p>
          )}
          {test.data?.isAnswer === false && (
            <p className="flex items-start gap-2 text-bad">
              <Icon name="cross" className="mt-0.5" />
              <span className="min-w-0 wrap-anywhere">
                The model did not answer. <VisibleText text={test.data.words} />
              </span>
            </p>
          )}
        </div>
        <Problem error={test.error ?? save.error ?? forget.error} />
        <div className="flex flex-wrap items-center justify-end gap-2">
          <span className="text-quiet" aria-live="polite">
            {lacks ?? (isSaved ? "Saved" : "")}
          </span>
          {vendor && (
            <Button disabled={test.isPending || lacks !== null || !isNamed} onClick={() => test.mutate()}>
              {test.isPending ? "Testing …" : "Test"}
            </Button>
          )}
          <Button type="submit" look="primary" disabled={save.isPending || lacks !== null || !isNamed || !isChanged}>
            Save model
          </Button>
        </div>
      </form>
    </Sheet>
  );
}

/** Why it cannot be saved yet: a model without a key would fail every job. */
function lackOf(vendor: Vendor, key: string): string | null {
  if (vendor.needs !== null) return "";
  const hasKey = vendor.key !== null || key.trim() !== "" || vendor.isKeyOptional;
  return hasKey ? null : "Paste a key to test and save";
}

function keyWords({ key, label }: Vendor): string {
  if (key === "project") return "This project has its own key. It is stored encrypted and never shown.";
  if (key === "installation") return `The installation has a key for ${label}. Paste one only to use your own.`;
  return "Stored encrypted, used only for this project, never shown.";
}

function wordsOf(model: DashboardModel): string {
  const name = model.name.slice(model.name.indexOf("/") + 1);
  return isPriced(model) ? `${name} · $${model.inputUsd} in, $${model.outputUsd} out` : name;
}

/** Without a price, zero is what it counts as. */
function isPriced({ inputUsd, outputUsd }: DashboardModel): boolean {
  return inputUsd > 0 || outputUsd > 0;
}

function Facts(props: { model: DashboardModel; isListed: boolean; usual: DashboardModels["usualJob"] }) {
  const { inputUsd, outputUsd, cachedInputUsd, contextTokens, seesPictures, usualJobUsd } = props.model;
  const { isMeasured, inputTokens, outputTokens } = props.usual;
  const tokens = `${roundTokens(inputTokens)} tokens in, ${roundTokens(outputTokens)} out`;
  const price = `$${inputUsd} in, $${outputUsd} out per million tokens`;
  const prices = [
    [
      "A usual job",
      `about $${usualJobUsd.toFixed(2)} (${isMeasured ? "the median of your jobs" : "assumed"}: ${tokens})`,
    ],
    ["Price", props.isListed ? price : `counted as ${price}, as for this vendor's most expensive model`],
  ];
  const isUnknown = !isPriced(props.model);
  const rows = [
    ...(isUnknown ? [["Price", "not known, so its jobs count as $0 towards budgets"]] : prices),
    ["Reads at once", `${contextTokens.toLocaleString("en")} tokens`],
    ["Pictures", seesPictures ? "can be attached" : "not known to see them"],
    ...(isUnknown
      ? []
      : [["Repeated text", cachedInputUsd === null ? "full price" : `$${cachedInputUsd} per million tokens (cached)`]]),
  ];
  return (
    <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[max-content_minmax(0,1fr)]">
      {rows.map(([word, text]) => (
        <div key={word} className="contents">
          <dt className="text-quiet">{word}</dt>
          <dd className="wrap-anywhere">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function roundTokens(count: number): string {
  return (Math.round(count / 100) * 100).toLocaleString("en");
}
