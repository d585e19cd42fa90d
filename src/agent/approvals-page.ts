import { join } from 'node:path';
import { loadWebAccess } from '../actors/access/access.ts';
import { providerOfIssuer, type ServiceConfig } from '../actors/config/config.ts';
import type { Egress } from '../actors/outbound/outbound.ts';
import type { Clock } from '../actors/ports/clock.ts';
import type { Log } from '../actors/ports/log.ts';
import type { ApprovalsPage } from '../http/approvals/approvals-router.ts';
import { approvalsPath } from '../http/middleware/authenticate.ts';
import { readPageFiles } from '../http/middleware/page-files.ts';
import { packageRoot } from '../package-root.ts';
import type { AgentPolicies } from './create-system.ts';
import type { AgentRecords } from './open-records.ts';
import { StartError } from './read-access.ts';

/** Folder of the built page, in a clone and in the package. */
const folder = join(packageRoot, 'dist/ui/approvals');

interface PageParts {
  audit: Pick<AgentRecords, 'store' | 'record'>;
  clock: Clock;
  config: ServiceConfig;
  egress: Egress;
  env: NodeJS.ProcessEnv;
  log: Log;
  policies: Pick<AgentPolicies, 'policies'>;
}

/** Opens the approvals page of an agent; `null` if it is not configured. Throws StartError if the page is not built. */
export async function approvalsPage({
  audit,
  clock,
  config,
  egress,
  env,
  log,
  policies,
}: PageParts): Promise<ApprovalsPage | null> {
  if (config.approvals === undefined) return null;
  const files = readPageFiles(folder);
  if (files === null)
    throw new StartError('the approvals page is not built; run npm run build:page');
  const { openPasskeys, openWebAccess } = await loadWebAccess();
  const { store } = audit;
  const access = openWebAccess(config.approvals, {
    // People with the same id at the same issuer are the same, whether they send a token or sign in to the page.
    provider: providerOfIssuer(config, config.approvals.sign_in.issuer) ?? 'sign_in',
    page: {
      callback: `${approvalsPath}/callback`,
      home: `${approvalsPath}/`,
      setting: 'approvals.sign_in',
    },
    env,
    sessions: store.webSessions,
    key: (purpose) => store.keys.of(purpose),
    reads: () => policies.policies.current.policy.callerReads,
    clock,
    log,
    outbound: egress,
  });
  const { public_url: origin, passkey_delay: delay } = config.approvals;
  const records = store.webRecords;
  const passkeys = openPasskeys(
    { origin, delay },
    { records, record: (event) => audit.record(event), clock, log },
  );
  return { access, passkeys, agentId: config.agent_id, files };
}
