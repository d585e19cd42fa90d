import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { headerOf, withHeaders } from '../../../../src/actors/outbound/egress/workflow-headers.ts';
import { aServer, type SeenRequest } from './a-server.ts';
import { anEgress, scope } from './an-egress.ts';

const all = {
  'x-workflow-id': 'refunds',
  'x-workflow-execution-id': 'run-7',
  'x-workflow-stage-id': 'check',
  'x-workflow-step-id': 'ask',
  'x-invocation-caller': 'orchestrator',
};

/** The workflow and tenancy headers that a server received. */
function told(seen: SeenRequest | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(seen?.headers ?? {}).filter(([name]) =>
      /^x-(workflow|invocation|service)/.test(name),
    ),
  );
}

describe('workflow headers', () => {
  it.each([
    ['http://a.example.test', ['a.example.test'], all],
    ['http://a.example.test', ['*.example.test'], all],
    ['http://A.EXAMPLE.test', ['a.Example.test'], all],
    ['http://a.example.test', ['b.example.test'], {}],
    ['http://a.example.test', ['example.test'], {}],
    ['http://a.example.test', ['*.a.example.test'], {}],
    ['http://a.example.test', [], {}],
  ])('of %s with the list %o', async (origin, propagateTo, expected) => {
    const { port, seen } = await aServer();
    const { egress } = anEgress({ propagateTo });
    const { dispatcher } = egress;
    await egress.within(scope, async () => {
      await egress.fetch(`${origin}:${port}/`);
      await (await request(`${origin}:${port}/`, { dispatcher })).body.dump();
    });
    expect(seen.map(told)).toEqual([expected, expected]);
  });

  it('are empty without tags, and for the daemon itself', async () => {
    const { port, seen } = await aServer();
    const { egress } = anEgress({ propagateTo: ['a.example.test'] });
    const url = `http://a.example.test:${port}/`;
    await egress.within({ ...scope, tags: {} }, () => egress.fetch(url));
    await egress.fetch(url);
    expect(seen.map(told)).toEqual([{}, {}]);
  });

  it('that the tool set are kept, and its input is not changed', async () => {
    const { port, seen } = await aServer();
    const { egress } = anEgress({ propagateTo: ['a.example.test'] });
    const { dispatcher } = egress;
    const shapes = [
      { 'X-WORKFLOW-ID': 'own' },
      ['X-WORKFLOW-ID', 'own'],
      new Map([['X-WORKFLOW-ID', 'own']]),
      Object.entries({ 'X-WORKFLOW-ID': 'own' }),
    ];
    const before = structuredClone(shapes);
    for (const headers of shapes) {
      const options = { dispatcher, headers: headers as Record<string, string> };
      await egress.within(scope, () => request(`http://a.example.test:${port}/`, options));
    }
    expect(shapes).toEqual(before);
    expect(seen.map(told)).toEqual(shapes.map(() => ({ ...all, 'x-workflow-id': 'own' })));
  });

  it('that the tool set are sent to a host that is not on the list', async () => {
    const { port, seen } = await aServer();
    const { egress } = anEgress();
    const headers = { 'X-Workflow-ID': 'own' };
    await egress.within(scope, () => egress.fetch(`http://a.example.test:${port}/`, { headers }));
    expect(seen.map(told)).toEqual([{ 'x-workflow-id': 'own' }]);
  });

  it('are decided on each hop of a redirect', async () => {
    const { port, seen } = await aServer(({ url }, response) => {
      const [next, ...rest] = url.slice(1).split('/');
      const location = `http://${next}.example.test:${port}/${rest.join('/')}`;
      if (next === '') response.end('end');
      else response.writeHead(302, { location }).end();
    });
    const { egress } = anEgress({ propagateTo: ['a.example.test', 'c.example.test'] });
    await egress.within(scope, () => egress.fetch(`http://a.example.test:${port}/b/c`));
    expect(seen.map((one) => [one.headers.host?.[0], told(one)])).toEqual([
      ['a', all],
      ['b', {}],
      ['c', all],
    ]);
  });

  it('are omitted when a tag is not a valid header value', async () => {
    const { port, seen } = await aServer();
    const { egress } = anEgress({ propagateTo: ['a.example.test'] });
    const tags = { workflow_id: 'a\r\nX-Evil: 1', stage_id: 'x'.repeat(257), step_id: 'ask' };
    await egress.within({ ...scope, tags }, () => egress.fetch(`http://a.example.test:${port}/`));
    expect(seen.map(told)).toEqual([{ 'x-workflow-step-id': 'ask' }]);
  });
});

describe('a header', () => {
  it.each<[Parameters<typeof withHeaders>[0], unknown[]]>([
    [null, ['X-A', '1']],
    [{}, ['X-A', '1']],
    [{ 'x-b': '2', 'x-c': undefined }, ['x-b', '2', 'X-A', '1']],
    [{ 'x-a': undefined }, ['X-A', '1']],
    // The value of another is not its name.
    [
      ['x-b', 'x-a'],
      ['x-b', 'x-a', 'X-A', '1'],
    ],
    [new Map([['x-b', 'X-A']]), ['x-b', 'X-A', 'X-A', '1']],
  ])('is added to %o', (given, expected) => {
    expect(withHeaders(given, [['X-A', '1']])).toEqual(expected);
  });

  it.each<[Parameters<typeof withHeaders>[0]]>([
    [{ 'x-A': '2' }],
    [['X-a', '2']],
    [[['x-a', '2']] as unknown as string[]],
  ])('is not added to %o, which stays the same', (given) => {
    expect(withHeaders(given, [['X-A', '1']])).toBe(given);
    expect(withHeaders(given, [])).toBe(given);
  });

  it.each<[Parameters<typeof headerOf>[0], string | null]>([
    [null, null],
    [{ accept: 'host' }, null],
    [{ host: undefined }, null],
    [{ Host: 'a.test' }, 'a.test'],
    [['accept', 'b.test', 'HOST', 'a.test', 'x-c', 'c.test'], 'a.test'],
    [['accept', 'host', 'x-c', 'c.test'], null],
  ])('is found in %o: %s', (given, value) => {
    expect(headerOf(given, 'host')).toBe(value);
  });
});
