import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, expect, it } from 'vitest';
import { cleanUp, holdpoint } from './holdpoint.ts';

afterAll(cleanUp);

it('prints the JSON Schema of service.yaml, in any folder', async () => {
  const { code, stdout, stderr } = await holdpoint(['schema'], { cwd: '/' });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const schema = JSON.parse(stdout) as object;
  const validate = new Ajv2020({ strict: false }).compile(schema);
  expect(validate({ agent_id: 'refunds' })).toBe(true);
  expect(validate({ agent_id: 'refunds', security: { defr: {} } })).toBe(false);
});

it('prints it as one document with --json', async () => {
  const [plain, json] = await Promise.all([holdpoint(['schema']), holdpoint(['schema', '--json'])]);
  expect(json.stdout.trim().split('\n')).toHaveLength(1);
  expect(JSON.parse(json.stdout)).toEqual(JSON.parse(plain.stdout));
});

it('takes no argument', async () => {
  expect(await holdpoint(['schema', 'service.yaml'])).toMatchObject({ code: 2, stdout: '' });
});
