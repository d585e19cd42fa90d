import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builderKey, openBuilder } from '../../helpers/skill-writer.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';
import { forecast, weather } from '../../helpers/weather-skill.ts';

const root = '/api/agents/till/skill-builder';
const draft = { skill_md: weather, scripts: { 'forecast.sh': forecast } };
const create = { ...draft, skill_name: 'weather' };
const edit = { ...create, overwrite: true, editing_name: 'weather' };

async function withFiles(files: Record<string, string> = {}) {
  const { page, log } = await openBuilder({ files });
  const folder = join(page.workspace, 'till');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const save = (body: unknown, headers: Record<string, string> = {}) =>
    page.post(`${root}/save`, body, headers);
  /** Everything in the folder of skills, by its path. */
  const tree = () =>
    existsSync(join(folder, 'skills'))
      ? readdirSync(join(folder, 'skills'), { recursive: true }).map(String).toSorted()
      : [];
  return { page, log, folder, read, save, tree };
}

const whole = ['weather', 'weather/SKILL.md', 'weather/scripts', 'weather/scripts/forecast.sh'];

describe('the save of a skill', () => {
  it('writes the files, adds the hosts and reports missing variables', async () => {
    const { save, read, tree, log } = await withFiles();
    const { status, body } = await save(create);
    expect([status, body]).toEqual([
      200,
      {
        name: 'weather',
        path: 'skills/weather/SKILL.md',
        egress_added: ['api.weather.example'],
        held_added: [],
        env_configured: [],
        env_missing: [
          { name: 'WEATHER_KEY', kind: 'required' },
          { name: 'WEATHER_UNIT', kind: 'optional' },
        ],
      },
    ]);
    expect(tree()).toEqual(whole);
    expect([read('skills/weather/SKILL.md'), read('skills/weather/scripts/forecast.sh')]).toEqual([
      weather,
      forecast,
    ]);
    expect(read('service.yaml')).toContain('api.weather.example');
    const told = log.filter((line) => line.includes('the operator saved a skill'));
    expect(told).toEqual([expect.stringContaining('"agent":"till","skill":"weather"')]);
    expect(told.join()).not.toContain('curl');
  });

  it('stores the given values in .env, and is complete when none is missing', async () => {
    const { save, read, folder, page } = await withFiles({
      'till/.service/.env': '# mine\nOLD=1\n',
    });
    const { body: first } = await save(create);
    expect(first.env_missing).toHaveLength(2);
    const skill = await page.get(`${root}/skills/weather`);
    const { body } = await save(
      { ...edit, env: { WEATHER_KEY: `${builderKey}\n# no` } },
      { 'if-match': skill.body.etag },
    );
    expect(body).toMatchObject({
      egress_added: [],
      env_configured: ['WEATHER_KEY'],
      env_missing: [{ name: 'WEATHER_UNIT', kind: 'optional' }],
    });
    expect(read('.service/.env')).toBe(`# mine\nOLD=1\nWEATHER_KEY='${builderKey}\n# no'\n`);
    expect(statSync(join(folder, '.service/.env')).mode & 0o777).toBe(0o600);
  });

  it('names the tools that are no longer held', async () => {
    const held = weather.replace('  service:\n', '  service:\n    held: [forecast]\n');
    expect(held).not.toBe(weather);
    const { page, save } = await withFiles();
    expect((await save({ ...create, skill_md: held })).status).toBe(200);
    const check = async (skill_md: string, more: object) =>
      (await page.post(`${root}/validate`, { ...draft, skill_md, ...more })).body.warnings;
    const editing = { mode: 'edit', editing_name: 'weather' };
    expect(await check(held, editing)).toEqual([]);
    const warning = {
      rule: 'held_kept',
      message:
        'the skill held forecast before and this text no longer does; restore it under metadata.service.held unless that is intended',
      ...{ file: null, line: 1, column: 1 },
    };
    expect(await check(weather, editing)).toEqual([warning]);
    const other = held.replace('held: [forecast]', 'held: [other]');
    expect(await check(other, editing)).toEqual([warning]);
    const renamed = await check(weather.replace('name: weather', 'name: rain'), editing);
    expect(renamed.map(({ rule }: { rule: string }) => rule)).toEqual(['name_kept', 'held_kept']);
  });

  it('stores one of several alternative variables', async () => {
    const { save } = await withFiles();
    const text = weather.replace('required: [WEATHER_KEY]', 'one_of: [FIRST_KEY, SECOND_KEY]');
    const skill = { ...create, skill_md: text };
    const { body } = await save(skill);
    expect(body.env_missing.slice(0, 2)).toEqual([
      { name: 'FIRST_KEY', kind: 'one_of' },
      { name: 'SECOND_KEY', kind: 'one_of' },
    ]);
    const again = await save({ ...edit, skill_md: text, env: { SECOND_KEY: 'x' } });
    expect(again.body).toMatchObject({
      env_configured: ['SECOND_KEY'],
      env_missing: [{ name: 'WEATHER_UNIT', kind: 'optional' }],
    });
  });

  it.each<[string, object, string]>([
    ['errors of the validator', { skill_md: '---\nname: Bad Name\n---\n' }, 'the skill has errors'],
    ['another name than the frontmatter', { skill_name: 'other' }, 'skill_name must be weather'],
    ['a name that is a path', { skill_name: '../x' }, 'the name of a skill'],
    [
      'an overwrite of another skill',
      { overwrite: true, editing_name: 'other' },
      'overwrite needs',
    ],
    ['an overwrite of a missing skill', { overwrite: true }, 'overwrite needs'],
    ['a script in another place', { scripts: { '../../x': 'x' } }, 'the name of a script'],
    ['a hidden script', { scripts: { '.bashrc': 'x' } }, 'the name of a script'],
    ['a script with a slash', { scripts: { 'a/b.sh': 'x' } }, 'the name of a script'],
    [
      '33 scripts',
      { scripts: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`${n}`, ''])) },
      'at most 32',
    ],
    ['a script that is not a string', { scripts: { 'a.sh': 1 } }, 'scripts.a.sh'],
    [
      'a variable that controls programs (WEB-9)',
      { env: { LD_PRELOAD: '/x.so' } },
      '{"error":"this name affects how programs run, so a secret cannot have it; use another, such as SHOP_KEY","code":"variable_refused"}',
    ],
    [
      'a variable of Node',
      { env: { NODE_OPTIONS: '--require=/x' } },
      '{"error":"this name affects how programs run, so a secret cannot have it; use another, such as SHOP_KEY","code":"variable_refused"}',
    ],
    ['a variable with two lines', { env: { 'A=1\nB': 'x' } }, 'upper-case letters'],
    [
      'an invalid host',
      { skill_md: weather.replace('api.weather.example', '"https://x/y"') },
      'not a host',
    ],
  ])('with %s is refused, and nothing is written (WEB-5)', async (_, more, words) => {
    const { save, tree, read, folder } = await withFiles();
    const { status, body } = await save({ ...create, ...more });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(410);
    expect(JSON.stringify(body)).toContain(words);
    expect([tree(), read('service.yaml')]).toEqual([[], 'agent_id: till\n']);
    expect(existsSync(join(folder, '.service/.env'))).toBe(false);
  });

  it('is refused when the agent could not read it or would not start', async () => {
    const { save, tree } = await withFiles({
      'till/SKILL.md': '---\nname: main\ndescription: x\n---\n\n## Tool: forecast\n\nx\n',
      'till/scripts/forecast.sh': ':\n',
    });
    const { status, body } = await save(create);
    expect([status, body.errors[0].rule]).toEqual([400, 'agent_reads']);
    expect(body.errors[0].message).toContain('forecast');
    expect(tree()).toEqual([]);
  });

  it('changes nothing when a host or a variable cannot be written', async () => {
    const { save, tree, read, folder } = await withFiles({
      'till/service.yaml': 'agent_id: till\negress: {mode: nonsense}\n',
    });
    await save(create);
    expect(tree()).toEqual(whole);
    const before = read('service.yaml');
    mkdirSync(join(folder, '.service/.env'), { recursive: true });
    const text = weather.replace(
      '[api.weather.example]',
      '[api.weather.example, two.weather.example]',
    );
    const { status } = await save({
      ...edit,
      skill_md: text,
      scripts: {},
      env: { WEATHER_KEY: 'x' },
    });
    expect(status).toBe(409);
    expect([tree(), read('skills/weather/SKILL.md'), read('service.yaml')]).toEqual([
      whole,
      weather,
      before,
    ]);
  });

  it('never replaces another skill', async () => {
    const { save, tree, read } = await withFiles();
    await save(create);
    const other = { ...create, skill_md: `${weather}\nMore.\n`, scripts: {} };
    const { status, body } = await save(other);
    expect([status, body]).toEqual([
      409,
      {
        error: 'the agent has a skill of this name; edit that one, or choose another name',
        code: 'skill_taken',
        name: 'weather',
        skill: { ...draft, format: 'subdir', etag: body.skill.etag },
      },
    ]);
    expect([tree(), read('skills/weather/SKILL.md')]).toEqual([whole, weather]);
  });
});

