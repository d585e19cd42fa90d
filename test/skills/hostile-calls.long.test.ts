import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { agentWithSkill } from './skill-agent.ts';

const key = 'sk-canary-5f1c';

/** The state of an agent, and its configuration, as a model could ask a skill for it. */
const files = {
  '.service/.env': `OPENAI_API_KEY=${key}\n`,
  '.service/serve.json': JSON.stringify({ proof_key: key }),
  '.env': `SHOP_KEY=${key}\n`,
  'webhook-config.yaml': `# ${key}\nadapter: webhook\n`,
};

describe('a call of a model, without a sandbox', () => {
  it.each([
    ['csv-report', 'csv_report', (file: string) => ({ file })],
    ['log-search', 'search_logs', (path: string) => ({ path })],
    ['json-diff', 'json_diff', (file: string) => ({ before: '{}', after_file: file })],
    ['sqlite-query', 'describe_database', (file: string) => ({ file })],
    ['release-notes', 'list_changes', (repository: string) => ({ repository })],
  ] as const)(
    'reads no state and no configuration of the agent by %s',
    async (name, tool, args) => {
      const agent = await agentWithSkill(name, {
        ...{ files, sandbox: 'env' },
        prepare(directory) {
          new DatabaseSync(join(directory, '.service/store.db')).exec(
            'CREATE TABLE tasks (secret)',
          );
          execFileSync('git', ['init', '-q', '--bare', join(directory, '.service/repository')]);
        },
      });
      const paths = [
        ...['.service/.env', '.service/serve.json', '.service/store.db', '.service/repository'],
        ...['.env', './data/../.service/.env', 'service.yaml', 'webhook-config.yaml', '.service'],
      ];
      for (const path of paths) {
        const said = await agent.fail(tool, args(path));
        expect([path, said]).toEqual([path, expect.stringContaining('failed with exit code 1: ')]);
        expect(said).not.toContain(key);
        expect(said).toMatch(/which no tool reads|there is no|is not in the folder/);
      }
    },
  );
});

describe('a folder from another person', () => {
  it('runs no program of a repository with missing objects', async () => {
    const mark = 'ran';
    const agent = await agentWithSkill('release-notes', {
      sandbox: 'env',
      prepare(directory) {
        const work = join(directory, 'work');
        const bare = join(directory, 'shop.git');
        const git = (...args: string[]) =>
          execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
            encoding: 'utf8',
          });
        git('init', '-q', '-b', 'main', work);
        for (const subject of ['feat: one', 'fix: two']) {
          git('-C', work, 'commit', '-q', '--allow-empty', '-m', subject);
        }
        git('clone', '-q', '--bare', work, bare);
        const missing = git('-C', bare, 'rev-parse', 'HEAD~1').trim();
        rmSync(work, { recursive: true });
        rmSync(join(bare, 'objects', missing.slice(0, 2), missing.slice(2)), { force: true });
        expect(readdirSync(join(bare, 'objects/pack'))).toEqual([]);
        mkdirSync(join(directory, 'elsewhere.git'));
        const touch = `touch ${join(directory, mark)};false`;
        for (const [name, value] of [
          ['core.repositoryFormatVersion', '1'],
          ['extensions.partialClone', 'origin'],
          ['remote.origin.promisor', 'true'],
          ['remote.origin.url', join(directory, 'elsewhere.git')],
          ['remote.origin.uploadpack', touch],
          ['protocol.file.allow', 'always'],
          ['core.pager', touch],
          ['core.fsmonitor', touch],
        ] as const) {
          git('-C', bare, 'config', name, value);
        }
      },
    });
    await agent.fail('list_changes', { repository: 'shop.git' });
    expect(existsSync(join(agent.directory, mark))).toBe(false);
  });

  it('has a number refused that would fill the memory', async () => {
    const agent = await agentWithSkill('csv-report', {
      files: { 'a.csv': 'n\n1E+999999999\n' },
    });
    expect(await agent.fail('csv_report', { file: 'a.csv', value: 'n' })).toBe(
      'csv_report failed with exit code 1: line 2 has no number in the column n',
    );
  });
});

describe('an argument of a model', () => {
  it('requests no database value that would fill the memory', async () => {
    const agent = await agentWithSkill('sqlite-query', {
      prepare(directory) {
        const database = new DatabaseSync(join(directory, 'a.db'));
        database.exec('CREATE TABLE t (n)');
        database.close();
      },
    });
    const sql = 'SELECT length(randomblob(900000000)) AS n';
    expect(await agent.fail('query_database', { file: 'a.db', sql })).toContain('too big');
  });

  it('names no repository that leads to another part of GitHub', async () => {
    const agent = await agentWithSkill('github-issues', {
      env: { GITHUB_TOKEN: key, GITHUB_API_URL: 'http://127.0.0.1:9' },
    });
    for (const repository of ['nodejs/..', 'nodejs/.']) {
      expect(await agent.fail('list_issues', { repository })).toBe(
        'list_issues failed with exit code 1: a name cannot be dots alone',
      );
    }
  });
});
