import type { Caller } from '../../../machines/domain/task.ts';
import { isExactValue } from '../../../machines/exact-number.ts';
import { type CallerReads, nothingRead } from '../../../machines/governance/caller-reads.ts';
import type { JsonValue } from '../../../machines/json.ts';

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
 * is dropped; with `needsProof`, so is any email that the issuer does not mark as verified. Other
 * claims are discarded, unless rules read them: stored tasks should hold no more personal data than needed.
 */
export function callerOfClaims(
  provider: string,
  claims: Readonly<Record<string, unknown>>,
  map: ClaimMap,
  { needsProof = false, groupsClaim, reads = nothingRead, others = claims }: ClaimOptions = {},
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
    ...(reads.groups ? groupsOf(others, groupsClaim) : {}),
    ...readClaims(others, reads, email === null ? map.email : null),
  };
}

/** Options of a provider for claims. */
interface ClaimOptions {
  /** Drops an email that the issuer does not mark as verified. */
  needsProof?: boolean;
  /** The claim with the caller's groups, possibly a dotted path; absent for none. */
  groupsClaim?: string | undefined;
  /** What rules read of callers; nothing when absent. */
  reads?: CallerReads;
  /** The claims that rules may read, if they are not those that name the caller. */
  others?: Readonly<Record<string, unknown>>;
}

/** Maximum number of groups, and maximum size of a claim as JSON in bytes. */
const most = { groups: 500, bytes: 4 * 1024 };

/**
 * Reads the groups of a caller: a list of texts, or one text. Without a valid claim there are none, so a condition on
 * them cannot be evaluated.
 */
function groupsOf(
  claims: Readonly<Record<string, unknown>>,
  name: string | undefined,
): Pick<Caller, 'groups'> {
  const value = name === undefined ? undefined : claimAt(claims, name);
  const groups = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(groups) || groups.length > most.groups || !groups.every(isGroup)) return {};
  return { groups };
}

function isGroup(value: unknown): value is string {
  if (typeof value !== 'string' || value.trim() === '') return false;
  return value.length <= longest && value.isWellFormed();
}

/** Finds a claim by its name, or by the path of a nested one such as `realm_access.roles`. */
function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split('.').reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  }, claims);
}

/**
 * Returns the claims that rules read. A claim with a number that was rounded, one that is too large, and an email that
 * may not be trusted (`withheld`) are dropped.
 */
function readClaims(
  claims: Readonly<Record<string, unknown>>,
  { claims: names }: CallerReads,
  withheld: string | null,
): Pick<Caller, 'claims'> {
  const read = [...names].filter(
    (name) => name !== withheld && Object.hasOwn(claims, name) && isKept(claims[name]),
  );
  if (read.length === 0) return {};
  return { claims: Object.fromEntries(read.map((name) => [name, claims[name] as JsonValue])) };
}

function isKept(value: unknown): boolean {
  return isExactClaim(value, 8) && Buffer.byteLength(JSON.stringify(value)) <= most.bytes;
}

function isExactClaim(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return isExactValue(value);
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return value !== undefined;
  return depth > 0 && Object.values(value).every((inner) => isExactClaim(inner, depth - 1));
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