describe('the save of an edited skill', () => {
  it('removes only the deleted scripts', async () => {
    const { save, tree, read } = await withFiles({
      'till/skills/weather/SKILL.md': weather,
      'till/skills/weather/scripts/forecast.sh': forecast,
      'till/skills/weather/scripts/old.sh': ':\n',
      'till/skills/weather/references/units.md': 'Units.\n',
    });
    const { status } = await save(edit);
    expect(status).toBe(200);
    expect(tree()).toEqual([
      ...['weather', 'weather/SKILL.md', 'weather/references', 'weather/references/units.md'],
      ...['weather/scripts', 'weather/scripts/forecast.sh'],
    ]);
    expect(read('skills/weather/references/units.md')).toBe('Units.\n');
  });

  it('under another name writes a new skill and keeps the old one', async () => {
    const { save, tree } = await withFiles();
    await save(create);
    const renamed = weather
      .replace('name: weather', 'name: climate')
      .replace('Tool: forecast', 'Tool: outlook');
    const { status, body } = await save({
      ...edit,
      skill_md: renamed,
      scripts: { 'outlook.sh': forecast },
    });
    expect([status, body.name]).toEqual([200, 'climate']);
    expect(tree()).toEqual([
      ...['climate', 'climate/SKILL.md', 'climate/scripts', 'climate/scripts/outlook.sh'],
      ...whole,
    ]);
  });

  it('is refused after a concurrent save (WEB-11)', async () => {
    const { page, save, read } = await withFiles();
    await save(create);
    const { body: mine } = await page.get(`${root}/skills/weather`);
    const theirs = { ...edit, scripts: { 'forecast.sh': ':\n' } };
    expect((await save(theirs, { 'if-match': mine.etag })).status).toBe(200);
    const late = await save(
      { ...edit, skill_md: `${weather}\nMine.\n` },
      { 'if-match': mine.etag },
    );
    expect([late.status, late.body.name, late.body.skill.scripts]).toEqual([
      412,
      'weather',
      { 'forecast.sh': ':\n' },
    ]);
    expect(read('skills/weather/scripts/forecast.sh')).toBe(':\n');
  });

  it('writes one of several concurrent ones completely', async () => {
    const { page, save, read, tree } = await withFiles();
    await save(create);
    const { body: first } = await page.get(`${root}/skills/weather`);
    const texts = ['one', 'two', 'three', 'four'].map((word) => `echo ${word}\n`);
    const answers = await Promise.all(
      texts.map((text) =>
        save(
          { ...edit, skill_md: `${weather}\n${text}`, scripts: { 'forecast.sh': text } },
          { 'if-match': first.etag },
        ),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 412, 412, 412,
    ]);
    const winner = texts[answers.findIndex(({ status }) => status === 200)];
    expect(read('skills/weather/SKILL.md')).toBe(`${weather}\n${winner}`);
    expect(read('skills/weather/scripts/forecast.sh')).toBe(winner);
    expect(tree()).toEqual(whole);
  });

  it('of a flat skill gives it a folder, with the scripts of its tools', async () => {
    const { page, save, tree } = await withFiles({
      'till/skills/weather.md': weather,
      'till/skills/scripts/forecast.sh': forecast,
      'till/skills/scripts/other.sh': ':\n',
    });
    const { body } = await page.get(`${root}/skills/weather`);
    expect(body).toEqual({ ...draft, format: 'flat', etag: body.etag });
    const saved = await save({ ...edit, ...draft }, { 'if-match': body.etag });
    expect([saved.status, tree()]).toEqual([
      200,
      ['scripts', 'scripts/forecast.sh', 'scripts/other.sh', ...whole],
    ]);
  });
});

