import { readAssumeRoleSpec, regionOf } from './assume-role-spec.ts';
import type { CredentialEntry, Environment } from './credential-entry.ts';

/** A service that is asked for credentials. */
export interface CredentialAddress {
  /** Which entry of `credentials` needs it. */
  index: number;
  url: string;
}

/** Names the services that the entries ask for credentials; an entry that cannot be read asks none. */
export function credentialAddresses(
  entries: readonly CredentialEntry[],
  env: Environment,
): CredentialAddress[] {
  return entries.flatMap(({ provider, spec }, index) => {
    const reading = provider === 'sts_assume_role' ? readAssumeRoleSpec(spec) : null;
    if (reading?.ok !== true) return [];
    return [{ index, url: reading.spec.endpoint ?? usualAddress(regionOf(reading.spec, env)) }];
  });
}

/** Where the client of the service asks when no endpoint is given. */
function usualAddress(region: string): string {
  return `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}
