import { useQuery } from "@tanstack/react-query";
import { loginQuery } from "../../api/account-queries.ts";
import { CopyBlock } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { Pending } from "../../parts/notice.tsx";
import { LoginForm } from "./login-form.tsx";

/** Shown at every URL to people who are not logged in. After the login, the requested page opens. */
export function LoginPage() {
  const login = useQuery(loginQuery(new URLSearchParams(location.search).get("problem") ?? ""));
  if (!login.data) return <Pending error={login.error} />;
  return (
    <section className="mx-auto grid max-w-[400px] gap-5 py-12 sm:py-20">
      <title>Log in · Emend</title>
      {login.data.hasOwner || login.data.singleSignOn ? (
        <>
          <h1>Log in</h1>
          <Sheet className="p-5">
            <LoginForm />
          </Sheet>
          <details className="text-quiet">
            <summary>Can't log in?</summary>
            <div className="grid gap-2 pt-3">
              <p>Ask an owner for an invitation. An administrator can create a password reset link:</p>
              <CopyBlock text="emend user reset YOU@EXAMPLE.COM" />
              <p>or remove a second factor that you lost:</p>
              <CopyBlock text="emend user reset-factor YOU@EXAMPLE.COM" />
              <p>or create a one-time login link:</p>
              <CopyBlock text="emend user link" />
            </div>
          </details>
        </>
      ) : (
        <>
          <h1>Log in for the first time</h1>
          <p>
            This installation has no owner yet. The server printed a link when it started. Open that link to become the
            owner. To print a new one:
          </p>
          <CopyBlock text="emend user link" />
          <p className="text-quiet">In a checkout of the repository:</p>
          <CopyBlock text="npx emend user link" />
        </>
      )}
    </section>
  );
}
