import { loadWebAccess } from '../../actors/access/access.ts';
import { providerOfIssuer, type ServiceConfig } from '../../actors/config/config.ts';
import { type Egress, PageDevices, type PersonRights } from '../../actors/outbound/outbound.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import { allTasks, type TaskSystem } from '../../actors/tasks/tasks.ts';
import type { ApprovalsPage } from '../../http/approvals/approvals-router.ts';
import { approvalsPath } from '../../http/middleware/authenticate.ts';
import { type PageFiles, readPageFiles } from '../../http/middleware/page-files.ts';
import type { Caller, Task } from '../../machines/domain/task.ts';
import { maySeeWhole } from '../../machines/governance/approvers.ts';
import { scopeOf } from '../../machines/task/task-access.ts';
import { builtPages, isPageBuilt, PageBuildError } from './built-page.ts';
import type { AgentPolicies } from './create-system.ts';
import type { AgentRecords } from './open-records.ts';
import { StartError } from './read-access.ts';

interface PageParts {
  audit: Pick<AgentRecords, 'store' | 'record'>;
  clock: Clock;
  config: ServiceConfig;
  egress: Egress;
  env: NodeJS.ProcessEnv;
  log: Log;
  policies: Pick<AgentPolicies, 'policies'>;
  system: TaskSystem;
}

/**
 * Opens the approvals page of an agent until `stop` is called; `null` if it is not configured. Throws StartError if the
 * page cannot be built.
 */
export async function approvalsPage({
  audit,
  clock,
  config,
  egress,
  env,
  log,
  policies,
  system,
}: PageParts): Promise<(ApprovalsPage & { stop: () => void }) | null> {
  if (config.approvals === undefined) return null;
  const files = await builtFiles(log);
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
  const devices = new PageDevices({
    ...{ origin, services: config.approvals.push_services, records, egress, clock, log },
    ...{ rights: rightsIn(system), key: (purpose: string) => store.keys.of(purpose) },
  });
  const unsubscribe = system.watchers.subscribe(allTasks, {
    onOwnChange: (task, before) => devices.changed(task, before),
  });
  const stop = (): void => {
    unsubscribe();
    devices.stop();
  };
  return { access, passkeys, agentId: config.agent_id, devices, files, stop };
}

/** Returns the page, which a clone builds first if its sources are newer. Throws StartError if that fails. */
async function builtFiles(log: Log): Promise<PageFiles> {
  if (!isPageBuilt()) log.info({}, 'building the approvals page');
  try {
    const { approvals } = await builtPages();
    const files = readPageFiles(approvals);
    if (files !== null) return files;
  } catch (error) {
    if (!(error instanceof PageBuildError)) throw error;
    throw new StartError(`${error.message}; ${error.hint}`, { cause: error });
  }
  throw new StartError('the package has no approvals page; install it again');
}

/** Maximum number of waiting calls that a notification counts. */
const mostCounted = 100;

/** Returns what people may do with the tasks of an agent, as on the page. */
function rightsIn(system: TaskSystem): PersonRights {
  const { people, reads } = system;
  const now = (): number => system.now();
  const standingOf = (person: Caller) =>
    people.standingOf({ email: person.email ?? null, caller: person }, now());
  const mayDecide = ({ deferral, requester }: Task, person: Caller): boolean =>
    deferral !== null &&
    deferral.approvers !== null &&
    maySeeWhole({ ...deferral, bindApprover: true }, person, requester, standingOf(person));
  return {
    refresh: async () => void (await people.refresh(now())),
    mayDecide,
    async waiting(person) {
      const scope = scopeOf('requester', person, standingOf(person));
      const { tasks } = await reads.listWaiting({ limit: mostCounted }, scope);
      return tasks.filter((task) => mayDecide(task, person)).length;
    },
  };
}
