import type { Caller } from '../../../machines/domain/task.ts';

/** Claim names from which the caller's identity is read. */
export interface ClaimMap {
  user_id: string;
  email: string;
  org_id: string;
  workspace_id: string;
  acr: string;
}

/** Claim names that most issuers use. */
export const usualClaims: ClaimMap = {
  user_id: 'sub',
  email: 'email',
  org_id: 'org_id',
  workspace_id: 'workspace_id',
  acr: 'acr',
};

/** Maximum length of a claim, in characters. Each claim is stored with every task and repeated in every event. */
const longest = 1_024;

/**
 * Returns the caller that a verified token identifies; `null` if it names no user. Only non-empty text counts, so an
 * `acr` that is a list or a number is ignored (docs/contract/step-up.md). An email that the issuer marks as unverified
 * is dropped; with `needsProof`, so is any email that the issuer does not mark as verified. Other claims are discarded:
 * step-up needs only `acr`, and stored tasks should hold no more personal data than needed.
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
 * Returns whether an email may be trusted. Some issuers send `email_verified` as text; the claim applies to `email`
 * only.
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
