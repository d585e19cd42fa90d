import type { Caller } from '../../machines/domain/task.ts';
import { runtimeProvider } from '../../machines/governance/approvers.ts';
import type { CallerReads } from '../../machines/governance/caller-reads.ts';
import type { TaskAccess } from '../../machines/task/task-access.ts';
import { personHeader, readPerson } from '../wire/named-person.ts';
import { Problem } from '../wire/problem.ts';

/** The sign-in of the dashboard whose people an agent accepts. */
export interface DashboardSignIn {
  issuer: string;
  /** Name of the provider of these people. */
  provider: string;
  /** Returns what rules read of callers. */
  reads: () => CallerReads;
}

/** A person for whom the dashboard sends a request. */
export interface PersonActing {
  caller: Caller;
  taskAccess: TaskAccess;
}

/**
 * Returns the person whom the dashboard names in a header. Only the daemon's own token may name one, and only one of
 * the issuer that the agent accepts. Throws a 400 or 403 Problem.
 */
export function personNamed(
  header: string,
  caller: Caller | null,
  signIn: DashboardSignIn | null,
): PersonActing {
  if (caller?.provider !== runtimeProvider) {
    throw new Problem(
      'daemon_token_required',
      `only the daemon's own token may send ${personHeader}`,
    );
  }
  const person = readPerson(header);
  if (person === null) throw new Problem('invalid_header', `${personHeader} cannot be read`);
  const { issuer, access, user_id: userId, email, org_id, workspace_id, acr } = person;
  if (signIn === null || signIn.issuer !== issuer) {
    const error = `the agent accepts no people of the dashboard; set auth.dashboard_issuer to ${issuer} in its service.yaml`;
    throw new Problem('dashboard_not_accepted', error);
  }
  const { groups, claims } = signIn.reads();
  const read = Object.entries(person.claims ?? {}).filter(([name]) => claims.has(name));
  return {
    caller: {
      ...{ provider: signIn.provider, userId },
      ...(email === undefined ? {} : { email }),
      ...(org_id === undefined ? {} : { orgId: org_id }),
      ...(workspace_id === undefined ? {} : { workspaceId: workspace_id }),
      ...(acr === undefined ? {} : { acr }),
      ...(groups && person.groups !== undefined ? { groups: person.groups } : {}),
      ...(read.length === 0 ? {} : { claims: Object.fromEntries(read) }),
    },
    taskAccess: access === 'all' ? 'any' : 'requester',
  };
}
