import type { DashboardSettings } from "@emend/contract";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Icon } from "../../parts/icon.tsx";

const example = `EMEND_OIDC_ISSUER=https://id.example.com
EMEND_OIDC_CLIENT_ID=emend
EMEND_OIDC_CLIENT_SECRET_FILE=/run/secrets/oidc
EMEND_OIDC_DOMAINS=example.com
EMEND_OIDC_DEFAULT_ROLE=viewer`;

/** By configuration alone: whoever decides who gets in should not be able to be locked out by a form. */
export function SingleSignOn({ singleSignOn }: Pick<DashboardSettings, "singleSignOn">) {
  if (!singleSignOn) {
    return (
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <p>Off. Users log in with a password. To use an OpenID Connect provider, set in the environment:</p>
        <CopyBlock text={example} />
      </div>
    );
  }
  const { name, issuer, clientId, domains, defaultRole } = singleSignOn;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="flex items-center gap-1.5 font-medium text-good">
        <Icon name="check" /> On
      </p>
      <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1">
        <dt className="text-quiet">Provider</dt>
        <dd className="wrap-anywhere">{name}</dd>
        <dt className="text-quiet">Issuer</dt>
        <dd className="font-mono text-[13px] wrap-anywhere">{issuer}</dd>
        <dt className="text-quiet">Client</dt>
        <dd className="font-mono text-[13px] wrap-anywhere">{clientId}</dd>
        <dt className="text-quiet">Access</dt>
        <dd className="wrap-anywhere">
          {domains.length > 0
            ? `anyone with a verified ${domains.join(", ")} email, as ${defaultRole}; members and invited people`
            : "members and invited people"}
        </dd>
      </dl>
    </div>
  );
}