describe('the skills of an agent', () => {
  it('are listed in all their forms', async () => {
    const { page } = await withFiles({
      'till/SKILL.md': '---\nname: main\ndescription: The main one\n---\n\n## Tool: pay\n\nPays.\n',
      'till/scripts/pay.sh': ':\n',
      'till/skills/flat.md':
        '---\nname: flat\ndescription: A flat one\ncategory: small\ntags: [a, b]\n---\n',
      'till/skills/weather/SKILL.md': weather,
      'till/skills/weather/scripts/forecast.sh': forecast,
      'till/skills/broken/SKILL.md': '---\nname: [\n---\n',
      'till/skills/.hidden/SKILL.md': weather,
      'till/skills/empty/notes.txt': 'x',
    });
    const none = { category: null, tags: [], has_scripts: false, tools: [] };
    expect((await page.get(`${root}/skills`)).body).toEqual([
      {
        ...none,
        name: 'main',
        description: 'The main one',
        path: 'SKILL.md',
        has_scripts: true,
        tools: ['pay'],
      },
      { ...none, name: 'broken', description: '', path: 'skills/broken/SKILL.md' },
      {
        ...none,
        name: 'flat',
        description: 'A flat one',
        category: 'small',
        tags: ['a', 'b'],
        path: 'skills/flat.md',
      },
      {
        ...{
          ...none,
          name: 'weather',
          description: 'Tells the weather',
          path: 'skills/weather/SKILL.md',
        },
        ...{ has_scripts: true, tools: ['forecast'] },
      },
    ]);
  });

  it('are none at first', async () => {
    const { page } = await withFiles();
    expect((await page.get(`${root}/skills`)).body).toEqual([]);
  });

  it('are read with their scripts', async () => {
    const { page, save } = await withFiles();
    await save(create);
    const { body, headers } = await page.get(`${root}/skills/weather`);
    expect(body).toEqual({ ...draft, format: 'subdir', etag: headers.get('etag') });
  });

  it.each([
    ['%2e%2e%2f%2e%2e%2fetc', 400],
    ['a%2fb', 400],
    ['..%5cx', 400],
    ['a%5cb', 400],
    ['%00', 400],
    ['CON', 400],
    ['Weather', 400],
    ['we_ather', 400],
    ['w%C3%A4ther', 400],
    ['%20', 400],
    ['x'.repeat(65), 400],
    ['x'.repeat(64), 404],
    ['nothing', 404],
  ])('named %s: %i (WEB-5)', async (name, status) => {
    const { page } = await withFiles();
    const answer = await page.get(`${root}/skills/${name}`);
    expect(answer.status).toBe(status);
  });

  it('that are links, or contain one, are neither listed nor read nor written', async () => {
    const elsewhere = temporaryFolder();
    writeFileSync(join(elsewhere, 'SKILL.md'), weather);
    const { page, folder, save } = await withFiles({
      'till/skills/inner/SKILL.md': weather.replace('name: weather', 'name: inner'),
      'till/skills/scripted/SKILL.md': weather.replace('name: weather', 'name: scripted'),
    });
    symlinkSync(elsewhere, join(folder, 'skills/weather'));
    symlinkSync(join(elsewhere, 'SKILL.md'), join(folder, 'skills/flat.md'));
    symlinkSync('/etc', join(folder, 'skills/inner/scripts'));
    mkdirSync(join(folder, 'skills/scripted/scripts'));
    symlinkSync('/etc/passwd', join(folder, 'skills/scripted/scripts/x.sh'));
    const { body } = await page.get(`${root}/skills`);
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['inner', 'scripted']);
    for (const name of ['weather', 'flat', 'inner', 'scripted']) {
      const answer = await page.get(`${root}/skills/${name}`);
      expect([name, answer.status]).toEqual([name, 400]);
      expect(JSON.stringify(answer.body)).not.toContain('root:');
    }
    expect((await save(edit)).status).toBe(400);
    expect(readdirSync(elsewhere)).toEqual(['SKILL.md']);
  });

  it('are not read through a link in place of their folder', async () => {
    const elsewhere = temporaryFolder();
    mkdirSync(join(elsewhere, 'weather'));
    writeFileSync(join(elsewhere, 'weather/SKILL.md'), weather);
    const { page, folder, save } = await withFiles();
    symlinkSync(elsewhere, join(folder, 'skills'));
    expect((await page.get(`${root}/skills/weather`)).status).toBe(400);
    for (const path of ['skills', 'context']) {
      const { status, body } = await page.get(`${root}/${path}`);
      const error = 'skills is a link, and no link is followed; replace it';
      expect([status, body]).toEqual([400, { error, code: 'skill_refused' }]);
    }
    expect(
      (
        await save({
          ...create,
          skill_md: weather.replace('name: weather', 'name: new'),
          skill_name: 'new',
        })
      ).status,
    ).toBeGreaterThanOrEqual(400);
    expect(readdirSync(elsewhere)).toEqual(['weather']);
  });
});

