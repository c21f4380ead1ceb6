import type { DashboardLoggedIn } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { loginQuery } from "../../api/account-queries.ts";
import { hasPasskeys } from "../../api/passkeys.ts";
import { apiUrl, request } from "../../api/request.ts";
import { appPath } from "../../base-path.ts";
import { buttonLook } from "../../parts/button.tsx";
import { Form, TextInput } from "../../parts/form.tsx";
import { Problem } from "../../parts/notice.tsx";
import { PasskeyButton, SecondStep } from "./second-step.tsx";

/** Email address and password, or single sign-on if configured. */
export function LoginForm({ onLoggedIn }: { onLoggedIn?(): void }) {
  const queries = useQueryClient();
  const problem = new URLSearchParams(location.search).get("problem") ?? "";
  const { data } = useQuery(loginQuery(problem));
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [secondStep, setSecondStep] = useState<DashboardLoggedIn["secondStep"]>(null);
  async function enter() {
    await queries.invalidateQueries();
    onLoggedIn?.();
  }
  const logIn = useMutation({
    mutationFn: () => request<DashboardLoggedIn>("/auth/login", { body: { email, password } }),
    onSuccess: (answer) => (answer.secondStep ? setSecondStep(answer.secondStep) : enter()),
  });
  const takesPasskeys = data?.takesPasskeys && hasPasskeys;
  if (secondStep) {
    return (
      <SecondStep
        step={secondStep}
        onLoggedIn={enter}
        onRestart={() => {
          setSecondStep(null);
          setPassword("");
        }}
      />
    );
  }

  return (
    <div className="grid gap-4">
      <Problem error={data?.problem} />
      {data?.singleSignOn && (
        <a className={buttonLook("ordinary")} href={singleSignOnUrl()}>
          <span className="min-w-0 truncate">Continue with {data.singleSignOn.name}</span>
        </a>
      )}
      {takesPasskeys && <PasskeyButton token={null} onLoggedIn={enter} />}
      {(data?.singleSignOn || takesPasskeys) && (
        <p className="flex items-center gap-3 text-quiet before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
          or
        </p>
      )}
      <Form action={logIn} submit="Log in">
        <TextInput
          label="Email address"
          type="email"
          required
          autoComplete="username"
          value={email}
          onText={setEmail}
        />
        <TextInput
          label="Password"
          type="password"
          required
          autoComplete="current-password"
          value={password}
          onText={setPassword}
        />
      </Form>
    </div>
  );
}

/** Returns to this page. */
function singleSignOnUrl(): string {
  const page = location.pathname.slice(appPath.length).replace(/^\/login$/, "");
  const asked = new URLSearchParams(location.search);
  asked.delete("problem");
  const to = asked.size > 0 ? `/app${page}?${asked}` : `/app${page}`;
  return `${apiUrl("/auth/single-sign-on")}?${new URLSearchParams({ to })}`;
}
