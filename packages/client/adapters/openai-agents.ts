// Public entry `holdpoint/client/openai-agents`: holds the tool calls of the OpenAI Agents SDK (package `@openai/agents`).

import type { Arguments } from '../decision.ts';
import { HoldDenied } from '../errors.ts';
import type { Gate, GuardOptions } from '../gate.ts';

/** What the SDK passes to `execute` with the input and the run. */
interface CallDetails {
  toolCall?: { callId: string };
  signal?: AbortSignal;
}

/**
 * Returns the `execute` of a tool whose calls are held: `tool({name: 'pay', parameters, execute: guardExecute(gate, 'pay', run)})`. A
 * denial is the result that the model reads, because the SDK's text for an error asks the model to try again. With `session` the key of a call is
 * made of it and of the call's id.
 */
export function guardExecute<Input, Context, Details extends CallDetails, Result>(
  gate: Gate,
  tool: string,
  execute: (input: Input, context?: Context, details?: Details) => Result | Promise<Result>,
  options: GuardOptions = {},
): (input: Input, context?: Context, details?: Details) => Promise<Result | string> {
  return async function held(input, context, details) {
    const { toolCall, signal = options.signal } = details ?? {};
    const run = gate.guard(tool, (args) => execute(args as Input, context, details), options);
    try {
      return await run(input as Arguments, {
        ...(toolCall === undefined ? {} : { callId: toolCall.callId }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (error instanceof HoldDenied) return error.message;
      throw error;
    }
  };
}
