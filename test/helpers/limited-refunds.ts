import { argsDigest } from '../../src/actors/governance/governance.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import type { TaskLine } from './broken-task.ts';

/** A refund that a caller asks for. */
export interface Refund extends JsonObject {
  shop: string;
  order: string;
  amount: number;
}

/** What the refunds of a shop may add up to. */
const most = 6;

/** Limits and effects of refunds: a shop has a maximum for the whole time of a test, and each order is refunded once. */
export function refundBounds(tool: string) {
  return {
    limits: {
      refunds: {
        ...{ tools: [tool], amount: 'args.amount', by: ['args.shop'] },
        ...{ per: '30d', max: most, over: 'deny' },
      },
    },
    effects: { [tool]: { key: 'refund:{args.shop}:{args.order}', repeat: 'deny' } },
  };
}

/** A line of the log, as far as it tells of refunds. */
type Line = TaskLine & { task_id?: string };

/** A refund that ran, or may have run. */
interface Ran {
  refund: Refund;
  /** Failed calls count for their limit, and free their effect. */
  hasFailed: boolean;
}

/**
 * Adds up the refunds of a log, also those that a gate handed out. Returns the limits that they exceed and the orders that
 * were refunded twice, one sentence each.
 *
 * @param asked the refunds that callers asked for
 */
export function brokenRefunds(
  lines: readonly Line[],
  tool: string,
  asked: readonly Refund[],
): string[] {
  const byDigest = new Map(asked.map((refund) => [argsDigest(tool, refund), refund]));
  const byTask = Map.groupBy(lines, ({ task_id: id }) => id ?? '');
  const ran = [...byTask.values()].flatMap((own) => [
    ...startedIn(own, tool, byDigest),
    ...grantedIn(own, tool, byDigest),
  ]);
  const byShop = Map.groupBy(ran, ({ refund }) => refund.shop);
  const effective = ran.filter(({ hasFailed }) => !hasFailed);
  const byOrder = Map.groupBy(effective, ({ refund: { shop, order } }) => `${shop} ${order}`);
  const sumOf = (some: readonly Ran[]) => some.reduce((sum, { refund }) => sum + refund.amount, 0);
  return [
    ...[...byShop].flatMap(([shop, some]) =>
      sumOf(some) > most ? [`the shop ${shop} refunded ${sumOf(some)} of ${most}`] : [],
    ),
    ...[...byOrder].flatMap(([order, { length }]) =>
      length > 1 ? [`the order ${order} was refunded ${length} times`] : [],
    ),
  ];
}

/** Calls that an agent started. */
function startedIn(lines: readonly Line[], tool: string, refunds: ReadonlyMap<string, Refund>) {
  const calls = lines.filter(
    ({ event, fields }) => event === 'tool_exec' && fields?.['tool'] === tool,
  );
  return calls.flatMap(({ fields }): Ran[] => {
    const refund = refunds.get(String(fields?.['args_sha256']));
    if (fields?.['phase'] !== 'start' || refund === undefined) return [];
    const end = calls.findLast(
      (one) => one.fields?.['phase'] === 'end' && one.fields['call_id'] === fields['call_id'],
    );
    const outcome = end?.fields?.['outcome'];
    return outcome === 'not_run' ? [] : [{ refund, hasFailed: outcome === 'failed' }];
  });
}

/** Calls that a gate allowed. */
function grantedIn(lines: readonly Line[], tool: string, refunds: ReadonlyMap<string, Refund>) {
  const ruled = lines.findLast(({ event }) => event === 'call_ruled')?.fields;
  const refund = refunds.get(String(ruled?.['args_sha256']));
  const isAllowed = ruled?.['tool'] === tool && ruled['decision'] === 'allow';
  const ended = lines.find(({ event }) => event === 'hold_outcome')?.fields?.['status'];
  const isUnused = ended === 'not_run' || lines.some(({ event }) => event === 'hold_withdrawn');
  const ranHere = lines.some(({ event }) => event === 'tool_exec');
  if (!isAllowed || isUnused || ranHere || refund === undefined) return [];
  const isHold = lines.some(({ event, fields }) => event === 'session_start' && fields?.['key']);
  return isHold ? [{ refund, hasFailed: ended === 'failed' }] : [];
}
