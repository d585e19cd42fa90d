import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checkAgent } from '../../agent/start/agent-findings.ts';
import { auditReader } from '../../dashboard/reading/audit-reader.ts';
import { explainCalls, summaryOf } from '../../dashboard/reading/preview-policy.ts';
import {
  type CallSource,
  callsOfTask,
  lastCalls,
} from '../../dashboard/reading/recorded-calls-of.ts';
import type { CallExplanationJson } from '../../http/wire/dashboard/explain-json.ts';
import type { RecordedCall } from '../../http/wire/dashboard/recorded-calls.ts';
import type { AgentClient } from '../agent-client.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import { plainLine } from '../plain-text.ts';
import { warnOfPolicyGap } from '../policy-warning.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { usualTimeout, withAgent } from '../task/agent-session.ts';

export interface RecordedOptions {
  task: string;
  /** ID of one call; absent for every call of the task. */
  call?: string;
  dir: string;
}

/**
 * `policy explain --task ID`: compares the outcomes that recorded calls would have now with their recorded outcomes.
 */
export async function explainTask(
  session: Session,
  { task, call, dir }: RecordedOptions,
): Promise<void> {
  const { output, env: outer } = session;
  const directory = resolve(dir);
  const env = await environmentOf(session, directory);
  await withAgent(session, { dir }, usualTimeout, async ({ agent, signal }) => {
    const audit = auditReader(outer);
    const events = await audit.timeline(directory, task, signal).catch(() => []);
    const found = (await callsOfTask(sourceOf(agent, directory), task, events, signal)) ?? [];
    const calls = found.filter(({ id }) => call === undefined || id === call);
    if (calls.length === 0) throw noCall(task, found);
    const explained = await explainedBy(calls, { directory, env, signal });
    const { policySha256 } = await checkAgent(directory, env);
    const gap = warnOfPolicyGap(output, directory, policySha256);
    output.json({ calls: explained, ...gap });
    for (const one of explained) print(session, one);
  });
}

/** Maximum number of recorded calls that a command evaluates. */
export const mostCalls = 100;

/** `policy preview FILE`: shows how another `service.yaml` would have decided the latest calls of a running agent. */
export async function previewPolicy(
  session: Session,
  file: string,
  { dir }: { dir: string },
): Promise<void> {
  const { output, env: outer } = session;
  const directory = resolve(dir);
  const text = await textOf(file);
  const env = await environmentOf(session, directory);
  const { problems, warnings } = await checkAgent(directory, env, text);
  if (problems.length > 0) throw configFailure(problems, warnings);
  await withAgent(session, { dir }, usualTimeout, async ({ agent, signal }) => {
    const source = sourceOf(agent, directory);
    const { calls, unread } = await lastCalls(source, auditReader(outer), {
      most: mostCalls,
      signal,
    });
    const explained = await explainedBy(calls, { directory, env, text, signal });
    const { counts, weaker } = summaryOf(explained);
    output.json({ calls: explained, counts, weaker, unread });
    for (const { task, tool, before, now } of explained.filter((one) => one.changed)) {
      const partly = now.complete ? '' : ', not everything evaluated';
      output.line(plainLine(`  ${task}  ${tool}  ${before.outcome} → ${now.outcome}${partly}`));
    }
    const said = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
    output.line(`${explained.length} calls, ${said.join(', ') || 'all with the same outcome'}`);
    if (weaker.length > 0) {
      output.warn(plainLine(`it is weaker: fewer restrictions apply to ${weaker.join(', ')}`));
    }
    if (unread !== null) output.note(unread);
  });
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(plainLine(`${file} cannot be read (${code})`), {
      code: 'not_found',
      exitCode: exitCodes.notFound,
    });
  }
}

async function explainedBy(
  calls: readonly RecordedCall[],
  {
    signal,
    ...source
  }: { directory: string; env: NodeJS.ProcessEnv; text?: string; signal: AbortSignal },
): Promise<CallExplanationJson[]> {
  const explained = await explainCalls(calls, source, signal);
  if (explained !== null) return explained;
  const { problems, warnings } = await checkAgent(source.directory, source.env, source.text);
  throw configFailure(problems, warnings);
}

/** Returns the source of the calls of a running agent. */
export function sourceOf(agent: AgentClient, directory: string): CallSource {
  return {
    directory,
    read: async (path, signal) => {
      try {
        return { status: 200, body: await agent.json({ method: 'GET', path, signal }) };
      } catch (error) {
        const isMissing = error instanceof CliError && error.code === 'not_found';
        // The call may have been decided in the meantime.
        if (isMissing && path.startsWith('/deferrals/')) return { status: 404, body: null };
        throw error;
      }
    },
  };
}

function print(
  { output }: Session,
  { call, tool, before, now, ...one }: CallExplanationJson,
): void {
  output.line(output.colours.bold(plainLine(`${tool}  ${call}`)));
  const shown = (decision: string) => decision.replaceAll('_', ' ').padEnd(13);
  for (const { layer, decision, reason } of now.layers) {
    const was = before.layers.find((said) => said.layer === layer)?.decision ?? 'not reached';
    output.line(
      plainLine(`  ${layer.padEnd(16)}  ${shown(was)}  ${shown(decision)}  ${reason}`.trimEnd()),
    );
  }
  if (one.arguments !== null)
    output.line(plainLine(`  arguments  ${JSON.stringify(one.arguments)}`));
  const outcome = `was ${before.outcome}, would be ${now.outcome} now`;
  output.line(plainLine(now.text === undefined ? outcome : `${outcome}: ${now.text}`));
}

function noCall(task: string, found: readonly RecordedCall[]): CliError {
  return new CliError(plainLine(`no such call of the task ${task} is recorded`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint:
      found.length === 0
        ? 'it has none at all'
        : `there are ${found.map(({ id }) => id).join(', ')}`,
  });
}
