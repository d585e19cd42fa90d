import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/actors/config/config.ts';

/** What is found in a configuration with these settings of tracing. */
function problemsOf(tracing: object, env: Record<string, string> = {}): string[] {
  const text = JSON.stringify({ agent_id: 'till', observability: { tracing } });
  const reading = parseConfig(text, { file: 'service.yaml', env });
  const problems = reading.ok ? reading.warnings : [...reading.problems, ...reading.warnings];
  return problems.map(({ path, message }) => `${path}: ${message}`);
}

const samplers =
  'always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio';

describe('checkTracing', () => {
  it.each([
    [{ enabled: true }],
    [{ enabled: true, sampler: 'parentbased_traceidratio:0.25' }],
    [{ enabled: true, endpoint: 'https://collector.example.com/in' }],
    [{ enabled: false, sampler: 'sometimes', endpoint: 'nowhere' }],
  ])('accepts %j', (tracing) => {
    expect(problemsOf(tracing)).toEqual([]);
  });

  it.each([
    [
      { sampler: 'alwayson' },
      `sampler: there is no such sampler (did you mean always_on?); choose one of ${samplers}`,
    ],
    [{ sampler: '?' }, `sampler: there is no such sampler; choose one of ${samplers}`],
    [{ sampler: 'always_on:1' }, 'sampler: always_on takes no ratio; write always_on alone'],
    [
      { sampler: 'traceidratio:0.1:2' },
      'sampler: traceidratio takes no ratio; write traceidratio alone',
    ],
    ...['traceidratio:1.5', 'traceidratio:-1', 'traceidratio:', 'traceidratio:half'].map(
      (sampler): [object, string] => [
        { sampler },
        'sampler: the ratio of a sampler is a number from 0 to 1, such as traceidratio:0.1',
      ],
    ),
    [
      { endpoint: 'collector:4318' },
      'endpoint: the endpoint is no http or https URL; write one such as http://localhost:4318/v1/traces',
    ],
    [
      { endpoint: 'http://ops:hush@collector:4318' },
      'endpoint: the endpoint holds a user name or a password; take it out and set OTEL_EXPORTER_OTLP_HEADERS',
    ],
  ])('refuses %j', (tracing, message) => {
    expect(problemsOf({ enabled: true, ...tracing })).toEqual([`observability.tracing.${message}`]);
  });

  it('refuses an endpoint that a variable names, too', () => {
    expect(
      problemsOf({ enabled: true }, { OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://collector' }),
    ).toEqual([
      'observability.tracing.endpoint: the endpoint is no http or https URL; write one such as http://localhost:4318/v1/traces',
    ]);
  });
});
