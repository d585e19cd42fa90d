import { commandLine } from '../actors/command-line.ts';
import { shellWord } from '../machines/shell-word.ts';
import { CliError, type ExitCode, exitCodes } from './cli-error.ts';
import type { AgentAddress } from './find-agent.ts';
import { plainLine } from './plain-text.ts';

/** The failure for each HTTP error status of an agent; any other status exits with 1. */
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

const auditBroken: { code: string; exitCode: ExitCode; hint?: string } = {
  code: 'audit_broken',
  exitCode: exitCodes.auditBroken,
};

/** Builds the error for a call that an agent refused, using the message of the response body if it has one. */
export function refusal(
  { status, body }: { status: number; body: unknown },
  address: AgentAddress,
  { path, taskId }: { path: string; taskId?: string },
): CliError {
  const { code } = Object(body) as { code?: unknown };
  const known = (code === 'audit_broken' ? auditBroken : refusals.get(status)) ?? {
    ...{ code: 'agent_error', exitCode: exitCodes.failed },
  };
  const hint =
    status === 404
      ? `see what there is with: ${listCommand(path, address)}`
      : taskId !== undefined && status === 503
        ? lookLater(taskId, address)
        : known.hint;
  return new CliError(wordsOf(body) ?? `the agent answered with status ${status}`, {
    code: known.code,
    exitCode: known.exitCode,
    ...(hint === undefined ? {} : { hint }),
    details: { status },
  });
}

/** The commands that list what requests name, by the start of their path. */
const lists: Readonly<Record<string, string>> = {
  delegations: 'delegate list',
  grants: 'grants list',
  limits: 'limits unknown',
  'mcp-servers': 'mcp list',
};

function listCommand(path: string, { flags, proof }: AgentAddress): string {
  const list = lists[path.split('/')[1] ?? ''] ?? 'task list';
  // `mcp list` reads the agent's folder, and has no option for an address.
  return commandLine(list + (list === 'mcp list' && proof === null ? ' --dir DIR' : flags));
}

/** Connection errors that mean no process listens at the address. */
const nobodyThere = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Builds the error for a failed connection; returns other errors unchanged. */
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

/** Returns the error for another program listening at the agent's address. */
export function notTheAgent({ url, startHint }: AgentAddress): CliError {
  return new CliError(`the server at ${url} is not the agent of this folder; nothing was sent`, {
    code: 'not_running',
    exitCode: exitCodes.notFound,
    hint: startHint,
  });
}

/**
 * Returns the hint with the command that shows a task's state, preceded by the start command if the agent may have
 * stopped.
 */
export function lookLater(
  taskId: string,
  { flags, startHint, isShared }: Pick<AgentAddress, 'flags'> & Partial<AgentAddress>,
): string {
  const look = commandLine(`task get ${shellWord(taskId)}${flags}`);
  const others = isShared === true ? ', or name another daemon of it with --dir or --url' : '';
  if (startHint === undefined) return `look at the task later with: ${look}`;
  return `look at the task later with: ${look}; if the agent has ended, first ${startHint}${others}`;
}

/** Returns the message of a refusal's body, from `error` or another known field; `null` if the body has none. */
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
