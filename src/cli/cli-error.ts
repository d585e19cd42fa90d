import type { JsonValue } from '../machines/json.ts';

/** What the command's exit codes say (contract section 2). */
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

/** What a failure carries besides its sentence. */
export interface CliErrorOptions {
  /** For programs: a word of lower-case letters and underscores. */
  code: string;
  exitCode?: ExitCode;
  /** What to do next. */
  hint?: string;
  /** Lines for people, printed before the sentence. */
  lines?: readonly string[];
  /** Keys that stand beside `error` in the JSON document. */
  details?: { [key: string]: JsonValue };
  cause?: unknown;
}

/** A failure in words for whoever typed the command, with the exit code it ends in. */
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

/** Exit codes of errors whose message already says what to do; any other known code is 1. */
const exitCodeOf: ReadonlyMap<string, ExitCode> = new Map<string, ExitCode>([
  ['cannot_start', exitCodes.usage],
  ['cannot_listen', exitCodes.failed],
  ['store_unusable', exitCodes.failed],
  ['already_running', exitCodes.failed],
  ['file_unusable', exitCodes.failed],
  ['audit_log_unreadable', exitCodes.failed],
  ['audit_keys_invalid', exitCodes.invalid],
  ['signing_key_unusable', exitCodes.invalid],
]);

/** Turns whatever was thrown into a failure that can be told. */
export function explain(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
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

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : '';
}
