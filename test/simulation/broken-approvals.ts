import type { RecordedEvent } from '../../src/actors/records/records.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { groups, type SimulatedTeam } from './simulated-team.ts';

/** An approval in the log. */
interface Approval {
  deferral: string;
  people: string[];
  rights: ReadonlySet<string>;
  /** True if it changed the call, which waits anew then. */
  isEdit: boolean;
}

/**
 * Returns what the approvals of holds break, a sentence each: a decision of a person without the right at any moment at
 * which it was under way, and a released payment without one approval of each group, by different people.
 */
export function brokenApprovals(
  byTask: ReadonlyMap<string, readonly RecordedEvent[]>,
  team: Pick<SimulatedTeam, 'rightsOf'>,
): string[] {
  return [...byTask].flatMap(([id, lines]) => {
    const broken: string[] = [];
    const approvals: Approval[] = [];
    const needed = new Map<string, readonly string[]>();
    for (const { event, fields } of lines.map(partsOf)) {
      const deferral = String(fields['deferral_id']);
      if (event === 'hold_deferred') {
        needed.set(deferral, groupsIn(fields['approvers']));
        // The approval that changed a call counts for the changed one.
        const last = approvals.at(-1);
        const isChanged = fields['edited_from'] !== undefined && last?.isEdit === true;
        if (isChanged) approvals.push({ ...last, deferral, isEdit: false });
      }
      if (event === 'hold_deferred_decision' && fields['authorized'] !== false) {
        const approver = String(fields['approver']);
        const delegator = typeof fields['for'] === 'string' ? fields['for'] : null;
        const rights = team.rightsOf(id, approver, delegator);
        const isEntitled = (needed.get(deferral) ?? []).some((name) => rights.has(name as never));
        const name = delegator === null ? approver : `${approver} for ${delegator}`;
        if (!isEntitled) broken.push(`${name} decided on hold ${id} without the right`);
        if (fields['decision'] === 'approve') {
          const people = [approver, ...(delegator === null ? [] : [delegator])];
          const isEdit = fields['edited_args_sha256'] !== undefined;
          approvals.push({ deferral, people, rights, isEdit });
        }
      }
      if (event === 'hold_released') {
        const own = approvals.filter((one) => one.deferral === deferral);
        const missing = needed.get(deferral) ?? [];
        if (missing.length === groups.length && !isCovered(missing, own)) {
          broken.push(`hold ${id} was released without an approval of each group`);
        }
      }
    }
    return broken;
  });
}

function partsOf(line: RecordedEvent): { event: string; fields: JsonObject } {
  const { event, fields = {} } = line as { event: string; fields?: JsonObject };
  return { event, fields };
}

function groupsIn(approvers: unknown): string[] {
  const entries: unknown[] = Array.isArray(approvers) ? approvers : [];
  return entries.flatMap((one) => /^group:(.+)$/.exec(String(one))?.[1] ?? []);
}

/** Returns whether each group has an approval of its own, no two of which share a person. */
function isCovered(missing: readonly string[], approvals: readonly Approval[]): boolean {
  const [name, ...others] = missing;
  if (name === undefined) return true;
  return approvals.some(({ rights, people }) => {
    const rest = approvals.filter((other) => !other.people.some((one) => people.includes(one)));
    return rights.has(name) && isCovered(others, rest);
  });
}
