import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { Button } from "./button.tsx";
import { Form } from "./form.tsx";

/**
 * The browser's dialog: it traps the focus, closes with Escape and restores the focus. Listens for `cancel`, because
 * `close` comes late, and in development after it was opened again.
 */
export function Dialog(props: { title: string; isBare?: boolean; onClose(): void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  // Closed before it is removed: otherwise the focus is not restored.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-label={props.title}
      onCancel={props.onClose}
      onClick={(event) => event.target === ref.current && props.onClose()}
      onKeyDown={(event) => event.stopPropagation()}
      className="mx-auto mt-[10vh] max-h-[calc(90dvh-16px)] w-[min(640px,calc(100vw-32px))] rounded-md border border-line bg-sheet p-0 text-ink"
    >
      <div className={props.isBare ? "" : "grid gap-4 p-5"}>
        {!props.isBare && <h2 className="text-[20px] leading-7">{props.title}</h2>}
        {props.children}
      </div>
    </dialog>
  );
}

/** Confirms an action that cannot be undone. */
export function Confirm(props: {
  title: string;
  submit: string;
  look?: "primary" | "danger";
  /** The label of the cancel button. */
  cancel?: string;
  onConfirm(): Promise<unknown>;
  onClose(): void;
  children: ReactNode;
}) {
  const action = useMutation({ mutationFn: props.onConfirm, onSuccess: props.onClose });
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Form
        action={action}
        submit={props.submit}
        look={props.look ?? "danger"}
        cancel={props.cancel}
        onCancel={props.onClose}
      >
        {props.children}
      </Form>
    </Dialog>
  );
}

/** Shows what an action made, until somebody has read it. */
export function ResultDialog({ children, ...props }: { title: string; onClose(): void; children: ReactNode }) {
  return (
    <Dialog {...props}>
      {children}
      <div className="flex justify-end">
        <Button onClick={props.onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

/** A page's title and actions. */
export function Head({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-3 pt-8 pb-5">
      <h1 className="min-w-0">{title}</h1>
      {children && <div className="flex max-w-full flex-wrap gap-2">{children}</div>}
    </header>
  );
}

export function Sheet({ className = "", ...rest }: { className?: string; children: ReactNode }) {
  return <div className={`rounded-md border border-line bg-sheet ${className}`} {...rest} />;
}
