import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { placedDenials, placedRules, type ServiceConfig } from '../../actors/config/config.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { createLog } from '../../actors/telemetry/telemetry.ts';
import { readAgent } from '../../agent/start/read-agent.ts';
import { PolicyTableError, type TestRow, tableIn } from '../../dashboard/reading/policy-table.ts';
import { testRows } from '../../dashboard/reading/test-rows.ts';
import { codeOf } from '../../machines/error-code.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import { plainLine } from '../plain-text.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';

export interface PolicyTestOptions {
  coverage?: boolean;
  dir: string;
}

/**
 * `policy test`: evaluates each row of the tables and compares the decision, the rule, the targets and the quorum. Runs
 * no tool and asks no one. Intent alignment is omitted, since it would call an embedder. Throws CliError with exit code
 * 5 when a row differs.
 */
export async function policyTest(
  session: Session,
  files: readonly string[],
  { coverage = false, dir }: PolicyTestOptions,
): Promise<void> {
  const { output, interruption } = session;
  const directory = resolve(dir);
  const signal = interruption.listen();
  const env = await environmentOf(session, directory);
  const clock = systemClock();
  const { problems, warnings, agent } = await readAgent(directory, env, clock);
  if (agent === null || problems.length > 0) throw configFailure(problems, warnings);
  const tables = files.length === 0 ? [join(directory, 'policy.test.yaml')] : files;
  const rows = (await Promise.all(tables.map((file) => readTable(file)))).flat();
  const log = createLog({ level: 'warn', stream: output.stderr });
  const results = await testRows(agent, rows, { env, clock, log, signal });
  const reached = new Set(results.flatMap(({ rules }) => rules));
  const unreached = [
    ...ruleNames(agent.config.security),
    ...(agent.config.included ?? []).flatMap(({ file, security }) =>
      ruleNames(security).map((name) => `${file}#${name}`),
    ),
  ].filter((name) => !reached.has(name));
  const failed = results.filter(({ differences }) => differences.length > 0);
  const summary = {
    rows: results.map(({ name, place, differences }) => ({ name, place, differences })),
    passed: results.length - failed.length,
    failed: failed.length,
    ...(coverage ? { unreached } : {}),
  };
  // With --json an error is the only document.
  if (failed.length === 0) output.json(summary);
  for (const { name, place, differences } of failed) {
    output.line(plainLine(`✗ ${name} (${place})`));
    for (const difference of differences) output.line(plainLine(`    ${difference}`));
  }
  if (coverage) {
    for (const name of unreached) output.line(plainLine(`no row reaches ${name}`));
  }
  output.line(`${results.length - failed.length} passed, ${failed.length} failed`);
  if (failed.length > 0) {
    throw new CliError(`${failed.length} of ${results.length} rows differ`, {
      code: 'policy_differs',
      exitCode: exitCodes.invalid,
      details: summary,
    });
  }
}

/** Reads a table of policy tests. Throws CliError for one that cannot be read; nothing has been evaluated then. */
export async function readTable(file: string): Promise<TestRow[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const message = `${file} cannot be read (${codeOf(error)})`;
    throw invalid([message], exitCodes.notFound);
  });
  try {
    return tableIn(text, file);
  } catch (error) {
    throw error instanceof PolicyTableError ? invalid(error.problems, exitCodes.invalid) : error;
  }
}

function invalid(problems: readonly string[], exitCode: CliError['exitCode']): CliError {
  const lines = problems.map((problem) => plainLine(problem));
  const [first = ''] = lines;
  return lines.length === 1
    ? new CliError(first, { code: 'invalid_table', exitCode })
    : new CliError(`${lines.length} problems in the table`, {
        ...{ code: 'invalid_table', exitCode, lines },
      });
}

type Terms = { when?: string | undefined };

/** Lists the rules that decisions name: those with a condition, and those of a list. */
function ruleNames({ guardrails, step_up, defer }: ServiceConfig['security']): string[] {
  const denied = (guardrails.enabled ? placedDenials(guardrails) : []).filter(
    ({ rule }) => rule.when !== undefined,
  );
  const ruled = [
    ...placedRules<Terms>('step_up', step_up.enabled ? step_up.tools : {}),
    ...placedRules<Terms>('defer', defer.enabled ? defer.tools : {}),
  ].filter(({ rule, name }) => rule.when !== undefined || name.endsWith(']'));
  return [...denied, ...ruled].map(({ name }) => name);
}
