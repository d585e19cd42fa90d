import { readAssumeRoleSpec, regionOf } from './assume-role-spec.ts';
import type { CredentialEntry, Environment } from './credential-entry.ts';

/** A service that issues credentials. */
export interface CredentialAddress {
  /** Index of the entry in `credentials` that needs it. */
  index: number;
  url: string;
}

/** Returns the services that the entries contact for credentials; an invalid entry contacts none. */
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

/** Default endpoint of the client. */
function usualAddress(region: string): string {
  return `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}
