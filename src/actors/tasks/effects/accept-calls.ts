import { fromPromise } from 'xstate';
import type { CutReason, ToolCall } from '../../../machines/domain/task.ts';
import type { AcceptedCalls, AcceptInput } from '../../../machines/task/task-events.ts';
import { definitionDigest } from '../../governance/governance.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { AskedCall } from '../../ports/model.ts';
import type { Tool } from '../../ports/tool.ts';
import { whenReachable } from '../when-reachable.ts';
import { acceptCall } from './accept-call.ts';

export interface AcceptPorts {
  ids: Ids;
  clock: Clock;
  /** The current tools. */
  tools: ReadonlyMap<string, Tool>;
  /** Marks calls of a task that would exceed its caller's limit of waiting calls. */
  admit: (taskId: string, calls: readonly ToolCall[]) => Promise<ToolCall[]>;
}

/** Requested calls of a task. */
export interface RequestedCalls {
  taskId: string;
  calls: readonly (AskedCall & Pick<ToolCall, 'runsSha256'>)[];
  /** Why the provider truncated the turn with the calls; absent for complete ones. */
  cut?: CutReason | undefined;
}

/** Creates the `accept` port: the calls that a run begins with pass the same checks as the calls of a model turn. */
export function createAccept(ports: AcceptPorts) {
  return fromPromise<AcceptedCalls, AcceptInput>(async ({ input, signal }) => {
    const began = performance.now();
    const calls = await acceptCalls(input, signal, ports);
    const duration = Math.round(performance.now() - began);
    return { calls, duration, at: ports.clock.now() };
  });
}

/**
 * Converts requested calls to calls with ids and digests, and marks those that must not run. Each call is pinned to its
 * tool's definition, since several calls may wait for days one after the other. Rejects like `whenReachable`.
 */
export async function acceptCalls(
  { taskId, calls, cut }: RequestedCalls,
  signal: AbortSignal,
  { ids, clock, tools, admit }: AcceptPorts,
): Promise<ToolCall[]> {
  const accepted = calls.map((asked) => {
    const call = { ...acceptCall(asked, ids, cut), ...statedRuns(asked) };
    const tool = tools.get(call.tool);
    return tool === undefined ? call : { ...call, offered: definitionDigest(tool) };
  });
  return whenReachable(() => admit(taskId, accepted), { clock, signal });
}

function statedRuns({ runsSha256 }: Pick<ToolCall, 'runsSha256'>): Pick<ToolCall, 'runsSha256'> {
  return runsSha256 === undefined ? {} : { runsSha256 };
}
