import type { ServiceConfig } from '../../src/actors/config/config.ts';
import type { Caller } from '../../src/machines/domain/task.ts';
import { runtimeProvider } from '../../src/machines/governance/approvers.ts';
import type { Person } from './test-agent.ts';

/** Returns a person's authenticated identity at an agent; `null` if callers do not authenticate. */
export function callerOf(
  person: Person | undefined,
  { isAuthOn, config: { auth } }: { isAuthOn: boolean; config: Pick<ServiceConfig, 'auth'> },
): Caller | null {
  if (!isAuthOn) return null;
  if (person === undefined) return { provider: runtimeProvider, userId: runtimeProvider };
  const said = typeof person === 'string' ? { email: person } : person;
  const { email, userId = email ?? 'nobody', provider = nameOf(auth.providers[0]) } = said;
  const { orgId, workspaceId, acr } = typeof person === 'string' ? {} : person;
  return {
    provider,
    userId,
    ...(email === undefined ? {} : { email }),
    ...(orgId === undefined ? {} : { orgId }),
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(acr === undefined ? {} : { acr }),
  };
}

/** Returns a person's email. */
export function emailOf(person: Person | undefined): string | null {
  return (typeof person === 'string' ? person : person?.email) ?? null;
}

function nameOf(provider: ServiceConfig['auth']['providers'][number] | undefined): string {
  return provider?.name ?? provider?.type ?? 'test';
}
