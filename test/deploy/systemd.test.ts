import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '../../src/actors/process/process.ts';
import { temporaryFolder } from '../helpers/test-system.ts';
import { root, runCommand } from '../tooling/run-command.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const template = 'deploy/systemd/holdpoint@.service';
const dashboard = 'deploy/dashboard/holdpoint-dashboard.service';
const backup = 'deploy/systemd/holdpoint-backup@.service';
const timer = 'deploy/systemd/holdpoint-backup@.timer';

/** Returns the options of a unit as `Section.Option`, each with all its values. */
function optionsOf(file: string): Map<string, string[]> {
  const options = new Map<string, string[]>();
  let section = '';
  for (const line of read(file).split('\n')) {
    const [, name] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (name !== undefined) section = name;
    const [, option, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (option === undefined) continue;
    const key = `${section}.${option}`;
    options.set(key, [...(options.get(key) ?? []), value]);
  }
  return options;
}

beforeAll(() => {
  if (findProgram('systemd-analyze') === null)
    spawnSync('/usr/bin/apt-get', ['install', '-y', '--no-install-recommends', 'systemd']);
}, 120_000);

describe('the units', () => {
  it('pass the checks of systemd, and expose little', async () => {
    const folder = temporaryFolder();
    const files = [template, dashboard, backup, timer, 'deploy/systemd/holdpoint.target'];
    const units = files.map((file) => {
      const unit = join(folder, basename(file).replace('@.', '@refunds.'));
      writeFileSync(unit, read(file).replace('/usr/local/bin/holdpoint', process.execPath));
      return unit;
    });
    const verified = await runCommand('systemd-analyze', ['verify', ...units]);
    expect(verified).toMatchObject({ status: 0, stderr: '' });
    for (const unit of units.filter((file) => file.endsWith('.service'))) {
      const words = ['security', '--no-pager', '--offline=true', '--threshold=45', unit];
      expect(await runCommand('systemd-analyze', words)).toMatchObject({ status: 0 });
    }
  });

  it('have no option that breaks the sandbox of scripts', () => {
    const [, table = ''] = read('docs/running.md').split('### What would break');
    const breaking = [...table.matchAll(/`(\w+)=\w*`/g)].map(([, name]) => `Service.${name}`);
    expect(breaking.length).toBeGreaterThan(7);
    for (const file of [template, dashboard]) {
      expect(breaking.filter((option) => optionsOf(file).has(option))).toEqual([]);
    }
  });

  it('run each agent in its folder, with its own port, variables and limits', () => {
    const options = optionsOf(template);
    const expected = {
      'Unit.PartOf': ['holdpoint.target'],
      'Service.WorkingDirectory': ['/srv/agents/%i'],
      'Service.EnvironmentFile': ['/etc/holdpoint/%i.env'],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of systemd
      'Service.ExecStart': ['/usr/local/bin/holdpoint run --dir /srv/agents/%i --port ${PORT}'],
      'Service.ReadWritePaths': ['/srv/agents/%i'],
      'Service.MemoryMax': ['1G'],
      'Service.CPUQuota': ['200%'],
      'Service.TasksMax': ['512'],
      'Install.WantedBy': ['holdpoint.target'],
    };
    const present = Object.keys(expected).map((key) => [key, options.get(key)]);
    expect(Object.fromEntries(present)).toEqual(expected);
  });

  it('back up each agent to a folder that the other files create', () => {
    const options = optionsOf(backup);
    expect(options.get('Service.ExecStart')).toEqual([
      '/usr/local/bin/holdpoint backup /var/backups/holdpoint/ --dir /srv/agents/%i --keep 14',
    ]);
    expect(options.get('Service.User')).toEqual(['holdpoint']);
    expect(options.get('Service.ReadWritePaths')).toEqual([
      '/srv/agents/%i /var/backups/holdpoint',
    ]);
    expect(optionsOf(timer).get('Install.WantedBy')).toEqual(['timers.target']);
    for (const file of [template, dashboard]) {
      expect(optionsOf(file).get('Service.InaccessiblePaths')).toEqual(['-/var/backups/holdpoint']);
    }
  });

  it('share with the dashboard a user and folders that the other files create', () => {
    const units = [template, dashboard].map((file) => optionsOf(file));
    expect(units.flatMap((unit) => unit.get('Service.User'))).toEqual(['holdpoint', 'holdpoint']);
    expect(read('deploy/systemd/sysusers.d/holdpoint.conf')).toMatch(/^u holdpoint - /);
    expect(read('deploy/systemd/tmpfiles.d/holdpoint.conf')).toBe(
      'd /srv/agents 0750 holdpoint holdpoint\nd /etc/holdpoint 0700 root root\nd /var/backups/holdpoint 0700 holdpoint holdpoint\n',
    );
    const confining = [...(units[1]?.keys() ?? [])].filter((key) =>
      /Protect|Private|Restrict|Capabilit|NoNew|UMask|Lock|SystemCall/.test(key),
    );
    expect(confining.length).toBeGreaterThan(12);
    for (const key of confining)
      expect([key, units[0]?.get(key)]).toEqual([key, units[1]?.get(key)]);
  });
});
