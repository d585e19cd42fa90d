import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { agentWithSkill } from './skill-agent.ts';

needsBwrap();

describe('csv-report', () => {
  const orders = 'id,shop,amount\n1,Lyon,10.5\n2,Ghent,"1,000"\n3,Lyon,2\n4,Lyon,\n';

  it('groups rows and sums a column', async () => {
    const { call } = await agentWithSkill('csv-report', { files: { 'data/orders.csv': orders } });
    expect(
      await call('csv_report', { file: 'data/orders.csv', group_by: 'shop', value: 'amount' }),
    ).toEqual({
      ...{ file: 'data/orders.csv', columns: ['id', 'shop', 'amount'], rows: 4, more_groups: 0 },
      groups: [
        { shop: 'Ghent', rows: 1, sum: 1000, average: 1000, least: 1000, greatest: 1000 },
        { shop: 'Lyon', rows: 3, sum: 12.5, average: 6.25, least: 2, greatest: 10.5 },
      ],
    });
    const one = { file: 'data/orders.csv', where: { shop: 'Ghent' } };
    expect(await call('csv_report', one)).toMatchObject({ rows: 1 });
  });

  it('reports unusable input, and reads nothing outside the agent', async () => {
    const { fail } = await agentWithSkill('csv-report', {
      files: { 'orders.csv': orders, 'words.csv': 'a,b\nx,many\n' },
      prepare: (directory) => symlinkSync('/etc/passwd', join(directory, 'link.csv')),
    });
    expect(await fail('csv_report', { file: 'orders.csv', group_by: 'town' })).toBe(
      'csv_report failed with exit code 1: there is no column town; there are id, shop, amount',
    );
    expect(await fail('csv_report', { file: 'words.csv', value: 'b' })).toBe(
      'csv_report failed with exit code 1: line 2 has no number in the column b',
    );
    for (const file of ['../x.csv', '/etc/passwd', 'link.csv']) {
      expect(await fail('csv_report', { file })).toContain('is not in the folder of the agent');
    }
    expect(await fail('csv_report', { file: 'none.csv' })).toContain('there is no file none.csv');
    expect(await fail('csv_report', {})).toBe('csv_report: argument file is missing');
  });
});

describe('json-diff', () => {
  it('lists what was added, removed and changed', async () => {
    const { call } = await agentWithSkill('json-diff', {
      files: { 'a.json': '{"port": 80, "hosts": ["a"], "old": null}' },
    });
    const after = '{"hosts": ["a", "b"], "port": "80", "a/b": 1}';
    expect(await call('json_diff', { before_file: 'a.json', after })).toEqual({
      ...{ same: false, added: 2, removed: 1, changed: 1, more: 0 },
      differences: [
        { path: '/port', kind: 'changed', before: 80, after: '80' },
        { path: '/hosts/1', kind: 'added', after: 'b' },
        { path: '/old', kind: 'removed', before: null },
        { path: '/a~1b', kind: 'added', after: 1 },
      ],
    });
    const same = await call('json_diff', { before: '{"a": 1, "b": 2}', after: '{"b": 2, "a": 1}' });
    expect(same).toEqual({
      same: true,
      added: 0,
      removed: 0,
      changed: 0,
      differences: [],
      more: 0,
    });
  });

  it('reports unusable input', async () => {
    const { fail } = await agentWithSkill('json-diff');
    const failure = 'json_diff failed with exit code 1: ';
    expect(await fail('json_diff', { before: '{', after: '1' })).toBe(
      `${failure}before is not JSON`,
    );
    expect(await fail('json_diff', { before: '1' })).toBe(
      `${failure}give either after or after_file`,
    );
    const deep = `${'['.repeat(5_000)}1${']'.repeat(5_000)}`;
    expect(await fail('json_diff', { before: deep, after: deep.replace('1', '2') })).toBe(
      `${failure}the documents are nested deeper than 200 levels`,
    );
    expect(await fail('json_diff', { before: '1', after_file: '/etc/passwd' })).toBe(
      `${failure}/etc/passwd is not in the folder of the agent`,
    );
  });
});

describe('log-search', () => {
  const log = [
    '10:00 INFO order 12 paid',
    '10:01 WARNING slow query 300 ms',
    '10:02 ERROR order 13 failed',
    '10:03 ERROR order 14 failed',
    'no level here',
  ].join('\n');

  it('finds lines and summarizes them', async () => {
    const { call } = await agentWithSkill('log-search', {
      files: {
        'logs/app.log': log,
        'logs/image.png': 'ERROR order',
        'logs/b.ndjson': '{"level":"error","order":9}',
      },
    });
    expect(await call('search_logs', { path: 'logs', text: 'order', level: 'warn' })).toEqual({
      ...{ files: 2, matches: 3, levels: { error: 3 } },
      most_common: [
        { count: 2, message: '#:# ERROR order # failed' },
        { count: 1, message: '{"level":"error","order":#}' },
      ],
      latest: [
        { file: 'logs/app.log', line: 3, text: '10:02 ERROR order 13 failed' },
        { file: 'logs/app.log', line: 4, text: '10:03 ERROR order 14 failed' },
        { file: 'logs/b.ndjson', line: 1, text: '{"level":"error","order":9}' },
      ],
    });
    const others = { path: 'logs/app.log', without: 'ORDER', limit: 1 };
    expect(await call('search_logs', others)).toMatchObject({
      ...{ matches: 2, levels: { warn: 1, none: 1 } },
      latest: [{ line: 5, text: 'no level here' }],
    });
  });

  it('reads nothing outside the agent', async () => {
    const { fail, call } = await agentWithSkill('log-search', {
      prepare(directory) {
        mkdirSync(join(directory, 'logs'));
        symlinkSync('/etc/passwd', join(directory, 'logs/users.log'));
      },
    });
    expect(await call('search_logs', { path: 'logs' })).toMatchObject({ files: 0, matches: 0 });
    for (const path of ['/var/log', '..', 'logs/users.log']) {
      expect(await fail('search_logs', { path })).toContain('is not in the folder of the agent');
    }
    expect(await fail('search_logs', { path: 'none' })).toContain('there is no none in the folder');
  });
});

