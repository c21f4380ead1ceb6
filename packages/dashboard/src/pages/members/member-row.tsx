import type { DashboardMember, MemberRole } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { request } from "../../api/request.ts";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Age } from "../../parts/age.tsx";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { roleOptions } from "./role-words.ts";

export function MemberRow({ member, onRemove }: { member: DashboardMember; onRemove(): void }) {
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (role: MemberRole) => request(`/members/${member.id}/role`, { body: { role } }),
    onSettled: () => queries.invalidateQueries(),
  });
  return (
    <li
      {...rowAttribute}
      tabIndex={-1}
      className="grid items-center gap-x-6 gap-y-2 px-4 py-2.5 -outline-offset-2 md:grid-cols-[minmax(0,1fr)_auto_auto]"
    >
      <div className="min-w-0">
        <p className="truncate font-medium">
          <VisibleText text={member.name} />
          {member.isSelf && <span className="font-normal text-quiet"> · you</span>}
        </p>
        <p className="truncate text-quiet">
          <VisibleText text={member.email} />
          {!member.hasPassword && " · single sign-on"}
        </p>
      </div>
      <p className="text-quiet">
        {member.lastLoginAt ? (
          <>
            logged in <Age at={member.lastLoginAt} />
          </>
        ) : (
          "never logged in"
        )}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <select
          aria-label={`Role of ${member.email}`}
          value={change.isPending ? change.variables : member.role}
          disabled={change.isPending}
          onChange={(event) => change.mutate(event.target.value as MemberRole)}
        >
          {roleOptions.map(({ value }) => (
            <option key={value} value={value}>
              {value.charAt(0).toUpperCase() + value.slice(1)}
            </option>
          ))}
        </select>
        <Button look="danger" onClick={onRemove} aria-label={`Remove ${member.email}`}>
          Remove
        </Button>
      </div>
      {change.error && (
        <div className="md:col-span-3">
          <Problem error={change.error} />
        </div>
      )}
    </li>
  );
}