describe('the validation of a skill', () => {
  const validate = async (body: object, files = {}) => {
    const { page } = await withFiles(files);
    return (await page.post(`${root}/validate`, body)).body;
  };
  const rules = ({ errors, warnings }: Record<string, { rule: string }[]>) => ({
    errors: errors?.map(({ rule }) => rule),
    warnings: warnings?.map(({ rule }) => rule),
  });

  it('accepts a valid one', async () => {
    expect(await validate(draft)).toEqual({ valid: true, errors: [], warnings: [] });
  });

  it.each<[string, string, object]>([
    [
      'name_present',
      weather.replace('name: weather\n', ''),
      { errors: ['name_present'], warnings: [] },
    ],
    [
      'name_format',
      weather.replace('name: weather', 'name: Weather_1'),
      { errors: ['name_format'], warnings: [] },
    ],
    [
      'name_format',
      weather.replace('name: weather', `name: ${'x'.repeat(65)}`),
      { errors: ['name_format'], warnings: [] },
    ],
    [
      'description_present',
      weather.replace('description: Tells the weather\n', ''),
      { errors: ['description_present'], warnings: [] },
    ],
    [
      'frontmatter_yaml',
      weather.replace('name: weather', 'name: ['),
      { errors: ['frontmatter_yaml'], warnings: [] },
    ],
    [
      'tool_sections',
      weather.replace('## Tool: forecast', '## Forecast'),
      { errors: [], warnings: ['tool_sections'] },
    ],
    [
      'category_format',
      weather.replace('name: weather', 'name: weather\ncategory: Big Things'),
      { errors: [], warnings: ['category_format'] },
    ],
    [
      'egress_declared',
      weather.replace('egress_domains: [api.weather.example]\n', ''),
      { errors: [], warnings: ['egress_declared'] },
    ],
  ])('finds %s', async (_, skill_md, found) => {
    expect(rules(await validate({ ...draft, skill_md }))).toEqual(found);
  });

  it('finds a name that is taken, except of the edited skill, and a new one', async () => {
    const files = { 'till/skills/weather/SKILL.md': weather };
    expect(rules(await validate(draft, files))).toEqual({ errors: [], warnings: ['name_unique'] });
    const editing = { ...draft, mode: 'edit', editing_name: 'weather' };
    expect(rules(await validate(editing, files))).toEqual({ errors: [], warnings: [] });
    const skill_md = weather.replace('name: weather', 'name: climate');
    expect(rules(await validate({ ...editing, skill_md }, files))).toEqual({
      errors: [],
      warnings: ['name_kept'],
    });
  });
});

