import { fromPromise } from 'xstate';
import type { RunToolInput, ToolOutcome } from '../../machines/task/task-events.ts';
import { argumentsDigest } from '../policy/arguments-digest.ts';
import { type Clock, type Log, type Tool, ToolError } from '../ports.ts';
import { inSpan } from '../telemetry/spans.ts';

/** What running a tool needs from outside. */
export interface RunToolPorts {
  tools: ReadonlyMap<string, Tool>;
  clock: Clock;
  log: Log;
  onPhase: (taskId: string, phase: 'tool_start' | 'tool_end', tool: string) => void;
}

/**
 * Fills the `runTool` port. A call that a person released runs only with the very arguments they
 * were shown. A tool that fails is an outcome; what it fails with is told in its own words.
 */
export function createRunTool({ tools, clock, log, onPhase }: RunToolPorts) {
  return fromPromise<ToolOutcome, RunToolInput>(async ({ input, signal }) => {
    const { taskId, correlationId, call, approvedSha256 } = input;
    const began = performance.now();
    const spent = () => ({
      duration: Math.round(performance.now() - began),
      at: clock.now(),
    });
    try {
      onPhase(taskId, 'tool_start', call.tool);
      const tool = tools.get(call.tool);
      if (tool === undefined) throw new ToolError(`unknown tool: ${call.tool}`);
      if (approvedSha256 !== null && approvedSha256 !== argumentsDigest(call.args)) {
        throw new ToolError(`the arguments of ${call.tool} are not the ones that were approved`);
      }
      const result = await inSpan(`tool.${call.tool}`, { 'a2a.task.id': taskId }, () =>
        tool.run(call.args, { taskId, callId: call.id, correlationId, signal }),
      );
      return { kind: 'returned', result: result.toWellFormed(), ...spent() };
    } catch (error) {
      if (error instanceof ToolError) {
        return { kind: 'failed', error: error.message, ...spent() };
      }
      log.error({ error, task_id: taskId, tool: call.tool }, 'tool: failed unexpectedly');
      return { kind: 'failed', error: `${call.tool} failed inside the service`, ...spent() };
    } finally {
      onPhase(taskId, 'tool_end', call.tool);
    }
  });
}
