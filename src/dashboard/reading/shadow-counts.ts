import { isJsonObject, parseJson } from '../../machines/json.ts';
import type { AuditReader } from './audit-reader.ts';

/** Maximum number of entries of the audit log that are counted, and the time in milliseconds to find them. */
const mostCounted = 1_000;
const patience = 2_000;

/** Days for which the decisions of a rule in shadow are counted. */
export const shadowDays = 7;

/**
 * Counts how often each rule in shadow would have decided since `from`, by its name, in the newest entries of the audit
 * log; empty for a log that cannot be read.
 */
export async function shadowCounts(
  directory: string,
  audit: Pick<AuditReader, 'page'>,
  from: number,
): Promise<ReadonlyMap<string, number>> {
  const wanted = { event: 'policy_shadow', task: '', decision: '', from };
  const query = { limit: mostCounted, before: null, wanted, isVerified: false };
  const counts = new Map<string, number>();
  try {
    const { events } = await audit.page(directory, query, AbortSignal.timeout(patience));
    for (const { line } of events) {
      const rule = ruleIn(line);
      if (rule !== null) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    }
  } catch {
    // The audit page reports an unreadable log.
  }
  return counts;
}

function ruleIn(line: string): string | null {
  const event = parseJson(line);
  const fields = isJsonObject(event) ? event['fields'] : undefined;
  const rule = isJsonObject(fields) ? fields['rule'] : undefined;
  return typeof rule === 'string' ? rule : null;
}
