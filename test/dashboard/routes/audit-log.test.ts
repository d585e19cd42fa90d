import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { events, logOf } from '../../actors/records/log/log-of.ts';
import { openFilesIn } from '../../helpers/open-files.ts';
import { patient } from '../../helpers/patient.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';

/** A dashboard over an agent whose log is kept in files of these texts, by name. */
function dashboardOf(files: Record<string, string>) {
  return openDashboard((workspace) => {
    const folder = join(workspace, 'refunds/.service');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(workspace, 'refunds/service.yaml'), 'agent_id: refunds\n');
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  });
}

describe('the audit log of an agent over HTTP', () => {
  const older = logOf(events(3));
  const newer = logOf(events(4), older.head);
  const files = {
    'audit-000000000001.ndjson': older.lines.join(''),
    'audit.ndjson': newer.lines.join(''),
  };

  it('is one over all its files, and reports whether it verifies unless that is switched off', async () => {
    const page = await dashboardOf(files);
    const { body } = await page.get('/api/agents/refunds/audit?limit=5');
    const folder = join(page.workspace, 'refunds/.service');
    expect(body).toEqual({
      events: [...older.lines, ...newer.lines]
        .map((line, index) => ({ seq: index + 1, line: line.trimEnd() }))
        .slice(2),
      ...{ first: 3, total: 7, pruned: null, keys: [] },
      verified: { ok: true, events: 7 },
      path: join(folder, 'audit.ndjson'),
      files: Object.keys(files).map((name) => join(folder, name)),
    });
    const quick = await page.get('/api/agents/refunds/audit?limit=5&verified=false');
    const { verified: _, ...others } = body;
    expect(quick.body).toEqual(others);
  });

  it('contains the lines of a range of time', async () => {
    const [hour, day] = [3_600_000, 86_400_000];
    const past = [30 * day, 3 * day, hour].map((ago) => new Date(Date.now() - ago).toISOString());
    const { lines } = logOf(past.map((ts) => ({ event: 'x', ts })));
    const page = await dashboardOf({ 'audit.ndjson': lines.join('') });
    const found = async (query: string): Promise<number[]> => {
      const { body } = await page.get(`/api/agents/refunds/audit?verified=false&${query}`);
      return body.events.map(({ seq }: { seq: number }) => seq);
    };
    expect(await found('from=7d')).toEqual([2, 3]);
    expect(await found('from=7d&to=1d')).toEqual([2]);
    expect(await found(`to=${past[1]}`)).toEqual([1, 2]);
    expect(await found(`from=${past[1]}&before=3`)).toEqual([2]);
    const refused = async (query: string) => page.get(`/api/agents/refunds/audit?${query}`);
    expect(await refused('from=1d&to=7d')).toMatchObject({
      ...{ status: 400, body: { error: 'from must not be after to' } },
    });
    expect(await refused('to=later')).toMatchObject({
      status: 400,
      body: {
        error:
          'to must be a time such as 2026-07-01T09:00:00Z, or a duration before now such as 7d',
      },
    });
  });

  it('is returned byte for byte, from line to line', async () => {
    const { dashboard } = await dashboardOf(files);
    const address = `http://127.0.0.1:${dashboard.port}/api/agents/refunds/audit/lines`;
    const whole = await fetch(address);
    const part = await fetch(`${address}?from=3&to=5`);
    const text = Object.values(files).join('');
    expect([whole.headers.get('content-length'), await whole.text()]).toEqual([
      String(Buffer.byteLength(text)),
      text,
    ]);
    expect(await part.text()).toBe([...older.lines, ...newer.lines].slice(2, 5).join(''));
  });

  it('names the line of a break', async () => {
    const broken = newer.lines.with(1, (newer.lines[1] ?? '').replace('"n":1', '"n":9')).join('');
    const page = await dashboardOf({ ...files, 'audit.ndjson': broken });
    const { body } = await page.get('/api/agents/refunds/audit');
    expect(body.verified).toEqual({
      ...{ ok: false, events: 7, line: 6 },
      problem: 'prev_hash does not match the previous line',
    });
  });

  it('keeps no file open after the client has disconnected, or has all of it', async () => {
    const long = logOf(events(1)).lines[0]!.repeat(60_000);
    const { dashboard, workspace } = await dashboardOf({ 'audit.ndjson': long });
    const address = `http://127.0.0.1:${dashboard.port}/api/agents/refunds/audit`;
    const left = new AbortController();
    const { body } = await fetch(`${address}/lines`, { signal: left.signal });
    await body?.getReader().read();
    expect(openFilesIn(workspace)).toHaveLength(1);
    left.abort();
    await vi.waitFor(() => expect(openFilesIn(workspace)).toEqual([]), patient);
    await (await fetch(`${address}/lines`)).arrayBuffer();
    await (await fetch(address)).json();
    await vi.waitFor(() => expect(openFilesIn(workspace)).toEqual([]), patient);
  });

  it.each(['limit=0', 'before=-1', 'task=a&task=b', `event=${'x'.repeat(257)}`])(
    'refuses %s',
    async (query) => {
      const page = await dashboardOf(files);
      expect((await page.get(`/api/agents/refunds/audit?${query}`)).status).toBe(400);
    },
  );
});