describe('a conversation about an edited skill', () => {
  it('begins with the stored skill and the rules', async () => {
    const { page, mock } = await openBuilder({
      files: {
        'till/skills/weather/SKILL.md': weather,
        'till/skills/weather/scripts/forecast.sh': forecast,
      },
    });
    mock.on({ userMessage: 'Fahrenheit' }, { content: 'Yes.' });
    const asked = {
      messages: [{ role: 'user', content: 'Use Fahrenheit' }],
      ...{ mode: 'edit', editing_name: 'weather' },
    };
    const stream = await page.stream(`${root}/chat`, { body: asked });
    expect((await stream.rest()).at(-1)?.event).toBe('done');
    const body = mock.getRequests()[0]?.body as unknown as { messages: { content: string }[] };
    const [first] = body.messages;
    const { body: context } = await page.get(`${root}/context`);
    expect(first?.content.startsWith(context.system_prompt)).toBe(true);
    const block = first?.content.slice(context.system_prompt.length);
    for (const words of [
      '## Edit Mode',
      weather,
      forecast,
      'existing `## Tool: <name>` headings',
      'minimal patches',
      '`Changed`',
    ]) {
      expect(block).toContain(words);
    }
    const missing = await page.post(`${root}/chat`, { ...asked, editing_name: 'nothing' });
    const outside = await page.post(`${root}/chat`, { ...asked, editing_name: '../till' });
    expect([missing.status, outside.status]).toEqual([404, 400]);
  });
});
