import { AgentClient } from '../agent-client.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { type AgentChoice, findAgent } from '../find-agent.ts';
import type { Session } from '../session.ts';

/** Options of every command that talks to an agent. */
export interface AgentOptions extends AgentChoice {
  /** Milliseconds. */
  timeout?: number;
}

/** A client and the signal that ends its calls. */
export interface AgentSession {
  agent: AgentClient;
  signal: AbortSignal;
}

/** Milliseconds that an agent has to answer a call that it does not hold. */
export const usualTimeout = 30_000;

/**
 * Runs something against an agent, within --timeout when there is one, else within `timeout`
 * milliseconds, for as long as it takes when that is `null`.
 */
export async function withAgent<Result>(
  { interruption, env, output }: Session,
  options: AgentOptions,
  timeout: number | null,
  use: (session: AgentSession) => Promise<Result>,
): Promise<Result> {
  const agent = new AgentClient(findAgent(options, env, (line) => output.note(line)));
  const limit = deadline(options.timeout ?? timeout);
  try {
    const signal = AbortSignal.any([interruption.listen(), limit.signal]);
    return await use({ agent, signal });
  } finally {
    limit.clear();
    await agent.close();
  }
}

/** A signal that aborts with the failure to throw once the time is over; `null` is never. */
export function deadline(milliseconds: number | null): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  if (milliseconds === null) return { signal: controller.signal, clear: () => undefined };
  const expire = (): void =>
    controller.abort(
      new CliError(`no answer within ${milliseconds / 1_000} s`, {
        code: 'timeout',
        exitCode: exitCodes.timeout,
        hint: 'allow more with --timeout',
      }),
    );
  const timer = setTimeout(expire, milliseconds);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
