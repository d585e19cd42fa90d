import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { nearbyPorts } from '../../../src/actors/process/nearby-ports.ts';
import { processStart } from '../../../src/actors/process/process-start.ts';
import { writeServeFile } from '../../../src/actors/process/serve-file.ts';
import { lockDirectory } from '../../../src/actors/records/store/directory-lock.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

function folderIn(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(join(folder, '.service'), { recursive: true });
  return folder;
}

function serve(folder: string, port: number, inspector?: number, pid = process.pid): void {
  const stateFolder = join(folder, '.service');
  if (pid === process.pid) {
    const lock = lockDirectory(stateFolder);
    onTestFinished(() => lock.release());
  }
  writeServeFile(stateFolder, {
    ...{ pid, port, host: '127.0.0.1', auth_enabled: false, token_path: '' },
    ...{ started_at: '', version: '', proof_key: '' },
    ...(inspector === undefined ? {} : { inspector_port: inspector }),
  });
}

function show(folder: string, ...ports: number[]): void {
  const dashboards = ports.map((port) => ({ pid: 1, port, host: '127.0.0.1' }));
  writeFileSync(join(folder, '.service/ui.json'), JSON.stringify({ dashboards }));
}

it('dashboards are found in and above the folder, and agents next to, above and below it', () => {
  const top = folderIn(temporaryFolder(), 'top');
  const workspace = folderIn(top, 'workspace');
  const agent = folderIn(workspace, 'till');
  const beside = folderIn(workspace, 'desk');
  show(top, 4200);
  show(workspace, 4201, 4202);
  show(agent, 4203);
  serve(workspace, 8080);
  serve(beside, 8081, 8181);
  serve(folderIn(agent, 'below'), 8082);
  serve(folderIn(beside, 'elsewhere'), 9000);
  show(beside, 9001);
  expect([...nearbyPorts(agent)()].toSorted((one, other) => one - other)).toEqual([
    ...[4200, 4201, 4202, 4203],
    ...[8080, 8081, 8082, 8181],
  ]);
});

it('the search repeats after a quarter of a second, and skips unreadable folders', () => {
  const workspace = folderIn(temporaryFolder(), 'workspace');
  const agent = folderIn(workspace, 'till');
  let now = 0;
  const ports = nearbyPorts(agent, () => now);
  writeFileSync(join(workspace, '.service/ui.json'), '{"dashboards": [{"port": "4200"}]}');
  expect([...ports()]).toEqual([]);
  show(workspace, 4200);
  serve(folderIn(workspace, 'desk'), 8081);
  now = 249;
  expect([...ports()]).toEqual([]);
  now = 250;
  expect([...ports()]).toEqual([4200, 8081]);
  rmSync(join(workspace, 'desk'), { recursive: true });
  now = 500;
  expect([...ports()]).toEqual([4200]);
});

it('the ports of killed agents and dashboards are free again', async () => {
  const workspace = folderIn(temporaryFolder(), 'workspace');
  const agent = folderIn(workspace, 'till');
  const desk = folderIn(workspace, 'desk');
  const killed = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(killed, 'spawn');
  const { pid = 0 } = killed;
  let now = 0;
  const ports = nearbyPorts(agent, () => now);
  const dashboards = [{ pid, port: 4200, host: '127.0.0.1' }];
  writeFileSync(join(workspace, '.service/ui.json'), JSON.stringify({ dashboards }));
  expect([...ports()]).toEqual([4200]);
  serve(desk, 8081, 8181, pid);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  now = 250;
  expect([...ports()]).toEqual([]);
});

it('the ports of agents and dashboards with reused process ids are free again', () => {
  const workspace = folderIn(temporaryFolder(), 'workspace');
  const agent = folderIn(workspace, 'till');
  const desk = folderIn(workspace, 'desk');
  serve(desk, 8081, 8181, process.ppid);
  const reused = { pid: process.pid, port: 4200, host: '127.0.0.1', started: '1' };
  const dashboards = [reused, { ...reused, port: 4201, started: processStart(process.pid) }];
  writeFileSync(join(workspace, '.service/ui.json'), JSON.stringify({ dashboards }));
  expect([...nearbyPorts(agent)()]).toEqual([4201]);
});
