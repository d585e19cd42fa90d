import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDashboard } from '../../helpers/test-dashboard.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

/** The entry in place of an expected file. */
const things: Record<string, (path: string) => void> = {
  'a pipe': (path) => execFileSync('mkfifo', [path]),
  'a link to a device': (path) => symlinkSync('/dev/zero', path),
  'a folder': (path) => mkdirSync(path),
  'a huge file': (path) => {
    writeFileSync(path, '');
    truncateSync(path, 2 ** 33);
  },
};

const skill = '---\nname: count\n---\n\n## Tool: count\n\nCounts.\n';

/** Files of an agent, each with what names it in `service.yaml`. */
const files: Record<string, string> = {
  'SKILL.md': '',
  'skills/count/SKILL.md': '',
  'skills/count/scripts/count.sh': '',
  'AGENT.md': 'instructions: {file: AGENT.md}\n',
  '.env': 'secrets: {providers: [env]}\n',
  'held.bin': 'secrets: {providers: [encrypted-file], path: held.bin}\n',
  'slack-config.yaml': 'channels: [slack]\n',
  'log.ndjson': 'audit: {path: log.ndjson}\n',
};

const cases = Object.keys(files).flatMap((file) =>
  Object.keys(things).map((thing) => [file, thing]),
);

describe('an agent in the workspace', () => {
  it.each(cases)('whose %s is %s does not block the others', async (file = '', thing = '') => {
    const page = await openDashboard((workspace) => {
      const folder = join(workspace, 'bad');
      mkdirSync(join(folder, 'skills/count/scripts'), { recursive: true });
      writeFileSync(join(folder, 'skills/count/SKILL.md'), skill);
      execFileSync('rm', ['-f', join(folder, file)]);
      writeFileSync(join(folder, 'service.yaml'), `agent_id: bad\n${files[file]}`);
      things[thing]?.(join(folder, file));
      mkdirSync(join(workspace, 'good'));
      writeFileSync(join(workspace, 'good/service.yaml'), 'agent_id: good\n');
    });
    const { body: agents } = await page.get('/api/agents');
    expect(agents.map(({ id }: { id: string }) => id)).toEqual(['bad', 'good']);
    for (const path of ['', '/config', '/policy', '/audit', '/logs']) {
      expect((await page.get(`/api/agents/bad${path}`)).status).toBeLessThanOrEqual(409);
    }
    expect((await page.get('/api/agents/good/policy')).status).toBe(200);
  });
});

describe('the audit log of an agent', () => {
  const secret = '{"event":"of somebody else"}\n';

  it('is not shown from outside its folder, and its place is named', async () => {
    const elsewhere = join(temporaryFolder(), 'notes.ndjson');
    writeFileSync(elsewhere, secret);
    const page = await openDashboard((workspace) => {
      mkdirSync(join(workspace, 'bad'));
      writeFileSync(
        join(workspace, 'bad/service.yaml'),
        `agent_id: bad\naudit: {path: ${elsewhere}}\n`,
      );
    });
    const { status, body } = await page.get('/api/agents/bad/audit');
    expect([status, body]).toEqual([
      409,
      {
        error: `the audit log lies outside of the agent's folder, at ${elsewhere}`,
        code: 'audit_log_unusable',
        hint: `verify it with: holdpoint audit verify ${elsewhere}`,
      },
    ]);
  });

  it.each(['audit.ndjson', 'audit-000000000001.ndjson'])(
    'is not shown when its %s is a link out of the folder',
    async (name) => {
      const elsewhere = join(temporaryFolder(), 'notes.ndjson');
      writeFileSync(elsewhere, secret);
      const page = await openDashboard((workspace) => {
        mkdirSync(join(workspace, 'bad/.service'), { recursive: true });
        writeFileSync(join(workspace, 'bad/service.yaml'), 'agent_id: bad\n');
        writeFileSync(join(workspace, 'bad/.service/audit.ndjson'), '');
        execFileSync('rm', ['-f', join(workspace, 'bad/.service', name)]);
        symlinkSync(elsewhere, join(workspace, 'bad/.service', name));
      });
      const { status, body } = await page.get('/api/agents/bad/audit');
      expect(status).toBe(409);
      expect(JSON.stringify(body)).not.toContain('somebody else');
    },
  );
});

describe('a folder with the name of an agent', () => {
  it('is not addressed as the agent, under any name', async () => {
    const page = await openDashboard((workspace) => {
      mkdirSync(join(workspace, 'desk'));
      writeFileSync(join(workspace, 'desk/service.yaml'), 'agent_id: desk\n');
    });
    const own = join(page.workspace, 'desk');
    const directoryOf = async (id: string) => (await page.get(`/api/agents/${id}`)).body.directory;
    expect(await directoryOf('desk')).toBe(own);
    mkdirSync(join(page.workspace, 'aaa'));
    writeFileSync(join(page.workspace, 'aaa/service.yaml'), 'agent_id: desk\n');
    for (let times = 0; times < 2; times += 1) {
      await page.post('/api/agents/rescan', {});
      expect(await directoryOf('desk')).toBe(own);
      expect(await directoryOf('desk-2')).toBe(join(page.workspace, 'aaa'));
    }
    writeFileSync(join(own, 'service.yaml'), 'agent_id: till\n');
    await page.post('/api/agents/rescan', {});
    expect(await directoryOf('till')).toBe(own);
  });
});
