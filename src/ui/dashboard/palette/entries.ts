import type { AgentJson } from '../../../http/wire/dashboard/agent-json.ts';
import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { TaskRowJson } from '../../../http/wire/dashboard/task-row-json.ts';
import { stopWords } from '../../../machines/agent-process/stop-words.ts';
import { shellWord } from '../../../machines/shell-word.ts';
import { agentPages, hrefOf } from '../state/route.ts';

/** The headings of the command palette, in order. */
export const groups = ['Pages', 'Waiting', 'Tasks', 'Agents', 'Actions', 'Commands'] as const;

/** A request to start, stop or restart an agent. */
export interface ProcessOrder {
  verb: 'start' | 'stop';
  agent: string;
  /** The equivalent command. */
  command: string;
  /** What happens to the waiting calls; `null` if there are none. */
  waiting: string | null;
}

/** The action of an entry. */
export type Deed =
  | { does: 'go'; href: string }
  | { does: 'process'; order: ProcessOrder }
  | { does: 'copy'; command: string };

/** One entry of the command palette. */
export interface Entry {
  /** Unique among the entries. */
  id: string;
  group: (typeof groups)[number];
  title: string;
  note: string;
  deed: Deed;
}

/** A view that an entry opens; `key` is its shortcut after `g`. */
export interface Page {
  name: string;
  title: string;
  key: string | undefined;
}

/** A task and its agent. */
export interface FoundTask extends TaskRowJson {
  agent: string;
}

/** The destinations and actions known to the page. */
export interface Known {
  pages: readonly Page[];
  agents: readonly AgentJson[];
  deferrals: readonly DeferralJson[];
  tasks: readonly FoundTask[];
}

/** Maximum number of entries shown. */
const most = 40;

/** Lists all destinations and actions in the order of the groups. */
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
 * Returns the entries that contain every word of a string; titles that start with it come first. A string without a match
 * that is a valid task ID offers that task of each running agent.
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
      going('Tasks', text.trim(), `search on ${id}`, hrefOf('tasks', id, text.trim())),
    );
}

/** Returns the index of the entry next to one, wrapping around; `count` must not be 0. */
export function besides(index: number, by: number, count: number): number {
  return (((index + by) % count) + count) % count;
}

function rank({ title }: Entry, wanted: string): number {
  const name = title.toLowerCase();
  return name.startsWith(wanted) ? 0 : name.includes(wanted) ? 1 : 2;
}

/** Groups the entries; the group of the best match comes first. */
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
  // The passphrase is requested on the agent's card.
  if (verb === 'start' && isLocked) {
    const href = hrefOf('agents');
    return { ...going('Actions', title, 'requires its passphrase', href), id: `start ${id}` };
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
