import type { DecidedCallJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import { type Decided, type Outcome, unreported } from '../../state/outcome-of.ts';
import { decidingArguments } from './deciding-arguments.ts';

/** A decision of the user. */
export interface DecidedRow {
  agent: string;
  task: string;
  call: string;
  tool: string;
  verb: 'approve' | 'reject';
  /** RFC 3339. */
  at: string;
  /** The arguments of a call decided on this page, the note of an earlier decision. */
  about: string;
  /** `null` while unknown, and for a rejected call. */
  outcome: Outcome | null;
  /** What is shown while the outcome is unknown. */
  pending: string;
}

const pending = 'approved, no outcome yet';

/** Joins the decisions made on this page with the earlier ones that agents report, newest first. */
export function decidedRows(
  own: readonly Decided[],
  earlier: readonly DecidedCallJson[],
): DecidedRow[] {
  const known = new Set(own.map(({ deferral }) => `${deferral.agent_id} ${deferral.id}`));
  return [
    ...own.map(
      ({ deferral, verb, at, outcome }): DecidedRow => ({
        ...{ agent: deferral.agent_id, task: deferral.task_id, call: deferral.id },
        ...{ tool: deferral.tool, verb, at: new Date(at).toISOString(), outcome },
        pending: deferral.hold === undefined ? pending : unreported,
        about: decidingArguments(deferral)
          .map(({ name, value }) => `${name} ${value}`)
          .join(' · '),
      }),
    ),
    ...earlier
      .filter(({ agent_id, id }) => !known.has(`${agent_id} ${id}`))
      .map(
        (one): DecidedRow => ({
          ...{ agent: one.agent_id, task: one.task_id, call: one.id, tool: one.tool },
          ...{ at: one.decided_at, about: one.note, outcome: outcomeOf(one) },
          pending,
          verb: one.decision === 'approve' ? 'approve' : 'reject',
        }),
      ),
  ];
}

function outcomeOf({ outcome, error }: DecidedCallJson): Outcome | null {
  switch (outcome) {
    case undefined:
      return null;
    case 'ran':
      return { isFine: true, words: 'ran' };
    case 'failed':
      return { isFine: false, words: error === undefined ? 'failed' : `failed: ${error}` };
    case 'never_ran':
      return { isFine: false, words: 'never ran' };
    default:
      return { isFine: false, words: 'started; outcome unknown' };
  }
}
