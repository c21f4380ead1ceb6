import { useEffect, useState } from "react";
import { sessionEnded } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { LoginForm } from "./login-form.tsx";

/** Shown below the page, which keeps everything that was typed. */
export function SessionEnded() {
  const [state, setState] = useState<"live" | "ended" | "asked">("live");
  useEffect(() => {
    // A dialog blocks the page, and closing it would lose its text, so the login is shown at once.
    const hear = () =>
      setState((before) => (before === "asked" || document.querySelector("dialog:modal") ? "asked" : "ended"));
    sessionEnded.addEventListener("ended", hear);
    return () => sessionEnded.removeEventListener("ended", hear);
  }, []);
  if (state === "live") return null;
  function resume() {
    sessionEnded.dispatchEvent(new Event("resumed"));
    setState("live");
  }
  return (
    <>
      <div role="status" className="border-t border-warn bg-sheet text-warn">
        <p className="mx-auto flex max-w-[1200px] flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2 sm:px-6">
          <span className="min-w-0 flex-1">Your session expired. Your text is still here.</span>
          <Button onClick={() => setState("asked")}>Log in again</Button>
        </p>
      </div>
      {state === "asked" && (
        <Dialog title="Log in again" onClose={() => setState((before) => (before === "asked" ? "ended" : before))}>
          <LoginForm onLoggedIn={resume} />
        </Dialog>
      )}
    </>
  );
}
