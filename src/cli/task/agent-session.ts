import { AgentClient } from '../agent-client.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { type AgentChoice, findAgent } from '../find-agent.ts';
import type { Session } from '../session.ts';

/** Options of every command that sends requests to an agent. */
export interface AgentOptions extends AgentChoice {
  /** Timeout in milliseconds. */
  timeout?: number;
}

/** A client and the signal that aborts its requests. */
export interface AgentSession {
  agent: AgentClient;
  signal: AbortSignal;
}

/** Default timeout in milliseconds for requests that the agent does not hold. */
export const usualTimeout = 30_000;

/**
 * Runs a function with a client for an agent. The time limit is --timeout if given, otherwise `timeout` milliseconds;
 * `null` means no limit.
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

/** Returns a signal that aborts with the error to throw after the timeout; `null` means never. */
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
