import { describe, expect, it } from 'vitest';
import { readSampler, readTracing } from '../../../src/actors/telemetry/tracing-settings.ts';

const config = { enabled: true, endpoint: '', service_name: '', sampler: 'parentbased_always_on' };

const local = {
  endpoint: 'http://localhost:4318/v1/traces',
  headers: {},
  serviceName: 'till',
  sampler: { followsParent: true, ratio: 1 },
};

describe('readTracing', () => {
  it.each([
    ['only the name of the agent', {}, {}, local],
    [
      'the settings of service.yaml',
      { endpoint: 'https://in.example.com/otlp', service_name: 'refunds', sampler: 'always_off' },
      {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other/v1/traces',
        OTEL_SERVICE_NAME: 'other',
      },
      {
        ...local,
        endpoint: 'https://in.example.com/otlp',
        serviceName: 'refunds',
        sampler: { followsParent: false, ratio: 0 },
      },
    ],
    [
      'an endpoint without a path',
      { endpoint: 'http://collector:4318' },
      {},
      { ...local, endpoint: 'http://collector:4318/v1/traces' },
    ],
    [
      'the variables of OpenTelemetry',
      {},
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
        OTEL_EXPORTER_OTLP_HEADERS: 'X-Key=a%20b, bad, tenant = acme ,=c,broken=%zz',
        OTEL_SERVICE_NAME: 'desk',
      },
      {
        ...local,
        endpoint: 'http://collector:4318/v1/traces',
        headers: { 'x-key': 'a b', tenant: 'acme', broken: '%zz' },
        serviceName: 'desk',
      },
    ],
    [
      'the variables for traces before the others',
      {},
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/in',
        OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=2',
      },
      { ...local, endpoint: 'http://traces:4318/in', headers: { b: '2' } },
    ],
  ])('reads %s', (_, settings, env, expected) => {
    expect(readTracing({ ...config, ...settings }, { agentId: 'till', env })).toStrictEqual(
      expected,
    );
  });
});

describe('readSampler', () => {
  it.each([
    ['always_on', { followsParent: false, ratio: 1 }],
    ['always_off', { followsParent: false, ratio: 0 }],
    ['traceidratio', { followsParent: false, ratio: 1 }],
    ['traceidratio:0.1', { followsParent: false, ratio: 0.1 }],
    ['parentbased_always_on', { followsParent: true, ratio: 1 }],
    ['parentbased_always_off', { followsParent: true, ratio: 0 }],
    ['parentbased_traceidratio:0', { followsParent: true, ratio: 0 }],
  ])('reads %s', (text, expected) => {
    expect(readSampler(text)).toEqual(expected);
  });
});
