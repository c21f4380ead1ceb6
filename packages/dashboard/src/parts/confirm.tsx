import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Dialog } from "./dialog.tsx";
import { Form } from "./form.tsx";

/** Asks once more before something that cannot be undone. */
export function Confirm(props: {
  title: string;
  submit: string;
  onConfirm(): Promise<unknown>;
  onClose(): void;
  children: ReactNode;
}) {
  const action = useMutation({ mutationFn: props.onConfirm, onSuccess: props.onClose });
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Form action={action} submit={props.submit} look="danger" cancel="Cancel" onCancel={props.onClose}>
        {props.children}
      </Form>
    </Dialog>
  );
}
