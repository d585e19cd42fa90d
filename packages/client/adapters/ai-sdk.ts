// Public entry `holdpoint/client/ai-sdk`: holds the tool calls of the AI SDK (package `ai`).

import type { Arguments } from '../decision.ts';
import type { Gate, GuardOptions } from '../gate.ts';
import { drained } from './drained.ts';

/** What the AI SDK passes to a tool with its input. */
interface ExecutionOptions {
  toolCallId: string;
  abortSignal?: AbortSignal;
}

type Execute = (input: unknown, options: ExecutionOptions) => unknown;

/**
 * Returns tools for `generateText`, `streamText` and agents whose calls are held. A denial becomes the tool error that the model reads.
 * With `session` the key of a call is made of it and of the tool call's id. A tool that streams returns its last value.
 * Throws TypeError for a tool without `execute`, because its calls run elsewhere.
 */
export function guardTools<Tools extends Record<string, object>>(
  gate: Gate,
  tools: Tools,
  options: GuardOptions = {},
): Tools {
  const guarded = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool as { execute?: Execute };
    if (execute === undefined) {
      throw new TypeError(
        `the tool ${name} has no execute, so its calls cannot be held; leave it out`,
      );
    }
    const held: Execute = (input, given) => {
      const { toolCallId: callId, abortSignal } = given;
      const signal = abortSignal ?? options.signal;
      const run = gate.guard(name, (args) => drained(execute.call(tool, args, given)), options);
      return run(input as Arguments, { callId, ...(signal === undefined ? {} : { signal }) });
    };
    return [name, { ...tool, execute: held }];
  });
  return Object.fromEntries(guarded) as Tools;
}
