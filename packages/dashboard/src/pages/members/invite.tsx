import type { MemberRole } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { SelectInput, TextInput } from "../../parts/inputs.tsx";
import { roleOptions } from "./role-words.ts";

/** Makes a link and shows it once: Emend sends no mail, so it is passed on by hand. */
export function Invite({ onClose }: { onClose(): void }) {
  const queries = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<MemberRole>("viewer");
  const invite = useMutation({
    mutationFn: () => request<{ link: string }>("/invitations", { body: { email, role } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["members"] }),
  });
  if (invite.data) {
    return (
      <Dialog title="Send this link" onClose={onClose}>
        <p className="wrap-anywhere">
          It lets <b>{email}</b> join as {role}, once, within seven days. You won't see it again.
        </p>
        <CopyBlock text={invite.data.link} />
        <div className="flex justify-end">
          <Button onClick={onClose}>Done</Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Invite member" onClose={onClose}>
      <Form action={invite} submit="Create link" onCancel={onClose}>
        <TextInput label="Email address" type="email" required autoFocus value={email} onText={setEmail} />
        <SelectInput label="Role" value={role} onValue={setRole} options={roleOptions} />
      </Form>
    </Dialog>
  );
}
