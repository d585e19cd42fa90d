import { commandLine } from '../actors/command-line.ts';
import { shellWord } from '../machines/shell-word.ts';
import { CliError, type ExitCode, exitCodes } from './cli-error.ts';
import type { AgentAddress } from './find-agent.ts';
import { plainLine } from './plain-text.ts';

/** The failure for each refusal of an agent; any other status exits with 1. */
const refusals: ReadonlyMap<number, { code: string; exitCode: ExitCode; hint?: string }> = new Map([
  [400, { code: 'bad_request', exitCode: exitCodes.usage, hint: 'see --help' }],
  [
    401,
    {
      code: 'unauthorized',
      exitCode: exitCodes.authentication,
      hint: 'give a token with --token-file or SERVICE_TOKEN',
    },
  ],
  [
    403,
    {
      code: 'forbidden',
      exitCode: exitCodes.authentication,
      hint: 'name an allowed approver with --email, or show a token of your own with --token-file',
    },
  ],
  [404, { code: 'not_found', exitCode: exitCodes.notFound }],
  [402, { code: 'admission_denied', exitCode: exitCodes.failed }],
  [409, { code: 'conflict', exitCode: exitCodes.failed }],
  [503, { code: 'unavailable', exitCode: exitCodes.failed }],
]);

/** Says in words that an agent refused a call; the body's own words when it has some. */
export function refusal(
  { status, body }: { status: number; body: unknown },
  address: AgentAddress,
  taskId?: string,
): CliError {
  const known = refusals.get(status) ?? { code: 'agent_error', exitCode: exitCodes.failed };
  const hint = hintOf(status, address, taskId) ?? known.hint;
  return new CliError(wordsOf(body) ?? `the agent answered with status ${status}`, {
    code: known.code,
    exitCode: known.exitCode,
    ...(hint === undefined ? {} : { hint }),
    details: { status },
  });
}

function hintOf(status: number, address: AgentAddress, taskId?: string): string | undefined {
  if (status === 404) return `see what there is with: ${commandLine(`task list${address.flags}`)}`;
  return taskId !== undefined && status === 503 ? lookLater(taskId, address) : undefined;
}

/** Connection errors without a listener. */
const nobodyThere = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Says in words that a connection failed; anything that is not of the network stays as it is. */
export function connectionFailure(error: unknown, address: AgentAddress, taskId?: string): unknown {
  const { url, startHint } = address;
  if (error instanceof CliError || !(error instanceof Error) || !('code' in error)) return error;
  if (nobodyThere.has(String(error.code))) {
    return new CliError(`no agent answers at ${url}`, {
      code: 'not_running',
      exitCode: exitCodes.notFound,
      hint: startHint,
      cause: error,
    });
  }
  return new CliError(`the connection to ${url} broke before the answer came`, {
    code: 'connection_lost',
    ...(taskId === undefined ? { hint: 'try again' } : { hint: lookLater(taskId, address) }),
    cause: error,
  });
}

/** Reports that another program listens at the address of an agent. */
export function notTheAgent({ url, startHint }: AgentAddress): CliError {
  return new CliError(`what answers at ${url} is not the agent of this folder; nothing was sent`, {
    code: 'not_running',
    exitCode: exitCodes.notFound,
    hint: startHint,
  });
}

/** Names the command that shows the state of a task, and what comes before it when the agent has ended. */
export function lookLater(
  taskId: string,
  { flags, startHint, isShared }: Pick<AgentAddress, 'flags'> & Partial<AgentAddress>,
): string {
  const look = commandLine(`task get ${shellWord(taskId)}${flags}`);
  const others = isShared === true ? ', or name another daemon of it with --dir or --url' : '';
  if (startHint === undefined) return `look at the task later with: ${look}`;
  return `look at the task later with: ${look}; if the agent has ended, first ${startHint}${others}`;
}

/** Returns the sentence of a refusal, from its first key or another one. */
function wordsOf(body: unknown): string | null {
  const {
    error,
    message,
    decision,
    approver,
    decided_at: at,
  } = Object(body) as {
    [key: string]: unknown;
  };
  if (typeof error !== 'string') return null;
  if (typeof decision === 'string') {
    return plainLine(`${error}: ${decision} by ${String(approver)} at ${String(at)}`);
  }
  return plainLine(typeof message === 'string' ? `${error}: ${message}` : error);
}
