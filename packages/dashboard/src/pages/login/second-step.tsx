import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { CodeInput, Form } from "../../parts/form.tsx";

/** After the password: a code of the authenticator app, or a recovery code. */
export function SecondStep(props: { token: string; onLoggedIn(): void; onRestart(): void }) {
  const [code, setCode] = useState("");
  const finish = useMutation({
    mutationFn: () => request("/auth/second-step", { body: { token: props.token, code } }),
    onSuccess: props.onLoggedIn,
  });
  return (
    <Form action={finish} submit="Log in" cancel="Start again" onCancel={props.onRestart}>
      <CodeInput help="The six digits in your authenticator app, or a recovery code." value={code} onText={setCode} />
    </Form>
  );
}
