import type { DashboardLoggedIn } from "@emend/contract";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { askPasskey, hasPasskeys } from "../../api/passkeys.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { CodeInput, Form } from "../../parts/form.tsx";
import { Problem } from "../../parts/notice.tsx";
import { SetUpStep } from "./set-up-step.tsx";

interface SecondStepProps {
  step: NonNullable<DashboardLoggedIn["secondStep"]>;
  onLoggedIn(): Promise<void>;
  onRestart(): void;
}

/** After the password: the second factor, or setting up the first one. */
export function SecondStep({ step, ...rest }: SecondStepProps) {
  return step.setUp ? <SetUpStep token={step.token} {...step.setUp} {...rest} /> : <ProveStep step={step} {...rest} />;
}

/** A passkey, a code of the authenticator app, or a recovery code. */
function ProveStep({ step, onLoggedIn, onRestart }: SecondStepProps) {
  const [code, setCode] = useState("");
  const finish = useMutation({
    mutationFn: () => request("/auth/second-step", { body: { token: step.token, code } }),
    onSuccess: onLoggedIn,
  });
  const help = step.hasApp
    ? "The six digits in your authenticator app, or a recovery code."
    : "If you don't have your passkey here: one of your recovery codes.";
  return (
    <div className="grid gap-4">
      {step.hasPasskey && hasPasskeys && <PasskeyButton token={step.token} onLoggedIn={onLoggedIn} />}
      <Form action={finish} submit="Log in" cancel="Start again" onCancel={onRestart}>
        <CodeInput label={step.hasApp ? "Code" : "Recovery code"} help={help} value={code} onText={setCode} />
      </Form>
    </div>
  );
}

/** `token`: of the step before. Null: the passkey says who it is. */
export function PasskeyButton({ token, onLoggedIn }: { token: string | null; onLoggedIn(): void }) {
  const logIn = useMutation({
    mutationFn: async () => {
      const answer = await askPasskey("/auth/passkey/begin", { token });
      return request("/auth/passkey", { body: { token, answer } });
    },
    onSuccess: onLoggedIn,
  });
  return (
    <>
      <Button disabled={logIn.isPending} onClick={() => logIn.mutate()}>
        {token === null ? "Log in with a passkey" : "Use a passkey"}
      </Button>
      <Problem error={logIn.error} />
    </>
  );
}
