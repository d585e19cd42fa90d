import { settledBy } from '../../../machines/domain/ledger.ts';
import { isJoinable } from '../../../machines/governance/bounded.ts';
import type { Measured, MeasureInput } from '../../../machines/governance/bounds.ts';
import { isJsonObject, type JsonObject } from '../../../machines/json.ts';
import { deadline } from '../../deadline.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ToolOutbound } from '../../ports/egress.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Ledger } from '../../ports/ledger.ts';
import type { Log } from '../../ports/log.ts';
import type { Tool } from '../../ports/tool.ts';
import type { AgentEntity } from '../../records/records.ts';
import { rest } from '../../rest.ts';

export interface MeasurePorts {
  ledger: Ledger;
  tools: ReadonlyMap<string, Tool>;
  /** Egress of tools; `null` gives them none. */
  outbound: ToolOutbound | null;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Envelope keys of every audit event of the agent. */
  envelope: AgentEntity;
}

/** Interval in milliseconds in which a call that can join an earlier one looks for its end. */
const lookEvery = 250;

/** Time in which a tool must find out whether a call ran, in milliseconds. */
const reconcileWithin = 30_000;

/**
 * Creates the `measure` port: asks the ledger. A call that can join a running one waits for its end first, and an equal earlier
 * call with an unknown outcome is settled first by the tool that can find out.
 */
export function createMeasure(ports: MeasurePorts) {
  const { ledger, clock, envelope } = ports;
  return async (asked: MeasureInput, signal: AbortSignal): Promise<Measured> => {
    for (let isReconciled = false; ; ) {
      const measured = await ledger.measure(asked, clock.now());
      const { first } = measured;
      const { effect } = asked.bounds;
      if (first === null || effect === null) return measured;
      const { reconcile } = effect;
      // The tool is asked with the arguments of this call, so they must be those of the first one.
      const isSame = first.argsSha256 === asked.call.argsSha256 && effect.isShadow !== true;
      if (isSame && first.outcome === 'unknown' && reconcile !== undefined && !isReconciled) {
        isReconciled = true;
        const ran = await ranBy(reconcile, asked, ports, signal);
        if (ran === null) return measured;
        const reason = `${reconcile} answered ran: ${ran}`;
        const settled = { ran, by: settledBy(reconcile), reason, at: clock.now() };
        const ts = new Date(clock.now()).toISOString();
        const fields = { method: 'reconcile' };
        await ledger.settle(first.callId, settled, { ...envelope, ts, fields });
      } else if (asked.joins && first.outcome === 'running' && isJoinable(asked, first)) {
        await rest(lookEvery, clock, signal);
        signal.throwIfAborted();
      } else {
        return measured;
      }
    }
  };
}

/** Returns whether the earlier call ran, by the tool that finds out; `null` if it gives no answer. */
async function ranBy(
  name: string,
  { taskId, call }: MeasureInput,
  { tools, outbound, ids, clock, log }: MeasurePorts,
  signal: AbortSignal,
): Promise<boolean | null> {
  const tool = tools.get(name);
  const late = deadline(clock, reconcileWithin);
  const args = tool === undefined ? {} : namedArguments(tool, call.args);
  try {
    if (tool === undefined) throw new Error(`unknown tool: ${name}`);
    const misfit = tool.check?.(args) ?? null;
    if (misfit !== null) throw new Error(misfit);
    const answer = await tool.run(args, {
      ...{ taskId, callId: ids.next(), correlationId: taskId, tags: {}, credential: null },
      signal: AbortSignal.any([signal, late.signal]),
      ...(outbound === null ? {} : { outbound }),
    });
    const { ran } = JSON.parse(answer) as { ran?: unknown };
    if (typeof ran === 'boolean') return ran;
    throw new Error('its answer is not {"ran": true} or {"ran": false}');
  } catch (error) {
    if (!signal.aborted) log.error({ error, tool: name }, 'limits: no answer whether a call ran');
    return null;
  } finally {
    late.clear();
  }
}

/** Returns the arguments of a call that the schema of another tool names. */
function namedArguments({ parameters }: Tool, args: JsonObject): JsonObject {
  const { properties } = parameters;
  const named = isJsonObject(properties) ? properties : {};
  return Object.fromEntries(Object.entries(args).filter(([name]) => Object.hasOwn(named, name)));
}
