import type { AgentJson } from '../../../http/wire/dashboard/agent-json.ts';
import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { TaskRowJson } from '../../../http/wire/dashboard/task-row-json.ts';
import { stopWords } from '../../../machines/agent-process/stop-words.ts';
import { shellWord } from '../../../machines/shell-word.ts';
import { agentPages, hrefOf } from '../state/route.ts';

/** The headings of the palette, in their order. */
export const groups = ['Pages', 'Waiting', 'Tasks', 'Agents', 'Actions', 'Commands'] as const;

/** An order to the process of an agent. */
export interface ProcessOrder {
  verb: 'start' | 'stop';
  agent: string;
  /** The command that does the same. */
  command: string;
  /** What becomes of the calls that wait; `null` when none does. */
  waiting: string | null;
}

/** What choosing an entry does. */
export type Deed =
  | { does: 'go'; href: string }
  | { does: 'process'; order: ProcessOrder }
  | { does: 'copy'; command: string };

/** One line of the palette. */
export interface Entry {
  /** Unique among the entries. */
  id: string;
  group: (typeof groups)[number];
  title: string;
  note: string;
  deed: Deed;
}

/** A view that an entry leads to; `key` follows `g`. */
export interface Page {
  name: string;
  title: string;
  key: string | undefined;
}

/** A task with the agent that has it. */
export interface FoundTask extends TaskRowJson {
  agent: string;
}

/** What the page knows that can be gone to, or done. */
export interface Known {
  pages: readonly Page[];
  agents: readonly AgentJson[];
  deferrals: readonly DeferralJson[];
  tasks: readonly FoundTask[];
}

/** Entries that are shown at once. */
const most = 40;

/** Lists all that can be gone to or done, in the order of the groups. */
export function entriesOf({ pages, agents, deferrals, tasks }: Known): Entry[] {
  return [
    ...pages.map(({ name, title, key }) =>
      going('Pages', title, key === undefined ? '' : `g ${key}`, hrefOf(name)),
    ),
    ...deferrals.map(({ tool, agent_id: agent, task_id: task, title }) =>
      going('Waiting', `${tool} of ${agent}`, title, hrefOf('approvals', agent, task)),
    ),
    ...tasks.map(({ agent, id, title, state }) =>
      going('Tasks', id, `${agent} · ${state} · ${title}`, hrefOf('tasks', agent, id)),
    ),
    ...agents.flatMap(({ id, status }) =>
      agentPages.map((page) =>
        going('Agents', `${id}: ${page}`, status, hrefOf('agents', id, page)),
      ),
    ),
    ...agents.filter(({ in_dashboard: isHere }) => isHere !== true).map(actionOf),
    ...commandsOf(agents),
  ];
}

/**
 * Takes the entries that have every word of a text, those first whose title begins with it. A text that nothing has and
 * that can be the id of a task leads to that task of each agent that runs.
 */
export function matching(
  entries: readonly Entry[],
  text: string,
  agents: readonly AgentJson[],
): Entry[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = entries
    .filter(({ title, note }) => {
      const all = `${title} ${note}`.toLowerCase();
      return words.every((word) => all.includes(word));
    })
    .toSorted((one, other) => rank(one, wanted) - rank(other, wanted))
    .slice(0, most);
  if (found.length > 0 || !/^[\w.:@-]{2,128}$/.test(text.trim())) return inGroups(found);
  return agents
    .filter(({ status }) => status === 'running')
    .slice(0, most)
    .map(({ id }) =>
      going('Tasks', text.trim(), `look for it on ${id}`, hrefOf('tasks', id, text.trim())),
    );
}

/** Says which entry is next to one, round about; `count` is not 0. */
export function besides(index: number, by: number, count: number): number {
  return (((index + by) % count) + count) % count;
}

function rank({ title }: Entry, wanted: string): number {
  const name = title.toLowerCase();
  return name.startsWith(wanted) ? 0 : name.includes(wanted) ? 1 : 2;
}

/** Entries of a group stand together, the group of the best one first. */
function inGroups(entries: readonly Entry[]): Entry[] {
  return [...Map.groupBy(entries, ({ group }) => group).values()].flat();
}

function going(group: Entry['group'], title: string, note: string, href: string): Entry {
  return { id: `${group} ${href}`, group, title, note, deed: { does: 'go', href } };
}

function actionOf(agent: AgentJson): Entry {
  const { id, status, directory, needs_passphrase: isLocked } = agent;
  const verb = status === 'running' || status === 'starting' ? 'stop' : 'start';
  const title = `${verb === 'stop' ? 'Stop' : 'Start'} ${id}`;
  // A passphrase is asked for where the agent is started.
  if (verb === 'start' && isLocked) {
    const href = hrefOf('agents');
    return { ...going('Actions', title, 'asks for its passphrase', href), id: `start ${id}` };
  }
  const command = `holdpoint serve ${verb} --dir ${shellWord(directory)}`;
  const { pending_deferrals: pending, on_restart: onRestart } = agent;
  const waiting = verb === 'stop' ? stopWords(verb, { id, pending, onRestart }) : null;
  const deed: Deed = { does: 'process', order: { verb, agent: id, command, waiting } };
  return { id: `process ${id}`, group: 'Actions', title, note: command, deed };
}

function commandsOf(agents: readonly AgentJson[]): Entry[] {
  const copied = (command: string): Entry => ({
    ...{ id: `copy ${command}`, group: 'Commands', title: command, note: 'copy' },
    deed: { does: 'copy', command },
  });
  return [
    copied('holdpoint task deferrals'),
    ...agents.flatMap(({ directory }) =>
      ['serve logs', 'doctor', 'audit tail'].map((words) =>
        copied(`holdpoint ${words} --dir ${shellWord(directory)}`),
      ),
    ),
  ];
}
