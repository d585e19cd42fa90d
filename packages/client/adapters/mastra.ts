// Public entry `holdpoint/client/mastra`: holds the tool calls of Mastra (package `@mastra/core`).

import type { Arguments } from '../decision.ts';
import type { Gate, GuardOptions } from '../gate.ts';

/** What Mastra passes to `execute` with the input. */
interface ToolContext {
  agent?: { toolCallId: string; threadId?: string };
  abortSignal?: AbortSignal;
}

/**
 * Returns the `execute` of a tool whose calls are held: `createTool({id: 'pay', inputSchema, execute: guardExecute(gate, 'pay', run)})`. The
 * model reads a denial as the error of the tool. The key of a call is made of the thread and the tool call's id.
 */
export function guardExecute<Input, Context extends ToolContext, Result>(
  gate: Gate,
  tool: string,
  execute: (input: Input, context?: Context) => Result | Promise<Result>,
  options: GuardOptions = {},
): (input: Input, context?: Context) => Promise<Result> {
  return function held(input, context) {
    const { agent, abortSignal: signal = options.signal } = (context ?? {}) as ToolContext;
    const run = gate.guard(tool, (args) => execute(args as Input, context), options);
    return run(input as Arguments, {
      ...(agent === undefined ? {} : { callId: agent.toolCallId }),
      ...(agent?.threadId === undefined ? {} : { session: agent.threadId }),
      ...(signal === undefined ? {} : { signal }),
    });
  };
}
