import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDashboard } from '../../helpers/test-dashboard.ts';

const text = '# kept\nagent_id: till\n';

async function withAgent() {
  const page = await openDashboard((workspace) => {
    writeFileSync(join(workspace, 'service.yaml'), text);
  });
  const path = join(page.workspace, 'service.yaml');
  const put = (content: string, etag?: string) =>
    page.request('PUT', '/api/agents/till/config', {
      body: { content },
      headers: etag === undefined ? {} : { 'if-match': etag },
    });
  return { page, path, put };
}

describe('the configuration of an agent', () => {
  it('is read and written completely', async () => {
    const { page, path, put } = await withAgent();
    const { body, headers } = await page.get('/api/agents/till/config');
    expect(body).toEqual({ content: text, path, etag: headers.get('etag') });
    const next = '# kept\nagent_id: till\nversion: 2.0.0\n';
    const written = await put(next, body.etag);
    expect([written.status, written.body.content]).toEqual([200, next]);
    expect(readFileSync(path, 'utf8')).toBe(next);
  });

  it('is not written when it is invalid, and every problem has its place', async () => {
    const { page, path, put } = await withAgent();
    const { body } = await page.get('/api/agents/till/config');
    const refused = await put('agent_id: till\nmodel: {provider: nobody}\n', body.etag);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({
      valid: false,
      errors: [{ line: 2, path: 'model.provider' }],
      warnings: [],
    });
    expect(readFileSync(path, 'utf8')).toBe(text);
    const checked = await page.post('/api/agents/till/config/validate', { content: text });
    expect(checked.body).toEqual({ valid: true, errors: [], warnings: [] });
  });

  it('does not replace a concurrent change (WEB-11)', async () => {
    const { page, path, put } = await withAgent();
    const { body } = await page.get('/api/agents/till/config');
    const theirs = 'agent_id: till\nversion: 3.0.0\n';
    writeFileSync(path, theirs);
    const late = await put('agent_id: till\nversion: 2.0.0\n', body.etag);
    expect(late.status).toBe(412);
    expect(late.body.content).toBe(theirs);
    expect(readFileSync(path, 'utf8')).toBe(theirs);
    expect((await put(text)).status).toBe(428);
  });

  it('is written by one of many concurrent saves, and the others receive that version', async () => {
    const { page, path, put } = await withAgent();
    const { body } = await page.get('/api/agents/till/config');
    const texts = Array.from({ length: 8 }, (_, n) => `agent_id: till\nversion: ${n + 2}.0.0\n`);
    const answers = await Promise.all(texts.map((content) => put(content, body.etag)));
    const now = readFileSync(path, 'utf8');
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, ...Array(7).fill(412)]);
    expect(answers.map((answer) => answer.body.content)).toEqual(Array(8).fill(now));
    expect(texts).toContain(now);
    expect(readdirSync(page.workspace)).toEqual(['service.yaml']);
  });

  it('keeps its mode, and does not wait for a killed save', async () => {
    const { page, path, put } = await withAgent();
    const { body } = await page.get('/api/agents/till/config');
    chmodSync(path, 0o640);
    writeFileSync(`${path}.saving`, 'agent_id: ti');
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(`${path}.saving`, longAgo, longAgo);
    const next = 'agent_id: till\nversion: 2.0.0\n';
    expect((await put(next, body.etag)).status).toBe(200);
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual([next, 0o640]);
  });

  it('is not written during another save, and that is reported', async () => {
    const { page, path, put } = await withAgent();
    const { body } = await page.get('/api/agents/till/config');
    mkdirSync(`${path}.saving`);
    const refused = await put('agent_id: till\nversion: 2.0.0\n', body.etag);
    expect([refused.status, readFileSync(path, 'utf8')]).toEqual([409, text]);
    expect(refused.body.error).toContain('save again in a moment');
  });

  it('is refused when it is too long, too deep or not text', async () => {
    const { page, put } = await withAgent();
    const { body } = await page.get('/api/agents/till/config');
    const long = `agent_id: till\n# ${'x'.repeat(300_000)}\n`;
    expect((await put(long, body.etag)).status).toBe(400);
    expect((await page.post('/api/agents/till/config/validate', { content: 1 })).status).toBe(400);
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    expect((await page.post('/api/agents/till/config/validate', deep)).status).toBe(400);
  });
});
