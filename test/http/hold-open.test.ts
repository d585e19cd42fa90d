import { expect, it, vi } from 'vitest';
import { playing } from '../helpers/agent-client.ts';
import { paying, serveHolds } from '../helpers/held-surface.ts';
import { reaches } from '../helpers/system-story.ts';

it.each([
  ['REST', '/tasks/send', (task: object) => ({ task })],
  ['JSON-RPC', '/', (params: object) => ({ jsonrpc: '2.0', id: 1, method: 'tasks/send', params })],
])(
  'a send over %s is kept alive whose task waits before the send has begun',
  async (_, path, bodyOf) => {
    const { client, system, approve, waitFor } = await serveHolds();
    const open = system.open.bind(system);
    vi.spyOn(system, 'open').mockImplementation(async (request) => {
      const id = await open(request);
      // As where the first commit takes its time.
      await reaches(system, id, 'deferred');
      return id;
    });
    const body = bodyOf({ id: 't1', message: playing(paying) });
    const opened = client.open('POST', path, { body });
    await waitFor(25_000);
    const response = await opened;
    expect(response.status).toBe(200);
    await approve();
    const said = JSON.parse(await response.text());
    expect((said.result ?? said).status.state).toBe('completed');
  },
);
