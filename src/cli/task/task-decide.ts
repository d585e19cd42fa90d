import { readFileSync } from 'node:fs';
import { loginName } from '../../actors/login-name.ts';
import {
  hasRepeatedKey,
  measureJson,
  readExactJson,
  repeatedKey,
} from '../../machines/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import { messageOf } from '../../machines/message-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, usualTimeout, withAgent } from './agent-session.ts';
import { readAnswer } from './read-answer.ts';

export interface DecideOptions extends AgentOptions {
  approver?: string;
  email?: string;
  note?: string;
  deferral?: string;
  argsSha256?: string;
  /** The arguments to run the call with: JSON, or a file with JSON. */
  args?: string;
  /** The scope of the later calls that the approval releases. */
  remember?: string;
  for?: string;
  uses?: number;
  when?: string;
}

/** `task approve ID` and `task reject ID`: decide on a task's held call (docs/contract/decisions.md). */
export async function taskDecide(
  session: Session,
  { id, decision }: { id: string; decision: 'approve' | 'reject' },
  { approver, email, note, deferral, argsSha256, args, ...given }: DecideOptions,
): Promise<void> {
  const { output } = session;
  const { remember: scope, for: time = '1h', uses = 5, when, ...options } = given;
  const remember = { scope: scope ?? '', for: time, uses, ...(when === undefined ? {} : { when }) };
  const body = {
    decision,
    approver: approver ?? email ?? loginName(),
    ...(email === undefined ? {} : { approver_email: email }),
    ...(note === undefined ? {} : { note }),
    ...(deferral === undefined ? {} : { deferral_id: deferral }),
    ...(argsSha256 === undefined ? {} : { args_sha256: argsSha256 }),
    ...(args === undefined ? {} : { args: readArguments(args) }),
    ...(scope === undefined ? {} : { remember }),
  };
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const path = `/tasks/${encodeURIComponent(id)}/decisions`;
    const answer = readAnswer.decision(await agent.json({ method: 'POST', path, body, signal }));
    output.json(answer);
    const done = answer.decision === 'approve' ? 'approved' : 'rejected';
    const changed = answer.edited_args_sha256 === undefined ? '' : ' with changed arguments';
    const more = answer.status === 'recorded' ? '; the call waits for more approvals' : '';
    output.line(
      plainLine(`task ${answer.task_id}: ${done} by ${answer.approver}${changed}${more}`),
    );
  });
}

/** Reads arguments from JSON that begins with `{`, otherwise from a file. Throws CliError with exit code 2. */
function readArguments(given: string): JsonObject {
  try {
    const text = given.trimStart().startsWith('{') ? given : readFileSync(given, 'utf8');
    const value = readExactJson(text);
    if (!isJsonObject(value)) throw new Error('they are no JSON object');
    if (hasRepeatedKey(value, measureJson(text))) throw new Error(repeatedKey);
    return value;
  } catch (error) {
    // A parser quotes the text, which may hold a secret.
    const why = error instanceof SyntaxError ? 'they are not valid JSON' : messageOf(error);
    throw new CliError(`--args cannot be read: ${why}`, {
      code: 'usage',
      exitCode: exitCodes.usage,
      hint: 'write --args \'{"amount": 4}\', or the name of a file with such an object',
      cause: error,
    });
  }
}
