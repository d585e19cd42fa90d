import { z } from 'zod';
import type { Caller } from '../../machines/domain/task.ts';
import { parseJson } from '../../machines/json.ts';

/**
 * The header in which the dashboard names the person for whom it sends a request with the daemon's own token
 * (docs/contract/dashboard.md).
 */
export const personHeader = 'X-Service-Person';

/** Maximum length of the header. Node accepts 16 KiB of headers in total. */
const longest = 12_288;

const text = z.string().min(1).max(1_024);

const namedPerson = z.strictObject({
  /** The issuer that identified the person. */
  issuer: z.string().min(1).max(2_048),
  /** `own`: tasks that the person requested, and those that list the person; `all`: the tasks of everyone. */
  access: z.enum(['own', 'all']),
  user_id: text,
  email: text.exactOptional(),
  org_id: text.exactOptional(),
  workspace_id: text.exactOptional(),
  acr: text.exactOptional(),
  groups: z.array(text).max(500).exactOptional(),
  claims: z.record(z.string(), z.json()).exactOptional(),
});

export type NamedPerson = z.output<typeof namedPerson>;

/** Formats a person, whose provider is the issuer, for the header; `null` for one with too many groups or claims. */
export function writePerson(caller: Caller, access: NamedPerson['access']): string | null {
  const { provider: issuer, userId: user_id, email, orgId, workspaceId, acr } = caller;
  const { groups, claims } = caller;
  const person = {
    ...{ issuer, access, user_id },
    ...(email === undefined ? {} : { email }),
    ...(orgId === undefined ? {} : { org_id: orgId }),
    ...(workspaceId === undefined ? {} : { workspace_id: workspaceId }),
    ...(acr === undefined ? {} : { acr }),
    ...(groups === undefined ? {} : { groups: [...groups] }),
    ...(claims === undefined ? {} : { claims: { ...claims } }),
  } satisfies NamedPerson;
  const written = Buffer.from(JSON.stringify(person)).toString('base64url');
  return written.length > longest ? null : written;
}

/** Reads the header; `null` for an invalid one. */
export function readPerson(header: string): NamedPerson | null {
  if (header.length > longest || !/^[\w-]+$/.test(header)) return null;
  const json = parseJson(Buffer.from(header, 'base64url').toString('utf8'));
  return namedPerson.safeParse(json).data ?? null;
}
