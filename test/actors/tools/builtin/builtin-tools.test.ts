import fc from 'fast-check';
import { validate, version } from 'uuid';
import { describe, expect, it } from 'vitest';
import { ToolError, type ToolRun } from '../../../../src/actors/ports/tool.ts';
import {
  builtinToolNames,
  builtinTools,
  describeBuiltins,
} from '../../../../src/actors/tools/tools.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { aBuiltin } from './a-builtin.ts';
import { clock } from './isolated-script.ts';

interface Schema {
  properties: Record<string, { description?: string }>;
  additionalProperties: boolean;
}

const files = { directory: '/', state: [], code: [], writable: () => [] };

const run: ToolRun = {
  taskId: 't1',
  callId: 'c1',
  correlationId: 'x',
  credential: null,
  tags: {},
  signal: new AbortController().signal,
};

async function call(name: string, args: JsonObject, now = Date.UTC(2026, 10, 21, 8, 3, 4, 5)) {
  const tool = await aBuiltin(name, undefined, { clock: { ...clock, now: () => now } });
  return tool.run(args, run);
}

describe('builtinTools', () => {
  it('creates every tool it names, in the requested order', () => {
    expect(builtinToolNames).toEqual([
      'cli_execute',
      'csv_parse',
      'datetime_now',
      'file_edit',
      'file_read',
      'file_write',
      'glob_search',
      'grep_search',
      'http_request',
      'json_query',
      'math_calculate',
      'uuid_generate',
      'web_fetch',
      'web_search',
    ]);
    const dependencies = { clock, env: {}, agentDirectory: '/', files, settings: () => ({}) };
    const names = builtinToolNames.toReversed();
    expect(builtinTools(names, dependencies).map(({ name }) => name)).toEqual(names);
    expect(() => builtinTools(['toString'], dependencies)).toThrow(RangeError);
  });

  it('describes every argument for a model', () => {
    const dependencies = { clock, env: {}, agentDirectory: '/', files, settings: () => ({}) };
    for (const { name, description, parameters } of builtinTools(builtinToolNames, dependencies)) {
      const { properties, additionalProperties } = parameters as unknown as Schema;
      const silent = Object.entries(properties).filter(([, argument]) => !argument.description);
      expect([name, silent, additionalProperties]).toEqual([name, [], false]);
      expect(description).toMatch(/^[A-Z].{10,}\.$/);
    }
  });
});

describe('describeBuiltins', () => {
  it('marks each tool that may not run twice as changing something', () => {
    const dependencies = { clock, env: {}, agentDirectory: '/', files, settings: () => ({}) };
    const once = builtinTools(builtinToolNames, dependencies).filter((tool) => !tool.idempotent);
    const described = describeBuiltins();
    expect(described.map(({ name }) => name)).toEqual(builtinToolNames);
    expect(described.flatMap(({ name, changes }) => (changes ? [name] : []))).toEqual(
      once.map(({ name }) => name),
    );
  });
});

describe('datetime_now', () => {
  it.each<[JsonObject, string]>([
    [{}, '2026-11-21T08:03:04.005Z'],
    [{ timezone: 'UTC' }, '2026-11-21T08:03:04.005+00:00'],
    [{ timezone: 'Europe/Berlin' }, '2026-11-21T09:03:04.005+01:00'],
    [{ timezone: 'Asia/Kathmandu' }, '2026-11-21T13:48:04.005+05:45'],
    [{ timezone: 'America/Los_Angeles' }, '2026-11-21T00:03:04.005-08:00'],
    [{ timezone: 'Pacific/Kiritimati' }, '2026-11-21T22:03:04.005+14:00'],
  ])('answers %j with %s', async (args, expected) => {
    expect(await call('datetime_now', args)).toBe(expected);
  });

  it('names the same instant in every zone', async () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    const instants = fc.integer({ min: Date.UTC(1980, 0, 1), max: Date.UTC(2100, 0, 1) });
    await fc.assert(
      fc.asyncProperty(zones, instants, async (timezone, now) => {
        expect(Date.parse((await call('datetime_now', { timezone }, now)) ?? '')).toBe(now);
      }),
    );
  });

  it.each(['Mars/Olympus', '', 'Europe/Berlin\n'])('refuses the zone %j', async (timezone) => {
    await expect(call('datetime_now', { timezone })).rejects.toThrow(
      new ToolError(
        'datetime_now: argument timezone must be an IANA time zone such as Europe/Berlin',
      ),
    );
  });

  it('refuses unknown arguments', async () => {
    await expect(call('datetime_now', { zone: 'UTC' })).rejects.toThrow(
      new ToolError('datetime_now: argument zone is not known'),
    );
  });
});

describe('uuid_generate', () => {
  it.each<[JsonObject, number]>([
    [{}, 4],
    [{ version: 4 }, 4],
    [{ version: 7 }, 7],
  ])('answers %j with version %i', async (args, expected) => {
    const [first, second] = [await call('uuid_generate', args), await call('uuid_generate', args)];
    expect([validate(first), version(first), first === second]).toEqual([true, expected, false]);
  });

  it('puts the time of the clock into version 7', async () => {
    const uuid = (await call('uuid_generate', { version: 7 }, 0x0123456789ab)) ?? '';
    expect(uuid.slice(0, 13)).toBe('01234567-89ab');
  });

  it('refuses other versions', async () => {
    await expect(call('uuid_generate', { version: 1 })).rejects.toThrow(
      new ToolError('uuid_generate: argument version must be one of 4, 7'),
    );
  });
});
