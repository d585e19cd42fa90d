import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDashboard } from '../../helpers/test-dashboard.ts';

function makeAgent(workspace: string, name: string, text = `agent_id: ${name}\n`): void {
  mkdirSync(join(workspace, name), { recursive: true });
  writeFileSync(join(workspace, name, 'service.yaml'), text);
}

describe('the stream of the dashboard', () => {
  it('begins with reset, and reports new, changed and removed agents without a reload', async () => {
    const page = await openDashboard();
    const events = await page.stream('/api/events');
    expect(await events.next()).toMatchObject({ event: 'reset', data: {} });
    makeAgent(page.workspace, 'till');
    expect(await events.next()).toMatchObject({ event: 'agent_created', data: { id: 'till' } });
    makeAgent(page.workspace, 'till', 'agent_id: till\nversion: 2.0.0\n');
    expect(await events.next()).toMatchObject({
      ...{ event: 'agent_status', data: { id: 'till', version: '2.0.0' } },
    });
    rmSync(join(page.workspace, 'till'), { recursive: true });
    expect(await events.next()).toMatchObject({ event: 'agent_removed', data: { id: 'till' } });
    events.leave();
  });

  it("continues from the client's position, without a gap", async () => {
    const page = await openDashboard();
    const events = await page.stream('/api/events');
    const { id: first } = (await events.next())!;
    events.leave();
    for (const name of ['one', 'two']) makeAgent(page.workspace, name);
    await page.post('/api/agents/rescan', {});
    const later = await page.stream('/api/events', { lastEventId: first! });
    const missed = [await later.next(), await later.next()];
    expect(missed.map((event) => [event?.event, event?.data.id])).toEqual([
      ['agent_created', 'one'],
      ['agent_created', 'two'],
    ]);
    later.leave();
  });

  it.each(['', 'of.another', '0.1', 'x', '9'.repeat(40)])(
    'lets a client with %j read everything again',
    async (lastEventId) => {
      const page = await openDashboard();
      const events = await page.stream('/api/events', { lastEventId });
      expect((await events.next())?.event).toBe('reset');
      events.leave();
    },
  );

  it('has headers for proxies', async () => {
    const page = await openDashboard();
    const events = await page.stream('/api/events');
    const { headers } = events.response;
    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
    expect(headers.get('x-accel-buffering')).toBe('no');
    events.leave();
  });

  it('refuses the 65th client', async () => {
    const page = await openDashboard();
    const open = await Promise.all(Array.from({ length: 64 }, () => page.stream('/api/events')));
    expect((await page.get('/api/events')).status).toBe(503);
    for (const events of open) events.leave();
  });
});
