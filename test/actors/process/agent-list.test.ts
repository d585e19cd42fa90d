import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listAgent, runningAgents } from '../../../src/actors/process/agent-list.ts';
import { processSpace, processStart } from '../../../src/actors/process/process-start.ts';

let state: string;
let env: NodeJS.ProcessEnv;
let folder: string;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'holdpoint-test-'));
  env = { XDG_STATE_HOME: state };
  folder = join(state, 'holdpoint', 'agents');
});

afterEach(() => {
  chmodSync(state, 0o700);
  rmSync(state, { recursive: true });
});

const agent = { agentId: 'refunds', directory: '/srv/refunds', url: 'http://127.0.0.1:8080' };

const entry = {
  agent_id: 'refunds',
  directory: '/srv/refunds',
  url: 'http://127.0.0.1:8080',
  pid: process.pid,
  started: processStart(process.pid),
  space: processSpace(),
};

/** Puts a file on the list as another user would. */
function plant(content: unknown, name = '0123456789abcdef-1-1.json'): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), {
    mode: 0o600,
  });
  return path;
}

describe('the list of running agents', () => {
  it('contains an agent from its start to its end, in files of its user only', () => {
    expect(runningAgents(env)).toEqual([]);
    const unlist = listAgent(agent, env);
    expect(runningAgents(env)).toEqual([entry]);
    const [name = ''] = readdirSync(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    unlist();
    expect(runningAgents(env)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('contains no secret', () => {
    listAgent(agent, env);
    const [name = ''] = readdirSync(folder);
    expect(Object.keys(JSON.parse(readFileSync(join(folder, name), 'utf8')) as object)).toEqual([
      'agent_id',
      'directory',
      'url',
      'pid',
      'started',
      'space',
    ]);
  });

  it('is in the home folder by default', () => {
    listAgent(agent, { HOME: state });
    expect(readdirSync(join(state, '.local/state/holdpoint/agents'))).toHaveLength(1);
    expect(runningAgents({ HOME: state, XDG_STATE_HOME: 'not/absolute' })).toEqual([entry]);
  });

  it('drops agents whose process exited or was replaced', async () => {
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(child, 'exit');
    plant({ ...entry, pid: child.pid }, '0123456789abcdef-1-1.json');
    plant({ ...entry, started: '1' }, '0123456789abcdef-2-1.json');
    expect(runningAgents(env)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('neither uses nor removes entries of another container', () => {
    plant({ ...entry, space: 'elsewhere pid:[1]' });
    expect(runningAgents(env)).toEqual([]);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('contains an agent once that was killed and started again', () => {
    listAgent(agent, env);
    const [name = ''] = readdirSync(folder);
    plant({ ...entry, space: 'an older container' }, name.replace(/-\d+-\d+/, '-1-1'));
    listAgent(agent, env);
    expect(readdirSync(folder)).toEqual([name]);
  });

  it.each([
    ['no JSON', '{'],
    ['something else', { hello: 1 }],
    ['a relative folder', { ...entry, directory: 'here' }],
    ['a folder with steps back', { ...entry, directory: '/srv/../etc' }],
    ['too much', { ...entry, agent_id: 'x'.repeat(20_000) }],
  ])('skips %s', (_, content) => {
    plant(content);
    expect(runningAgents(env)).toEqual([]);
  });

  it('skips a link, a folder, and a file that others may write', () => {
    const elsewhere = join(state, 'entry.json');
    writeFileSync(elsewhere, JSON.stringify(entry), { mode: 0o600 });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    symlinkSync(elsewhere, join(folder, '0123456789abcdef-1-1.json'));
    mkdirSync(join(folder, '0123456789abcdef-2-1.json'));
    chmodSync(plant(entry, '0123456789abcdef-3-1.json'), 0o622);
    expect(runningAgents(env)).toEqual([]);
  });

  it.each([0o770, 0o707, 0o777])('is refused where others may write (%o)', (mode) => {
    plant(entry);
    chmodSync(folder, mode);
    expect(() => runningAgents(env)).toThrow(`others may write in ${folder}; take that away`);
    expect(() => listAgent(agent, env)).toThrow(`others may write in ${folder}`);
  });

  it('skips a folder whose name could control a terminal', () => {
    plant({ ...entry, directory: '/srv/\u001b]0;refunds\u0007' });
    plant({ ...entry, directory: '/srv/refunds\nrm -r' }, '0123456789abcdef-2-2.json');
    expect(runningAgents(env)).toEqual([]);
  });

  it('is refused through a link', () => {
    const real = mkdtempSync(join(state, 'real-'));
    mkdirSync(join(state, 'holdpoint'));
    symlinkSync(real, folder);
    expect(() => runningAgents(env)).toThrow('is no folder');
  });

  it.runIf(process.getuid?.() === 0)('belongs to its user, and is created nowhere else', () => {
    plant(entry);
    chownSync(folder, 65_534, 65_534);
    expect(() => runningAgents(env)).toThrow(`${folder} belongs to another user`);
    const home = mkdtempSync(join(state, 'home-'));
    chownSync(home, 65_534, 65_534);
    expect(() => listAgent(agent, { HOME: home })).toThrow(`${home} belongs to another user`);
    expect(existsSync(join(home, '.local'))).toBe(false);
  });
});
