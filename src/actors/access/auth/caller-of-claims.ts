import type { Caller } from '../../../machines/task/task.ts';

/** The names under which a token carries what is told of a caller. */
export interface ClaimMap {
  user_id: string;
  email: string;
  org_id: string;
  workspace_id: string;
  acr: string;
}

/** The names that most issuers use. */
export const usualClaims: ClaimMap = {
  user_id: 'sub',
  email: 'email',
  org_id: 'org_id',
  workspace_id: 'workspace_id',
  acr: 'acr',
};

/** Longest text that counts, in characters: it is kept with every task and named in every event. */
const longest = 1_024;

/**
 * Reads who a verified token stands for; `null` when it names no user. Only text with something in it counts, so an
 * `acr` that is a list or a number is none (docs/contract/step-up.md); an address that the issuer calls unverified is
 * left out, and under `needsProof` any that it does not call verified. The claims themselves are not kept: step-up
 * needs `acr` alone, and a task that is stored should not hold more about a person than it needs.
 */
export function callerOfClaims(
  provider: string,
  claims: Readonly<Record<string, unknown>>,
  map: ClaimMap,
  needsProof = false,
): Caller | null {
  const userId = textOf(claims, map.user_id);
  if (userId === null) return null;
  const email = isBelieved(claims, map, needsProof) ? textOf(claims, map.email) : null;
  const orgId = textOf(claims, map.org_id);
  const workspaceId = textOf(claims, map.workspace_id);
  const acr = textOf(claims, map.acr);
  return {
    provider,
    userId,
    ...(email === null ? {} : { email }),
    ...(orgId === null ? {} : { orgId }),
    ...(workspaceId === null ? {} : { workspaceId }),
    ...(acr === null ? {} : { acr }),
  };
}

function textOf(claims: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = Object.hasOwn(claims, name) ? claims[name] : null;
  if (typeof value !== 'string' || value.trim() === '' || !value.isWellFormed()) return null;
  return value.length > longest ? null : value;
}

/**
 * Returns whether an address is its owner's. Some issuers write `email_verified` as text; it speaks of the
 * claim `email` and of no other.
 */
function isBelieved(
  claims: Readonly<Record<string, unknown>>,
  map: ClaimMap,
  needsProof: boolean,
): boolean {
  const said = Object.hasOwn(claims, 'email_verified') ? claims['email_verified'] : null;
  if (needsProof) return map.email === 'email' && (said === true || said === 'true');
  return said !== false && said !== 'false';
}
