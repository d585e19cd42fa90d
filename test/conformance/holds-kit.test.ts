import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { registerHoldChecks } from '../../packages/testing/holds/holds.ts';
import { fencesOf, readPage } from '../docs/fences.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { storeEnvironment } from '../helpers/kept-store.ts';
import { commandFile } from '../helpers/real-command.ts';
import { gateHolds } from './gate-holds.ts';

vi.setConfig({ testTimeout: 120_000 });

const fences = fencesOf(readPage('docs/holds-kit.md'));

const settings = fences.find(({ language }) => language === 'yaml')?.text ?? '';
const folder = new AgentFolder(parse(settings) as ServiceSettings);
afterAll(() => folder.remove());

const store = Object.entries(storeEnvironment()).map(([name, value]) => `${name}=${value}`);
const command = [process.execPath, commandFile(), 'run', '--dir', folder.path, '--port', '0'];
registerHoldChecks({ describe, it }, gateHolds('env', [...store, ...command]));

it('the hold kit passes with the adapter of the page, of under 50 lines', () => {
  const source = readFileSync(join(import.meta.dirname, 'gate-holds.ts'), 'utf8');
  const shown = source.replace('../../packages/testing/holds/holds.ts', 'holdpoint/testing/holds');
  expect(fences.map(({ text }) => text)).toContain(shown);
  const adapter = /^export function gateHolds[^]*?^}$/m.exec(source)?.[0].split('\n') ?? [];
  expect(adapter.length).toBeLessThan(50);
});
