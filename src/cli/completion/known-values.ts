import { runningAgents } from '../../actors/process/process.ts';
import { AgentClient } from '../agent-client.ts';
import { findAgent } from '../find-agent.ts';
import { readAnswer } from '../task/task-shape.ts';
import type { Candidate, Wanted } from './complete-line.ts';

/** Timeout of a look-up while the user waits at the prompt, in milliseconds. */
const patience = 1_000;

/** As many as a person looks through. */
const mostTasks = 100;

const states = ['submitted', 'working', 'deferred', 'completed', 'failed', 'canceled'];
const ended = new Set(['completed', 'failed', 'canceled']);

/**
 * Answers the values that only this moment knows: tasks of the agent that the command would talk to, and folders of
 * agents that run. Rejects when there is no such agent, or it is slow.
 */
export async function knownValues(wanted: Wanted, env: NodeJS.ProcessEnv): Promise<Candidate[]> {
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
    return states.map((value) => ({ value, description: '' }));
  }
  const isTask = /^task (get|watch|cancel|approve|reject)$/.test(command) && name === 'id';
  return isTask && !wanted.isElsewhere ? tasks(wanted, env) : [];
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
      .filter(({ status }) => command === 'task get' || !ended.has(status.state))
      .map(({ id: value, status }) => ({ value, description: status.state }));
  } finally {
    await agent.close();
  }
}
