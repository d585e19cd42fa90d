import { beforeAll, describe, expect, it } from 'vitest';
import type { Message, Task } from '../../src/machines/domain/task.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { storeOfStopped } from '../helpers/opened-store.ts';
import { aParkedTask, aTask, aWrite } from '../helpers/stored-tasks.ts';
import { aDeferral } from '../helpers/task-fixtures.ts';
import { deferring, launchAgent, type TestAgent } from '../helpers/test-agent.ts';

const bound = 4 * 1024 * 1024;
const count = 60;

/** What grows most on its way to a reader: short messages under long ids that need escapes. */
const history = Array.from(
  { length: 200 },
  (_, index): Message => ({
    role: 'user',
    parts: [{ kind: 'text', text: '' }],
    messageId: String(index),
  }),
);
const talks = Array.from({ length: count }, (_, index) =>
  aTask({
    id: `talk-${index}`.padEnd(128, 'x'),
    contextId: '"'.repeat(255),
    state: 'completed',
    history,
    answer: [{ kind: 'text', text: 'done' }],
    text: 'done',
    changedAt: Date.now() + index,
  }),
);

/** What is long by itself. */
const texts = Array.from({ length: 9 }, (_, index) =>
  aTask({
    id: `text-${index}`,
    contextId: 'texts',
    state: 'failed',
    text: 'x'.repeat(1_000_000),
    changedAt: Date.now() + index,
  }),
);

const held = Array.from({ length: 9 }, (_, index): Task => {
  const expiresAt = Date.now() + 3_600_000;
  const deferral = aDeferral({ id: `d-${index}`, args: { note: 'é'.repeat(400_000) }, expiresAt });
  return { ...aParkedTask(`held-${index}`, expiresAt), changedAt: Date.now() + index, deferral };
});

let agent: TestAgent;

beforeAll(async () => {
  const folder = new AgentFolder(deferring({}, { on_restart: 'resume' }));
  const store = await storeOfStopped(folder.path);
  for (const task of [...talks, ...texts, ...held]) void store.save(task.id, () => aWrite(task));
  await store.close();
  agent = await launchAgent({}, { folder });
  return () => agent.close();
});

/** Reads every page of a list, each within the bound, and returns how many there were and the ids. */
async function readAll(
  path: string,
  names: { items: string; id: string; cursor: string; next: string },
): Promise<{ pages: number; ids: string[] }> {
  const ids: string[] = [];
  for (let pages = 1, more = ''; ; pages += 1) {
    const response = await fetch(`${agent.url}${path}${more}`);
    const text = await response.text();
    expect([response.status, Buffer.byteLength(text) <= bound]).toEqual([200, true]);
    const body = JSON.parse(text);
    ids.push(...body[names.items].map((item: Record<string, string>) => item[names.id]));
    if (!body[names.next]) return { pages, ids };
    more = `&${names.cursor}=${body[names.next]}`;
  }
}

const idsOf = (tasks: Task[]): string[] => tasks.toReversed().map(({ id }) => id);
const tasks = { items: 'tasks', id: 'id', cursor: 'cursor', next: 'next_cursor' };
const core = { items: 'tasks', id: 'id', cursor: 'pageToken', next: 'nextPageToken' };

describe('a page of each list ends at 4 MiB, and its cursors lead to all entries:', () => {
  it('GET /tasks', async () => {
    const whole = await readAll('/tasks?limit=500', tasks);
    expect(whole.ids).toEqual(idsOf([...talks, ...texts, ...held]));
    const failed = await readAll('/tasks?limit=500&state=failed', tasks);
    expect(failed).toEqual({ pages: 3, ids: idsOf(texts) });
  });

  it('GET /tasks?include=artifacts', async () => {
    const { pages, ids } = await readAll(
      '/tasks?limit=500&state=completed&include=artifacts',
      tasks,
    );
    expect([pages > 1, ids]).toEqual([true, idsOf(talks)]);
  });

  it('GET /a2a/tasks, with all options', async () => {
    const query = `contextId=${talks[0]!.contextId}&historyLength=1000&includeArtifacts=true`;
    const { pages, ids } = await readAll(`/a2a/tasks?pageSize=100&${query}`, core);
    expect([pages > 1, ids]).toEqual([true, idsOf(talks)]);
  });

  it('GET /a2a/tasks without messages', async () => {
    expect(await readAll('/a2a/tasks?pageSize=100&contextId=texts', core)).toEqual({
      pages: 3,
      ids: idsOf(texts),
    });
  });

  it('GET /deferrals', async () => {
    const names = { ...tasks, items: 'deferrals', id: 'task_id' };
    expect(await readAll('/deferrals?limit=500', names)).toEqual({ pages: 2, ids: idsOf(held) });
  });
});
