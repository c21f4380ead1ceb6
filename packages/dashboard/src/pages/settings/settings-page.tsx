import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { sessionQuery } from "../../api/queries.ts";
import { Head } from "../../parts/sheet.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { AuditLog } from "../audit/audit-log.tsx";
import { Members } from "../members/members.tsx";
import { Account } from "./account.tsx";
import { Installation } from "./installation.tsx";

const everybodys = [{ value: "account", words: "Account" }] as const;
const owners = [
  ...everybodys,
  { value: "members", words: "Members" },
  { value: "installation", words: "Installation" },
  { value: "audit", words: "Audit log" },
] as const;

/** One's own account; and for owners, who else may do what, and what was done. */
export function SettingsPage() {
  const session = useQuery(sessionQuery).data;
  const { tab } = useSearch({ from: "/settings" });
  if (!session) return null;
  const tabs = session.role === "owner" ? owners : everybodys;
  const chosen = tabs.find(({ value }) => value === tab)?.value ?? "account";
  return (
    <>
      <title>{`${tabs.find(({ value }) => value === chosen)?.words} · Emend`}</title>
      <Head title="Settings" />
      {tabs.length > 1 && <Tabs label="Settings" tabs={tabs} chosen={chosen} to="/settings" />}
      {chosen === "account" && <Account session={session} />}
      {chosen === "members" && <Members />}
      {chosen === "installation" && <Installation />}
      {chosen === "audit" && <AuditLog />}
    </>
  );
}
