import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nearbyPorts } from '../../../src/actors/process/nearby-ports.ts';
import { writeServeFile } from '../../../src/actors/process/serve-file.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

function folderIn(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(join(folder, '.service'), { recursive: true });
  return folder;
}

function serve(folder: string, port: number, inspector?: number): void {
  writeServeFile(join(folder, '.service'), {
    ...{ pid: 1, port, host: '127.0.0.1', auth_enabled: false, token_path: '' },
    ...{ started_at: '', version: '', proof_key: '' },
    ...(inspector === undefined ? {} : { inspector_port: inspector }),
  });
}

function show(folder: string, ...ports: number[]): void {
  const dashboards = ports.map((port) => ({ pid: 1, port, host: '127.0.0.1' }));
  writeFileSync(join(folder, '.service/ui.json'), JSON.stringify({ dashboards }));
}

it('finds dashboards in the folder and above it, and agents beside, above and below it', () => {
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

it('looks again after a quarter of a second, also for what is new, and passes over what it cannot read', () => {
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