describe('sqlite-query', () => {
  const prepare = (directory: string) => {
    const database = new DatabaseSync(join(directory, 'shop #1.db'));
    database.exec(`CREATE TABLE orders (id INTEGER, town TEXT);
      CREATE VIEW towns AS SELECT DISTINCT town FROM orders;
      INSERT INTO orders VALUES (1, 'Lyon'), (2, 'Ghent'), (9007199254740993, 'Lyon')`);
    database.close();
    writeFileSync(join(directory, 'note.txt'), 'SQLite');
  };
  const file = 'shop #1.db';

  it('answers a query', async () => {
    const { call } = await agentWithSkill('sqlite-query', { prepare });
    expect(await call('describe_database', { file })).toEqual({
      file,
      tables: [
        { name: 'orders', kind: 'table', columns: ['id INTEGER', 'town TEXT'] },
        { name: 'towns', kind: 'view', columns: ['town TEXT'] },
      ],
    });
    const sql = 'SELECT id FROM orders WHERE town = ? ORDER BY id';
    expect(await call('query_database', { file, sql, values: ['Lyon'] })).toEqual({
      ...{ rows: [{ id: 1 }, { id: '9007199254740993' }], more: false },
    });
    expect(await call('query_database', { file, sql, values: ['Lyon'], limit: 1 })).toEqual({
      ...{ rows: [{ id: 1 }], more: true },
    });
  });

  it('changes nothing, with any query', async () => {
    const { call, fail } = await agentWithSkill('sqlite-query', { prepare });
    for (const sql of [
      'DELETE FROM orders',
      "ATTACH '/tmp/x.db' AS x",
      'PRAGMA query_only = 0',
      'WITH gone AS (SELECT 1) DELETE FROM orders',
      "SELECT load_extension('x')",
      'SELEC 1',
    ]) {
      expect(await fail('query_database', { file, sql })).toMatch(
        /^query_database failed with exit code 1: .+/,
      );
    }
    await call('query_database', { file, sql: 'SELECT 1; DELETE FROM orders' });
    const count = { file, sql: 'SELECT count(*) AS n FROM orders' };
    expect(await call('query_database', count)).toEqual({ rows: [{ n: 3 }], more: false });
    expect(await fail('query_database', { ...count, file: 'note.txt' })).toContain(
      'is no SQLite database',
    );
    expect(await fail('query_database', { ...count, file: '/etc/passwd' })).toContain(
      'is not in the folder',
    );
  });
});

describe('release-notes', () => {
  const git = (directory: string, ...args: string[]) =>
    execFileSync('git', [
      '-C',
      join(directory, 'project'),
      '-c',
      'user.name=Ann',
      '-c',
      'user.email=ann@example.com',
      ...args,
    ]);
  const prepare = (directory: string) => {
    mkdirSync(join(directory, 'project'));
    git(directory, 'init', '-q');
    const commit = (message: string) =>
      git(directory, 'commit', '-q', '--allow-empty', '-m', message);
    commit('feat: the first');
    git(directory, 'tag', '1.0.0');
    commit('feat(orders)!: export orders\n\nThe old file is gone.');
    commit('fix: round amounts');
    commit('Tidy up');
    git(directory, 'clone', '-q', '--mirror', '.', '../project.git');
  };

  it('sorts the commits since the latest tag', async () => {
    const { call } = await agentWithSkill('release-notes', { prepare });
    const { changes, ...rest } = await call('list_changes', { repository: 'project.git' });
    expect(rest).toEqual({ from: '1.0.0', to: 'HEAD', commits: 3, more: false });
    expect(changes).toMatchObject({
      breaking: [{ subject: 'export orders', scope: 'orders', text: 'The old file is gone.' }],
      fixes: [{ subject: 'round amounts', author: 'Ann' }],
      others: [{ subject: 'Tidy up' }],
    });
  });

  it('runs nothing that the repository configures, and takes no option as a version', async () => {
    const { call, fail, directory } = await agentWithSkill('release-notes', {
      prepare(folder) {
        prepare(folder);
        for (const key of ['core.pager', 'core.fsmonitor', 'gpg.program', 'diff.external']) {
          git(
            folder,
            '--git-dir=../project.git',
            'config',
            key,
            'touch "$SERVICE_AGENT_DIR/ran"; false',
          );
        }
        git(folder, '--git-dir=../project.git', 'config', 'log.showSignature', 'true');
      },
    });
    await call('list_changes', { repository: 'project.git', from: '1.0.0', to: 'HEAD' });
    expect(execFileSync('ls', [directory], { encoding: 'utf8' })).not.toContain('ran');
    expect(await fail('list_changes', { repository: 'project.git', from: '--output=x' })).toMatch(
      /^list_changes: argument from must match pattern/,
    );
    expect(await fail('list_changes', { repository: 'project.git', to: 'none' })).toBe(
      'list_changes failed with exit code 1: there is no version none in this repository',
    );
    expect(await fail('list_changes', { repository: '..' })).toContain('is not in the folder');
    expect(await fail('list_changes', { repository: 'project' })).toContain(
      'project is no bare repository; make one with git clone --mirror',
    );
  });
});
