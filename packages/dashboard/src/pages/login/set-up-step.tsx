import type { DashboardRecoveryCodes } from "@emend/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { hasPasskeys } from "../../api/passkeys.ts";
import { Button } from "../../parts/button.tsx";
import { AppForm, PasskeyForm } from "../../parts/factor-forms.tsx";
import { showRecoveryCodes } from "../../parts/recovery-codes.tsx";

interface SetUpStepProps {
  token: string;
  allowsPasskeys: boolean;
  onLoggedIn(): Promise<void>;
  onRestart(): void;
}

/** After the password, where a second factor is required and the person has none. Logs in with it. */
export function SetUpStep({ token, allowsPasskeys, onLoggedIn, onRestart }: SetUpStepProps) {
  const queries = useQueryClient();
  const [choice, setChoice] = useState<"app" | "passkey" | null>(null);
  async function finish({ recoveryCodes }: DashboardRecoveryCodes) {
    // Over the page that opens now: this one goes.
    showRecoveryCodes(queries, recoveryCodes);
    await onLoggedIn();
  }
  const shared = { token, onDone: finish, onCancel: () => setChoice(null) };
  if (choice === "app") return <AppForm {...shared} submit="Log in" />;
  if (choice === "passkey") return <PasskeyForm {...shared} />;
  return (
    <div className="grid gap-4">
      <p>This installation requires a second factor, and you have none yet. Set one up to log in.</p>
      <Button onClick={() => setChoice("app")}>Set up an authenticator app</Button>
      {allowsPasskeys && hasPasskeys && <Button onClick={() => setChoice("passkey")}>Add a passkey</Button>}
      <Button look="plain" onClick={onRestart}>
        Start again
      </Button>
    </div>
  );
}
