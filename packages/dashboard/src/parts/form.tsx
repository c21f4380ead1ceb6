import { type FormEvent, type InputHTMLAttributes, type ReactNode, type TextareaHTMLAttributes, useId } from "react";
import { Button } from "./button.tsx";
import { Problem } from "./notice.tsx";

interface FormProps {
  /** A mutation of `useMutation`. */
  action: { mutate(): void; isPending: boolean; error: unknown };
  /** The button's label. */
  submit: string;
  look?: "ordinary" | "primary" | "danger";
  isDisabled?: boolean;
  /** A cancel button. Absent if there is nothing to leave. */
  onCancel?(): void;
  cancel?: string;
  /** A note next to the button, such as "Saved". */
  note?: string;
  children?: ReactNode;
}

/** Fields, an error, and one button. The input stays until it is accepted. */
export function Form({ action, submit, look = "primary", cancel = "Cancel", children, ...rest }: FormProps) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!action.isPending) action.mutate();
  };
  return (
    <form onSubmit={onSubmit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {children}
      <Problem error={action.error} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="text-quiet" aria-live="polite">
          {rest.note}
        </span>
        {rest.onCancel && (
          <Button look="plain" onClick={rest.onCancel}>
            {cancel}
          </Button>
        )}
        <Button type="submit" look={look} disabled={action.isPending || rest.isDisabled}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

/** A label, its input, and a hint. */
export function Field(props: {
  label: string;
  help?: string;
  children(control: { id: string; "aria-describedby"?: string }): ReactNode;
}) {
  const id = useId();
  const helpId = `${id}help`;
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className="font-semibold">
        {props.label}
      </label>
      {props.children(props.help ? { id, "aria-describedby": helpId } : { id })}
      {props.help && (
        <p id={helpId} className="text-quiet">
          {props.help}
        </p>
      )}
    </div>
  );
}

interface Shared {
  label: string;
  help?: string;
  value: string;
  onText(text: string): void;
}

const mono = "font-mono text-[13px]";

/** A single-line input; `isCode` for text that is not prose. */
export function TextInput({
  label,
  help,
  onText,
  isCode,
  ...rest
}: Shared & { isCode?: boolean } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field label={label} {...(help && { help })}>
      {(control) => (
        <input
          {...control}
          className={`w-full ${isCode ? mono : ""}`}
          onChange={(event) => onText(event.target.value)}
          {...rest}
        />
      )}
    </Field>
  );
}

/** A code of an authenticator app, or a recovery code. */
export function CodeInput(props: { label?: string; value: string; help: string; onText(text: string): void }) {
  return (
    <TextInput
      label="Code"
      required
      autoFocus
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      maxLength={100}
      isCode
      {...props}
    />
  );
}

/** A list with one entry per line. */
export function LinesInput({ label, help, onText, ...rest }: Shared & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field label={label} {...(help && { help })}>
      {(control) => (
        <textarea
          {...control}
          rows={2}
          className={`field-sizing-content max-h-60 min-h-14 w-full resize-none ${mono}`}
          onChange={(event) => onText(event.target.value)}
          {...rest}
        />
      )}
    </Field>
  );
}

export function SelectInput<T extends string>(
  props: Omit<Shared, "value" | "onText"> & {
    value: T;
    onValue(value: NoInfer<T>): void;
    options: readonly { value: NoInfer<T>; words: string }[];
  },
) {
  return (
    <Field label={props.label} {...(props.help && { help: props.help })}>
      {(control) => (
        <select
          {...control}
          className="w-full min-w-0"
          value={props.value}
          onChange={(event) => props.onValue(event.target.value as T)}
        >
          {props.options.map(({ value, words }) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckInput(props: {
  label: string;
  help?: string | undefined;
  isOn: boolean;
  onToggle(isOn: boolean): void;
}) {
  const id = useId();
  const box = (
    <label className="flex min-h-6 items-start gap-2">
      <input
        className="mt-0.5"
        type="checkbox"
        aria-describedby={props.help && id}
        checked={props.isOn}
        onChange={(event) => props.onToggle(event.target.checked)}
      />
      <span className="line-clamp-2 min-w-0 wrap-anywhere">{props.label}</span>
    </label>
  );
  if (!props.help) return box;
  return (
    <div>
      {box}
      <p id={id} className="pl-6 text-quiet">
        {props.help}
      </p>
    </div>
  );
}

/** The lines of a list, without empty ones. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
