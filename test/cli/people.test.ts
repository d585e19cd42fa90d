import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { holdpointHere } from './command-here.ts';
import { cleanUp, refundAgent } from './holdpoint.ts';

afterAll(cleanUp);

const team = `zone: Europe/Berlin
groups: {finance: [ann@example.com], legal: {slack: S0LEGAL}}
oncall:
  ops: {people: [ann@example.com, bob@example.com], starts: "2026-11-02T09:00", turn: weekly}
away:
  - {person: eve@example.com, from: 2026-12-21, until: 2027-01-04, delegate: bob@example.com}
  - {person: ann@example.com, from: 2026-01-01, until: 2026-01-04}
`;

async function shown(text: string | null, ...flags: string[]) {
  const dir = await refundAgent('agent_id: refunds\nmodel: {provider: scripted, name: demo}\n');
  if (text !== null) await writeFile(join(dir, 'people.yaml'), text);
  const command = ['people', '--at', '2026-11-06T12:00:00Z', '--dir', dir, '--no-color', ...flags];
  const { code, stdout, stderr } = await holdpointHere(command);
  return { code, stdout, stderr };
}

describe('people', () => {
  it('shows who is on call and until when, the groups, and absences that have not ended', async () => {
    expect(await shown(team)).toEqual({
      code: 0,
      stdout: `oncall:ops  ann@example.com until 2026-11-09T08:00:00.000Z, then bob@example.com
group:finance  ann@example.com
group:legal  the members of the Slack user group S0LEGAL
away  eve@example.com from 2026-12-20T23:00:00.000Z until 2027-01-03T23:00:00.000Z, bob@example.com decides
`,
      stderr: '',
    });
  });

  it('prints the same as JSON', async () => {
    const { stdout } = await shown(team, '--json');
    expect(JSON.parse(stdout)).toEqual({
      at: '2026-11-06T12:00:00.000Z',
      oncall: [
        {
          ...{ name: 'ops', people: ['ann@example.com'], until: '2026-11-09T08:00:00.000Z' },
          next: ['bob@example.com'],
        },
      ],
      groups: [
        { name: 'finance', members: ['ann@example.com'], slack: null },
        { name: 'legal', members: [], slack: 'S0LEGAL' },
      ],
      away: [
        {
          ...{ person: 'eve@example.com', from: '2026-12-20T23:00:00.000Z' },
          ...{ until: '2027-01-03T23:00:00.000Z', delegate: 'bob@example.com' },
        },
      ],
    });
  });

  it('shows an empty list, and the place of a mistake', async () => {
    expect((await shown(null)).stdout).toBe('people.yaml has no groups, rotations or absences\n');
    const { code, stdout, stderr } = await shown('groups: {finance: 7}\n');
    expect([code, stdout]).toEqual([5, '']);
    expect(stderr).toMatch(/^people\.yaml:1:\d+: /);
  });

  it('refuses an invalid time', async () => {
    const { code, stderr } = await holdpointHere(['people', '--at', 'soon']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('it must be a time such as 2026-12-27T09:00:00Z, or a duration'),
    ]);
  });
});
