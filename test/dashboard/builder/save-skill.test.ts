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

const readConfig = (folder: string) => readFileSync(join(folder, 'service.yaml'), 'utf8');

const tree = (folder: string) =>
  readdirSync(join(folder, 'skills'), { recursive: true }).map(String).toSorted();

it('a saved skill is restored when its variables cannot be read, even where service.yaml was removed', async () => {
  const directory = agentFolder();
  const place = { directory, env: {}, variables: () => Promise.resolve({}) };
  await saveSkill(place, create, Date.now());
  const changed = weather.replace('[api.weather.example]', '[api.weather.example, two.example]');
  const saving = saveSkill(
    {
      ...place,
      async variables() {
        if (!readConfig(directory).includes('two.example')) return {};
        rmSync(join(directory, 'service.yaml'));
        throw new Error('no variables');
      },
    },
    { ...edit, skill_md: changed, scripts: { 'forecast.sh': ':\n' } },
    Date.now(),
  );
  await expect(saving).rejects.toThrow('no variables');
  expect(tree(directory)).toEqual([
    ...['weather', 'weather/SKILL.md', 'weather/scripts', 'weather/scripts/forecast.sh'],
  ]);
  expect(readFileSync(join(directory, 'skills/weather/SKILL.md'), 'utf8')).toBe(weather);
  expect(readFileSync(join(directory, 'skills/weather/scripts/forecast.sh'), 'utf8')).toBe(
    forecast,
  );
});
