import { type ReactNode, useId } from "react";

/** A label, what it labels, and a word of help. */
export function Field(props: { label: string; help?: string; children(id: string): ReactNode }) {
  const id = useId();
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className="font-semibold">
        {props.label}
      </label>
      {props.children(id)}
      {props.help && <p className="text-quiet">{props.help}</p>}
    </div>
  );
}
