import fc from 'fast-check';
import { expect, it } from 'vitest';
import { agentErrorCodes, errorCodes } from '../../../src/http/wire/error-codes.ts';
import { presentRefusal } from '../../../src/http/wire/present-refusal.ts';

const call = { method: 'POST', path: '/' };
const said = { error: 'no', code: 'not_found' } as const;

it('the refusal form has a gRPC name for every status', () => {
  const statuses = new Set(agentErrorCodes.map((code) => errorCodes[code][0]));
  expect(statuses).toContain(402);
  expect(statuses.size).toBeGreaterThan(10);
  for (const status of statuses) {
    const { error } = presentRefusal(
      { status, body: said },
      { method: 'GET', path: '/a2a/x' },
    ) as any;
    expect(error).toMatchObject({ code: status, message: 'no' });
    expect(error.status).toMatch(/^(?!UNKNOWN$)[A-Z_]+$/);
  }
});

it.each([
  ['/a2a', 'aip'],
  ['/v1', 'aip'],
  ['/v1/', 'aip'],
  ['/a2a/message:send', 'aip'],
  ['/a2apart', 'sentence'],
  ['/v10/tasks', 'sentence'],
  ['/A2A/tasks', 'sentence'],
  ['/tasks/v1/x', 'sentence'],
  ['//v1/tasks', 'sentence'],
  ['', 'sentence'],
])('the path %j has the form %s', (path, form) => {
  const shown = presentRefusal({ status: 404, body: said }, { method: 'POST', path });
  expect(shown).toEqual(
    form === 'sentence' ? said : { error: { code: 404, status: 'NOT_FOUND', message: 'no' } },
  );
});

it('a refusal is a JSON-RPC error only for a POST to /', () => {
  const shown = presentRefusal({ status: 429, body: said }, call);
  expect(shown).toEqual({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'no' } });
  expect(presentRefusal({ status: 405, body: said }, { method: 'PUT', path: '/' })).toBe(said);
});

it.each([
  [7, 7],
  ['a', 'a'],
  [null, null],
  [{}, null],
  [undefined, null],
])('the id %j of a call is returned as %j', (id, shown) => {
  const body = { jsonrpc: '2.0', id, method: 'SendMessage' };
  expect(presentRefusal({ status: 503, body: said }, { ...call, body })).toMatchObject({
    id: shown,
  });
});

it('a refusal has the documented body for documented methods', () => {
  const denied = {
    ...said,
    error: 'admission_denied',
    reason: 'r',
    scope: '',
    window: '',
    reset_at: '',
  };
  for (const method of ['tasks/send', 'tasks/sendSubscribe']) {
    expect(
      presentRefusal({ status: 402, body: denied }, { ...call, body: { id: 1, method } }),
    ).toBe(denied);
  }
});

it('a refusal contains in every form the whole body, and its message as text', () => {
  const bodies = fc
    .dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean()), { maxKeys: 4 })
    .map((more) => ({ ...more, error: 'refused', code: 'not_found', __proto__: null }) as never);
  const requests = fc.constantFrom(
    call,
    { method: 'POST', path: '/v1/x' },
    { method: 'GET', path: '/x' },
  );
  fc.assert(
    fc.property(fc.integer({ min: 400, max: 599 }), bodies, requests, (status, body, request) => {
      const shown = JSON.parse(JSON.stringify(presentRefusal({ status, body }, request)));
      const { error } = shown;
      if (typeof error === 'string') {
        expect(shown).toEqual(JSON.parse(JSON.stringify(body)));
        return;
      }
      expect(error.message).toEqual(expect.any(String));
      const told = error.data ?? error.details?.[0]?.metadata;
      const said = Object.keys(body).filter((key) => key !== 'code');
      const isMore = said.length > 1 && status !== 415;
      if (isMore) expect(Object.keys(told).toSorted()).toEqual(said.toSorted());
    }),
  );
});

it('a refusal does not return a long id, as refusals do not count as unread bytes', () => {
  const ids = ['x'.repeat(1_024), 'x'.repeat(1_025), 1e300, ['x'], { x: 'x' }, true];
  const shown = ids.map((id) =>
    presentRefusal({ status: 503, body: said }, { ...call, body: { method: 'message/send', id } }),
  );
  expect(shown.map((one: any) => one.id)).toEqual([ids[0], null, 1e300, null, null, null]);
});
