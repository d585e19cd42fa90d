import type { z } from 'zod';
import { loginName } from '../../actors/login-name.ts';
import { limitList } from '../../http/wire/limit.ts';
import { loose } from '../../http/wire/relaxed.ts';
import { outcome, outcomePage } from '../../http/wire/settlement.ts';
import { decimalWords } from '../../machines/decimal-words.ts';
import { firstRequester, limitName, usedWords } from '../../machines/governance/limit-words.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import {
  type AgentOptions,
  type AgentSession,
  usualTimeout,
  withAgent,
} from '../task/agent-session.ts';

export interface SettleOptions extends AgentOptions {
  ran?: boolean;
  notRun?: boolean;
  reason?: string;
  approver?: string;
}

const needed = ['limits', 'name', 'max', 'used', 'reserved', 'left'] as const;
const known = ['outcomes', 'call_id', 'task_id', 'tool', 'at', 'user_id'] as const;

const listed = loose(limitList, needed);
const page = loose(outcomePage, known);
const one = loose(outcome, known);

type Outcome = z.output<typeof one>;

/** `limits`: prints the limits with what is used of them. Throws CliError. */
export async function limitsList(session: Session, options: AgentOptions): Promise<void> {
  const { output } = session;
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const answer = await agent.json({ method: 'GET', path: '/limits', signal });
    const { limits } = listed.parse(answer);
    output.json({ limits });
    const width = Math.max(0, ...limits.map((limit) => limitName(limit).length));
    for (const limit of limits) {
      output.line(
        plainLine(
          `${limitName(limit).padEnd(width)}  ${usedWords(limit)}, ${decimalWords(limit.left)} left`,
        ),
      );
    }
    if (limits.length === 0) output.note('the agent has no limits');
  });
}

/** `limits unknown`: prints the calls whose outcome nobody knows, or those that people settled. Throws CliError. */
export async function limitsUnknown(
  session: Session,
  { settled: isSettled = false, ...options }: AgentOptions & { settled?: boolean },
): Promise<void> {
  const { output } = session;
  await withAgent(session, options, usualTimeout, async (agent) => {
    const outcomes = await pages(agent, isSettled ? 'settled' : 'open');
    output.json({ outcomes });
    for (const call of outcomes) output.line(plainLine(lineOf(call)));
    if (outcomes.length > 0) return;
    output.note(isSettled ? 'no call was settled' : 'the outcome of every call is known');
  });
}

/** `limits settle CALL`: states whether a call ran. Throws CliError. */
export async function limitsSettle(
  session: Session,
  call: string,
  { ran = false, notRun = false, reason = '', approver, ...options }: SettleOptions,
): Promise<void> {
  if (ran === notRun) throw misused('give either --ran or --not-run');
  if (reason.trim() === '') throw misused('--reason must say why you are certain');
  const body = { call_id: call, ran, reason, approver: approver ?? loginName() };
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const path = '/limits/settlements';
    const settled = one.parse(await agent.json({ method: 'POST', path, body, signal }));
    session.output.json(settled);
    const end = ran ? 'ran, and counts' : 'did not run, and counts no more';
    session.output.line(plainLine(`${settled.tool} (${settled.call_id}) ${end}`));
  });
}

async function pages(
  { agent, signal }: AgentSession,
  state: 'open' | 'settled',
): Promise<Outcome[]> {
  const found: Outcome[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ state, limit: '500', ...(cursor && { cursor }) });
    const path = `/limits/settlements?${query.toString()}`;
    const { outcomes, next_cursor: next } = page.parse(
      await agent.json({ method: 'GET', path, signal }),
    );
    found.push(...outcomes);
    cursor = next;
  } while (cursor !== undefined);
  return found;
}

function lineOf({ call_id, task_id, tool, at, requested_by, settled }: Outcome): string {
  const call = `${call_id}  ${tool}  task ${task_id}  ${at}  by ${firstRequester(requested_by ?? null)}`;
  if (settled === null || settled === undefined) return call;
  const said = settled.ran === true ? 'ran' : 'did not run';
  const { by = 'unknown', reason = '', contradicted_at: late } = settled;
  const contradicted = late === undefined ? '' : `; reported as succeeded ${late}`;
  return `${call}: ${said}, says ${by}: ${reason}${contradicted}`;
}

function misused(message: string): CliError {
  return new CliError(message, {
    ...{ code: 'usage', exitCode: exitCodes.usage },
    hint: 'see --help',
  });
}
