import type { Command } from 'commander';
import { runningAgents } from '../../actors/process/process.ts';
import { loose } from '../../http/wire/relaxed.ts';
import { outcomePage } from '../../http/wire/settlement.ts';
import { isFinal, taskStates } from '../../machines/domain/task.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { AgentClient } from '../agent-client.ts';
import { findAgent } from '../find-agent.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { readAnswer } from '../task/read-answer.ts';
import { beginningWith, type Candidate, completeLine, type Wanted } from './complete-line.ts';

/**
 * Timeout in milliseconds of a look-up while the user waits at the prompt. Long enough for a machine under full load.
 */
const patience = 4_000;

/** Maximum number of tasks offered; users do not read longer lists. */
const mostTasks = 100;

/** Commands that also accept a task that has ended. */
const shows: ReadonlySet<string> = new Set(['task get', 'task inspect']);

/**
 * Returns values known only at run time: tasks of the agent that the command would address, and folders of running
 * agents. Rejects if there is no such agent or it does not answer in time.
 */
async function knownValues(wanted: Wanted, env: NodeJS.ProcessEnv): Promise<Candidate[]> {
  const known = await valuesOf(wanted, env);
  return known.map(({ value, description }) => ({
    value: `${wanted.prefix}${value}`,
    description,
  }));
}

async function valuesOf(wanted: Wanted, env: NodeJS.ProcessEnv): Promise<Candidate[]> {
  const { command, name } = wanted;
  if (name === 'dir') return folders(env);
  if (command === 'task list' && name === 'state') {
    return taskStates.map((value) => ({ value, description: '' }));
  }
  if (command === 'schema' && name === 'name') {
    const { filesWithSchema } = await import('../../actors/config/config.ts');
    return filesWithSchema.map((value) => ({ value, description: '' }));
  }
  if (command === 'docs' && name === 'page') {
    const { docPages } = await import('../docs/doc-pages.ts');
    return docPages().map(({ name: value, summary }) => ({ value, description: summary }));
  }
  if (/^skills (show|add)$/.test(command) && name === 'skill') return skills();
  if (command === 'skills list' && name === 'category') return categories();
  if (/^(limits|effects) settle$/.test(command) && name === 'call' && !wanted.isElsewhere) {
    return unknownCalls(wanted, env);
  }
  const isTask = /^task (get|inspect|watch|cancel|approve|reject)$/.test(command) && name === 'id';
  return isTask && !wanted.isElsewhere ? tasks(wanted, env) : [];
}

async function skills(): Promise<Candidate[]> {
  const { registrySkills } = await import('../../agent/skills/skill-registry.ts');
  return (await registrySkills()).map(({ skill }) => ({
    value: skill.id,
    description: skill.description,
  }));
}

async function categories(): Promise<Candidate[]> {
  const { registrySkills } = await import('../../agent/skills/skill-registry.ts');
  const names = new Set((await registrySkills()).flatMap(({ skill }) => skill.category ?? []));
  return [...names].map((value) => ({ value, description: '' }));
}

function folders(env: NodeJS.ProcessEnv): Candidate[] {
  return runningAgents(env).map(({ agent_id, directory, url }) => ({
    value: directory,
    description: `${agent_id} at ${url}`,
  }));
}

async function tasks({ command, dir }: Wanted, env: NodeJS.ProcessEnv): Promise<Candidate[]> {
  const agent = new AgentClient(findAgent(dir === null ? {} : { dir }, env));
  const signal = AbortSignal.timeout(patience);
  try {
    if (command === 'task approve' || command === 'task reject') {
      const path = `/deferrals?limit=${mostTasks}`;
      const page = readAnswer.deferralPage(await agent.json({ method: 'GET', path, signal }));
      return page.deferrals.map(({ task_id: value, tool }) => ({ value, description: tool }));
    }
    const path = `/tasks?limit=${mostTasks}`;
    const page = readAnswer.taskPage(await agent.json({ method: 'GET', path, signal }));
    return page.tasks
      .filter(({ status }) => shows.has(command) || !isFinal(status.state))
      .map(({ id: value, status }) => ({ value, description: status.state }));
  } finally {
    await agent.close();
  }
}

async function unknownCalls({ dir }: Wanted, env: NodeJS.ProcessEnv): Promise<Candidate[]> {
  const agent = new AgentClient(findAgent(dir === null ? {} : { dir }, env));
  try {
    const path = `/limits/settlements?state=open&limit=${mostTasks}`;
    const signal = AbortSignal.timeout(patience);
    const page = loose(outcomePage, ['outcomes', 'call_id', 'tool']).parse(
      await agent.json({ method: 'GET', path, signal }),
    );
    return page.outcomes.map(({ call_id: value, tool }) => ({ value, description: tool }));
  } finally {
    await agent.close();
  }
}

/**
 * `complete -- WORDS…`, called by the scripts of `completion`. The first line is the shell's own completion to add:
 * `nothing`, `files` or `folders`. Each further line is a candidate, a tab and its description. Failed look-ups are
 * omitted silently.
 */
export async function answerShell(
  { output, env }: Session,
  program: Command,
  words: readonly string[],
): Promise<void> {
  const { also, candidates, wanted } = completeLine(program, words);
  const known = wanted === null ? [] : await knownValues(wanted, env).catch(() => []);
  const all = [...candidates, ...beginningWith(words.at(-1) ?? '', known)].filter(isPlain);
  const lines = all.map(({ value, description }) => `${value}\t${plainLine(description)}`);
  output.stdout.write(`${[also, ...lines].join('\n')}\n`);
}

/** Callers choose task IDs, so completion must not insert text that a shell would execute. */
function isPlain({ value }: Candidate): boolean {
  return value === shellWord(value);
}
