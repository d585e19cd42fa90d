import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { saveSkill } from '../../../src/dashboard/builder/save-skill.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';
import { forecast, weather } from '../../helpers/weather-skill.ts';

const draft = { skill_md: weather, scripts: { 'forecast.sh': forecast } };
const create = {
  ...draft,
  skillName: 'weather',
  env: {},
  overwrite: false,
  hold: false,
  editing: null,
  etag: null,
};
const edit = { ...create, overwrite: true, editing: 'weather' };

function agentFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'service.yaml'), 'agent_id: till\n');
  return folder;
}

const ports = (variables: () => Promise<Record<string, string>>) => ({
  check: () => Promise.resolve({ errors: [] }),
  hold: () => Promise.reject(new Error('nobody asked')),
  environment: null,
  variables,
  now: Date.now(),
});

const tree = (folder: string) =>
  readdirSync(join(folder, 'skills'), { recursive: true }).map(String).toSorted();

it('puts the old skill back when its variables cannot be read, even where service.yaml is gone by then', async () => {
  const folder = agentFolder();
  await saveSkill(
    folder,
    create,
    ports(async () => ({})),
  );
  const changed = weather.replace('[api.weather.example]', '[api.weather.example, two.example]');
  const saving = saveSkill(
    folder,
    { ...edit, skill_md: changed, scripts: { 'forecast.sh': ':\n' } },
    ports(async () => {
      rmSync(join(folder, 'service.yaml'));
      throw new Error('no variables');
    }),
  );
  await expect(saving).rejects.toThrow('no variables');
  expect(tree(folder)).toEqual([
    ...['weather', 'weather/SKILL.md', 'weather/scripts', 'weather/scripts/forecast.sh'],
  ]);
  expect(readFileSync(join(folder, 'skills/weather/SKILL.md'), 'utf8')).toBe(weather);
  expect(readFileSync(join(folder, 'skills/weather/scripts/forecast.sh'), 'utf8')).toBe(forecast);
});
