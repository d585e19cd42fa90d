import { codeOf } from '../machines/error-code.ts';
import type { JsonValue } from '../machines/json.ts';
import { messageOf } from '../machines/message-of.ts';

/** The exit codes of the command (docs/contract/command.md). */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  authentication: 4,
  invalid: 5,
  auditBroken: 6,
  timeout: 7,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export interface CliErrorOptions {
  /** Machine-readable code: lower-case letters and underscores. */
  code: string;
  exitCode?: ExitCode;
  /** The suggested fix. */
  hint?: string;
  /** Lines for the user, printed before the message. */
  lines?: readonly string[];
  /** Additional keys next to `error` in the JSON document. */
  details?: { [key: string]: JsonValue };
  cause?: unknown;
}

/** An error with a message for the user and the exit code of the command. */
export class CliError extends Error {
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly hint: string | null;
  readonly lines: readonly string[];
  readonly details: { [key: string]: JsonValue };

  constructor(message: string, options: CliErrorOptions) {
    super(message, { cause: options.cause });
    this.code = options.code;
    this.exitCode = options.exitCode ?? exitCodes.failed;
    this.hint = options.hint ?? null;
    this.lines = options.lines ?? [];
    this.details = options.details ?? {};
  }
}

/** Exit codes of errors whose message already names the fix; any other known code exits with 1. */
const exitCodeOf: ReadonlyMap<string, ExitCode> = new Map<string, ExitCode>([
  ['cannot_start', exitCodes.usage],
  ['cannot_listen', exitCodes.failed],
  ['store_unusable', exitCodes.failed],
  ['backup_unusable', exitCodes.failed],
  ['already_running', exitCodes.failed],
  ['file_unusable', exitCodes.failed],
  ['audit_log_unreadable', exitCodes.failed],
  ['audit_keys_invalid', exitCodes.invalid],
  ['signing_key_unusable', exitCodes.invalid],
  ['passphrase_missing', exitCodes.authentication],
  ['secrets_locked', exitCodes.authentication],
  ['secrets_unusable', exitCodes.failed],
]);

/** Converts any thrown value to a CliError. */
export function explain(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const code = codeOf(error);
  const message = messageOf(error);
  const exitCode = exitCodeOf.get(code);
  if (exitCode !== undefined) {
    const isMissing = error instanceof Error && codeOf(error.cause) === 'ENOENT';
    return new CliError(message.replace(/\.$/, ''), {
      code,
      exitCode: isMissing ? exitCodes.notFound : exitCode,
      cause: error,
    });
  }
  const hint = 'run it again with --debug to see where this comes from';
  return new CliError(message, { code: 'unexpected', hint, cause: error });
}
