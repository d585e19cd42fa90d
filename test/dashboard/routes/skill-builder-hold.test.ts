import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBuilder } from '../../helpers/skill-writer.ts';

const root = '/api/agents/till/skill-builder';

/** A skill that says two of its tools should be held, of which one has no script; spelt as a model might. */
const parcels = `---
name: parcels
description: Sends parcels
egress_domains: [api.parcels.example]
metadata: {service: {held: [send-parcel, stamp]}}
---

## Tool: send_parcel

Sends one.

## Tool: find_parcel

Finds one.

## Tool: stamp

Only described.
`;
const scripts = { 'send_parcel.sh': 'echo sent\n', 'find-parcel.sh': 'echo here\n' };
const draft = { skill_md: parcels, scripts };

async function withService(service = '# mine\nagent_id: till # a till\n') {
  const { page, log } = await openBuilder({ files: { 'till/service.yaml': service } });
  const path = join(page.workspace, 'till/service.yaml');
  return {
    ...{ page, log, service, path },
    read: () => readFileSync(path, 'utf8'),
    check: async (more: object = {}) =>
      (await page.post(`${root}/validate`, { ...draft, ...more })).body,
    save: (more: object = {}) => page.post(`${root}/save`, { ...draft, ...more }),
  };
}

const rule = `security:
  defer:
    enabled: true
    tools:
      send_parcel:
        to: channel:console:*
`;

describe('tools that a skill wants held', () => {
  it('have a rule from the save on, which the check shows before it is written', async () => {
    const { check, save, read, service, page, log } = await withService();
    expect(await check()).toMatchObject({
      valid: true,
      holds: {
        tools: ['send_parcel'],
        asks: ['channel:console:*'],
        defer_turned_on: true,
        before: service,
        after: `${service}${rule}`,
        problem: null,
      },
    });
    expect(read()).toBe(service);
    const { status, body } = await save();
    expect([status, body.held_added]).toEqual([200, ['send_parcel']]);
    expect(read()).toBe(
      `${service}${rule}egress:\n  allowed_domains:\n    - api.parcels.example\n`,
    );
    expect(log.join('\n')).toContain('"held_added":["send_parcel"]');
    const { body: policy } = await page.get('/api/agents/till/policy/rules');
    expect(policy.rules.map(({ tool, defer }: any) => [tool, defer?.to ?? null])).toEqual([
      ['find_parcel', null],
      ['send_parcel', ['channel:console:*']],
    ]);
    // What has a rule keeps it.
    expect(await check({ mode: 'edit', editing_name: 'parcels' })).not.toHaveProperty('holds');
    const again = await save({ overwrite: true, editing_name: 'parcels' });
    expect(again.body.held_added).toEqual([]);
  });

  it('have none when the person deselects it', async () => {
    const { save, read, service } = await withService();
    const { body } = await save({ hold: false });
    expect(body.held_added).toEqual([]);
    expect(read()).toBe(`${service}egress:\n  allowed_domains:\n    - api.parcels.example\n`);
  });

  it('get the targets of the other rules, and comments are kept', async () => {
    const service = `agent_id: till
builtin_tools: [uuid_generate]
security:
  defer:
    enabled: true # for all of us
    tools:
      uuid_generate: {to: ["channel:dashboard:desk", "channel:console:*"]} # why not
`;
    const { check, save, read } = await withService(service);
    const { holds } = await check();
    expect(holds).toMatchObject({
      asks: ['channel:dashboard:desk', 'channel:console:*'],
      defer_turned_on: false,
    });
    await save();
    expect(read()).toContain('enabled: true # for all of us');
    expect(read()).toContain('# why not');
    const written = ['channel:dashboard:desk', 'channel:console:*'].map((to) => `- ${to}`);
    expect(read()).toMatch(
      new RegExp(`send_parcel:\\s+to:\\s+${written.join('\\s+').replaceAll('*', '\\*')}`),
    );
  });

  it('are reported as not held where the rules cannot be written, and nothing is saved then', async () => {
    const { check, save, read, path, page } = await withService();
    const broken = 'agent_id: till\nsecurity: {defer: {enabled: perhaps}}\n';
    writeFileSync(path, broken);
    const problem = expect.stringContaining('service.yaml has problems, which come first');
    expect((await check()).holds).toMatchObject({ tools: ['send_parcel'], problem });
    expect(await save()).toMatchObject({ status: 409, body: { error: problem } });
    expect(read()).toBe(broken);
    expect((await page.get(`${root}/skills`)).body).toEqual([]);
  });

  it('get no rule when the skill cannot be written', async () => {
    const { save, read, service, page } = await withService();
    const other = parcels.replace('name: parcels', 'name: other');
    const { status } = await save({ skill_md: other });
    expect(status).toBe(200);
    const before = read();
    expect(before).not.toBe(service);
    // A second skill with tools of these names is refused once it is there.
    const refused = await save({ skill_md: parcels.replaceAll('send', 'resend') });
    expect(refused.status).toBe(400);
    expect(read()).toBe(before);
    expect((await page.get(`${root}/skills`)).body).toHaveLength(1);
  });
});
