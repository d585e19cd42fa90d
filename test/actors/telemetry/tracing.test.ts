import { once } from 'node:events';
import { createServer } from 'node:http';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { FetchSpanExporter } from '../../../src/actors/telemetry/span-exporter.ts';
import { inSpan, outboundTraceHeaders } from '../../../src/actors/telemetry/spans.ts';
import { startTracing } from '../../../src/actors/telemetry/tracing.ts';
import { desertedUrl } from '../../helpers/deserted-url.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';
import { startCollector, traceInto } from '../../helpers/trace-collector.ts';

const quiet = { info() {}, warn() {}, error() {} };
const always = { followsParent: true, ratio: 1 };

describe('spans', () => {
  it('are posted as OTLP, with their sender', async () => {
    const collector = await startCollector();
    const tracing = traceInto(collector);
    await inSpan('outer', { tool: 'pay' }, () => inSpan('inner', {}, async () => undefined));
    await tracing.stop();
    const [outer] = collector.named('outer');
    expect(collector.posts).toMatchObject([
      {
        path: '/v1/traces',
        headers: { 'content-type': 'application/json', 'x-key': 'k' },
        resource: { 'service.name': 'till', 'service.version': '0' },
        spans: [
          { name: 'inner', traceId: outer?.traceId, parentSpanId: outer?.spanId },
          { name: 'outer', parentSpanId: null, status: 'unset', attributes: { tool: 'pay' } },
        ],
      },
    ]);
    expect(tracing.log).toEqual([]);
  });

  it('have the status Error when their work fails, and its error', async () => {
    const collector = await startCollector();
    const tracing = traceInto(collector);
    const failure = new Error('secret');
    await expect(inSpan('work', {}, () => Promise.reject(failure))).rejects.toBe(failure);
    await tracing.stop();
    expect(collector.trees()).toEqual([{ name: 'work', status: 'error' }]);
    expect(JSON.stringify(collector.posts)).not.toContain('secret');
  });

  it.each([
    ['off', { followsParent: false, ratio: 0 }, '01', 0],
    ['on', { followsParent: false, ratio: 1 }, '00', 1],
    ['decided by a caller who samples', { followsParent: true, ratio: 0 }, '01', 1],
    ['decided by a caller who does not sample', { followsParent: true, ratio: 1 }, '00', 0],
  ])('are recorded as the sampler decides: %s', async (_, sampler, flags, expected) => {
    const collector = await startCollector();
    const tracing = traceInto(collector, sampler);
    const caller = {
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: '00f067aa0ba902b7',
      traceFlags: Number(flags),
      isRemote: true,
    };
    const above = trace.setSpanContext(ROOT_CONTEXT, caller);
    trace.getTracer('holdpoint').startSpan('work', {}, above).end();
    await tracing.stop();
    expect(collector.spans).toHaveLength(expected);
  });

  it('are dropped once tracing has stopped, and a new tracing has its own', async () => {
    const first = await startCollector();
    await traceInto(first).stop();
    await inSpan('between', {}, async () => expect(outboundTraceHeaders()).toEqual({}));
    const second = await startCollector();
    const tracing = traceInto(second);
    await inSpan('later', {}, async () => undefined);
    await tracing.stop();
    expect(first.spans).toEqual([]);
    expect(second.trees()).toEqual([{ name: 'later', status: 'unset' }]);
  });

  it('belong to one tracing in a process', async () => {
    const collector = await startCollector();
    traceInto(collector);
    expect(() => traceInto(collector)).toThrow(
      'this process traces already; stop the agent that does first',
    );
  });
});

describe('a collector that accepts nothing', () => {
  it.each([
    ['is not reachable', async () => desertedUrl, expect.stringContaining('ECONNREFUSED')],
    ['answers with an error', failingUrl, 'the collector answered 503'],
  ])('is logged once when it %s', async (_, start, error) => {
    const url = await start();
    const tracing = traceInto({ url });
    for (let count = 0; count < 1_200; count += 1) await inSpan('work', {}, async () => undefined);
    await tracing.stop();
    expect(tracing.log).toEqual([
      {
        level: 'warn',
        message: 'tracing: the collector rejects spans; spans are dropped meanwhile',
        fields: { collector: url, error, lost: 512 },
      },
    ]);
  });

  it('is logged without its headers', async () => {
    const said: object[] = [];
    const exporter = new FetchSpanExporter({
      endpoint: 'http://127.0.0.1:9/in',
      headers: { authorization: 'Bearer secret\nvalue' },
      fetch: globalThis.fetch,
      log: { ...quiet, warn: (fields) => void said.push(fields) },
    });
    await new Promise((resolve) => exporter.export([], resolve));
    expect(said).toEqual([{ collector: 'http://127.0.0.1:9', error: 'no answer', lost: 0 }]);
  });

  it('is logged again when it is back', async () => {
    const said: string[] = [];
    const note = (_: object, message: string) => void said.push(message);
    let status = 500;
    const exporter = new FetchSpanExporter({
      endpoint: 'http://collector.test/in',
      headers: {},
      fetch: async () => new Response(null, { status }),
      log: { info: note, warn: note, error: note },
    });
    const post = () => new Promise((resolve) => exporter.export([], resolve));
    await post();
    await post();
    status = 200;
    await post();
    await post();
    expect(said).toEqual([
      'tracing: the collector rejects spans; spans are dropped meanwhile',
      'tracing: the collector accepts spans again',
    ]);
  });

  it('is not awaited when tracing stops', { timeout: 8_000 }, async () => {
    const silent = createServer();
    const url = await listenOnLoopback(silent);
    const asked = once(silent, 'request');
    const tracing = startTracing(
      { endpoint: `${url}/v1/traces`, headers: {}, serviceName: 'till', sampler: always },
      { version: '0', log: quiet },
    );
    await inSpan('work', {}, async () => undefined);
    const began = performance.now();
    await Promise.all([tracing.stop(), asked]);
    expect(performance.now() - began).toBeLessThan(6_000);
  });

  it('is called through the given fetch', async () => {
    const asked: unknown[] = [];
    const tracing = startTracing(
      {
        endpoint: 'http://collector.test/in',
        headers: { a: 'b' },
        serviceName: 's',
        sampler: always,
      },
      {
        version: '0',
        log: quiet,
        fetch: async (input, init) => {
          asked.push([input, init?.method, init?.headers, outboundTraceHeaders()]);
          return new Response();
        },
      },
    );
    await inSpan('work', {}, async () => undefined);
    await tracing.stop();
    expect(asked).toEqual([
      ['http://collector.test/in', 'POST', { a: 'b', 'content-type': 'application/json' }, {}],
    ]);
  });
});

async function failingUrl(): Promise<string> {
  const collector = await startCollector();
  collector.answer = 503;
  return collector.url;
}
