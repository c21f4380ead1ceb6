import type { DashboardLink, DashboardLoggedIn } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { linkQuery } from "../../api/account-queries.ts";
import { ApiError, request } from "../../api/request.ts";
import { CopyBlock } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { Form, TextInput } from "../../parts/form.tsx";
import { Pending } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { SecondStep } from "./second-step.tsx";

/** The page of a single-use link that asks something first. The token is in the fragment, which servers do not see. */
export function WelcomePage() {
  const [token] = useState(() => location.hash.slice(1));
  const link = useQuery(linkQuery(token));
  if (link.error instanceof ApiError && (link.error.status === 410 || link.error.status === 400)) return <LinkGone />;
  if (!link.data) return <Pending error={link.error} />;
  return <Welcome token={token} link={link.data} />;
}

const words = {
  owner: {
    title: "Become the owner",
    intro: "You are the first user. The owner invites others and sets their roles.",
    submit: "Become the owner",
  },
  invite: { title: "Join", intro: "You have been invited.", submit: "Join" },
  reset: {
    title: "Set a new password",
    intro: "This ends all your other sessions.",
    submit: "Set password",
  },
} as const;

const roles = {
  owner: "Owners can do everything.",
  maintainer: "Maintainers manage projects, keys and jobs.",
  viewer: "Viewers can see everything and change nothing.",
} as const;

function Welcome({ token, link }: { token: string; link: DashboardLink }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [email, setEmail] = useState(link.email ?? "");
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [secondStep, setSecondStep] = useState<DashboardLoggedIn["secondStep"]>(null);
  async function enter() {
    await queries.resetQueries({ queryKey: ["session"] });
    await navigate({ to: link.purpose === "owner" ? "/start" : "/", hash: "", replace: true });
  }
  const accept = useMutation({
    mutationFn: () =>
      request<DashboardLoggedIn>("/auth/accept", {
        body: {
          token,
          password,
          ...(link.purpose === "owner" && { email }),
          ...(link.purpose !== "reset" && { name }),
        },
      }),
    onSuccess: (answer) => (answer.secondStep ? setSecondStep(answer.secondStep) : enter()),
  });
  const { title, intro, submit } = words[link.purpose];
  if (secondStep) {
    return (
      <section className="mx-auto grid max-w-[400px] gap-5 py-12 sm:py-20">
        <title>Log in · Emend</title>
        <h1>{secondStep.setUp ? "One more step" : "Your new password is set"}</h1>
        <Sheet className="p-5">
          <SecondStep
            step={secondStep}
            onLoggedIn={enter}
            onRestart={() => navigate({ to: "/", hash: "", replace: true })}
          />
        </Sheet>
      </section>
    );
  }

  return (
    <section className="mx-auto grid max-w-[400px] gap-5 py-12 sm:py-20">
      <title>{`${title} · Emend`}</title>
      <h1>{title}</h1>
      <p>
        {intro} {link.role && roles[link.role]}
      </p>
      <Sheet className="p-5">
        <Form action={accept} submit={submit}>
          {link.purpose === "owner" ? (
            <TextInput
              label="Email address"
              type="email"
              required
              autoFocus
              autoComplete="username"
              help="You log in with it."
              value={email}
              onText={setEmail}
            />
          ) : (
            <p className="grid gap-1">
              <span className="font-semibold">Email address</span>
              <span className="wrap-anywhere">
                <VisibleText text={link.email ?? ""} />
              </span>
              {/* For the browser's password manager. */}
              <input type="hidden" autoComplete="username" value={link.email ?? ""} />
            </p>
          )}
          {link.purpose !== "reset" && (
            <TextInput label="Your name" required maxLength={200} autoComplete="name" value={name} onText={setName} />
          )}
          <TextInput
            label="Password"
            type="password"
            required
            autoComplete="new-password"
            help="At least 12 characters. A few words work well."
            value={password}
            onText={setPassword}
          />
        </Form>
      </Sheet>
    </section>
  );
}

function LinkGone() {
  return (
    <section className="mx-auto grid max-w-[480px] gap-4 py-12 sm:py-20">
      <title>Link not valid · Emend</title>
      <h1>This link is not valid</h1>
      <p>
        It was used, has expired or is incomplete. Make sure that you copied all of it. Otherwise ask an owner for a new
        invitation, or create a new link on the server:
      </p>
      <CopyBlock text="emend user link" />
    </section>
  );
}
