import { resolve } from 'node:path';
import { exportTask, type TakeLine } from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { normalName } from '../../actors/tool-name.ts';
import { readConfigText, withAllowance, YamlTextError } from '../../actors/workspace/workspace.ts';
import { readAgent } from '../../agent/start/read-agent.ts';
import {
  DecidedCalls,
  type SuggestedRule,
  suggestRules,
} from '../../dashboard/reading/suggest-rules.ts';
import { openNewFile } from '../audit/audit-export.ts';
import { auditSourceOf, withLog } from '../audit/audit-source.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import { rangeOf } from '../option-values.ts';
import { plainLine } from '../plain-text.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';

export interface SuggestOptions {
  from: string;
  /** Approved calls that a condition must cover. */
  least: number;
  output?: string;
  dir: string;
}

/**
 * `policy suggest`: proposes conditions under which calls need no approval, from the decisions in the log. Changes
 * nothing; with `output`, writes the changed `service.yaml` to a new file. Throws CliError.
 */
export async function policySuggest(
  session: Session,
  tool: string | undefined,
  { from, least, output: file, dir }: SuggestOptions,
): Promise<void> {
  if (file !== undefined && tool === undefined) throw toolNeeded();
  const { output } = session;
  const directory = resolve(dir);
  const env = await environmentOf(session, directory);
  const { agent, problems, warnings } = await readAgent(directory, env, systemClock());
  if (agent === null || problems.length > 0) throw configFailure(problems, warnings);
  const held = await heldCallsIn(session, { directory, from });
  const wanted = held.calls.filter(
    (call) => tool === undefined || normalName(call.tool) === normalName(tool),
  );
  const suggestions = suggestRules(agent, wanted, { least, env });
  output.json({ suggestions, calls: wanted.length, without_arguments: held.withoutArguments });
  for (const suggestion of suggestions) print(session, suggestion);
  if (suggestions.length === 0) {
    output.line(`no condition covers ${least} approved calls of a tool and no rejected one`);
  }
  if (held.withoutArguments > 0) {
    const calls =
      held.withoutArguments === 1 ? '1 held call has' : `${held.withoutArguments} held calls have`;
    output.note(
      `${calls} no arguments in the log; audit.capture.tool_args records those of later calls`,
    );
  }
  const [best] = suggestions;
  if (file === undefined) return;
  if (best === undefined) throw nothingToWrite();
  const sink = await openNewFile(file);
  await sink.write(await changedBy(directory, best));
  await sink.close();
  output.line(plainLine(`${file} is written; review it with: policy preview ${file}`));
}

async function heldCallsIn(
  session: Session,
  { directory, from }: { directory: string; from: string },
): Promise<DecidedCalls['all']> {
  const held = new DecidedCalls();
  const take: TakeLine = async ({ bytes }) => {
    held.read(new TextDecoder().decode(bytes));
    return true;
  };
  const exporting = { task: null, withProof: false, ...rangeOf({ from }) };
  const source = await auditSourceOf(directory, session);
  if ('path' in source) await exportTask({ ...source, ...exporting }, take);
  else await withLog(source.address, (log) => log.exportTask(exporting, take));
  return held.all;
}

function print({ output }: Session, suggestion: SuggestedRule): void {
  const { tool, when, open, approved, rejected, undecided } = suggestion;
  output.line(output.colours.bold(plainLine(tool)));
  output.line(plainLine(`  - {when: ${JSON.stringify(when)}, allow: true}`));
  const others =
    undecided.of === 0 ? '' : `, ${undecided.covered} of ${undecided.of} without a decision`;
  output.line(
    `    would have released ${approved.covered} of ${approved.of} approved calls, none of ${rejected.of} rejected${others}`,
  );
  if (open.length > 0) output.line(plainLine(`    does not limit ${open.join(', ')}`));
}

async function changedBy(directory: string, { tool, when }: SuggestedRule): Promise<string> {
  const { content } = await readConfigText(directory);
  try {
    return withAllowance(content, { tool, when });
  } catch (error) {
    if (!(error instanceof YamlTextError)) throw error;
    throw new CliError(plainLine(error.message), { code: 'invalid', exitCode: exitCodes.invalid });
  }
}

function toolNeeded(): CliError {
  return new CliError('a file is written for one tool', {
    ...{ code: 'usage', exitCode: exitCodes.usage },
    hint: 'name the tool: policy suggest TOOL -o FILE',
  });
}

function nothingToWrite(): CliError {
  return new CliError('there is no condition to write', {
    ...{ code: 'not_found', exitCode: exitCodes.notFound },
    hint: 'read more of the log with --from, or accept fewer calls with --least',
  });
}
