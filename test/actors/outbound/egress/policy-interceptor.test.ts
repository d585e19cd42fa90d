import { propagation } from '@opentelemetry/api';
import type { Dispatcher } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EgressError } from '../../../../src/actors/outbound/egress/egress-error.ts';
import { patientLimits } from '../../../../src/actors/outbound/egress/limits.ts';
import {
  hopOf,
  type InterceptorPorts,
  policyInterceptor,
  userFault,
} from '../../../../src/actors/outbound/egress/policy-interceptor.ts';
import type { EgressScope } from '../../../../src/actors/ports/egress.ts';
import { scope } from './an-egress.ts';

const request = { origin: 'http://a.test', path: '/', method: 'GET' } as const;

/** Sends a request through the interceptor, and returns what passes, what is refused and what its caller receives. */
function send(
  options: Dispatcher.DispatchOptions,
  { on = scope, ...ports }: Partial<InterceptorPorts> & { on?: EgressScope | null } = {},
) {
  const sent: unknown[] = [];
  const refused: unknown[] = [];
  const heard: unknown[] = [];
  const intercept = policyInterceptor({
    sending: () => (on === null ? null : { scope: on, limits: patientLimits, deadline: null }),
    rule: ({ hostname }) => ({ host: hostname, why: null }),
    refuse: (host, why, whose) => {
      refused.push([host, why, whose]);
      return new EgressError({ host, why, mode: 'allowlist' });
    },
    settle: () => undefined,
    propagatesTo: () => false,
    ...ports,
  });
  const dispatch: Dispatcher.Dispatch = ({ headers }) => {
    sent.push(headers ?? null);
    return true;
  };
  const onResponseError = (_: unknown, error: Error) => void heard.push(error);
  const isTaken = intercept(dispatch)(options, { onResponseError });
  return { sent, refused, heard, isTaken };
}

describe('a request through the policy', () => {
  it('continues when its hop is permitted', () => {
    expect(send({ ...request, headers: { host: 'A.test:80' } })).toEqual({
      sent: [{ host: 'A.test:80' }],
      refused: [],
      heard: [],
      isTaken: true,
    });
  });

  it.each<[string, Dispatcher.DispatchOptions, string, string]>([
    ['no URL', { ...request, origin: 'a test' }, 'a test', 'is no host'],
    [
      'a URL with a name',
      { ...request, origin: 'http://ops@a.test' },
      'a.test',
      'has a user name in its URL',
    ],
    [
      'the Host of another server',
      { ...request, headers: { Accept: 'a.test', Host: 'b.test' } },
      'a.test',
      'has the Host header of another host',
    ],
    [
      'an invalid Host',
      { ...request, headers: ['Host', ''] },
      'a.test',
      'has the Host header of another host',
    ],
  ])('is refused and not sent when it has %s', (_, options, host, why) => {
    expect(send(options)).toEqual({
      sent: [],
      refused: [[host, why, scope]],
      heard: [new EgressError({ host, why, mode: 'allowlist' })],
      isTaken: false,
    });
  });

  it('is refused, although its caller receives no failure', () => {
    const refuse = () => new EgressError({ host: 'a.test', why: 'is no host', mode: 'allowlist' });
    const intercept = policyInterceptor({
      sending: () => null,
      rule: () => ({ host: 'a.test', why: 'is no host' }),
      refuse,
      settle: () => undefined,
      propagatesTo: () => false,
    });
    const dispatch = () => {
      throw new Error('nothing is to be sent');
    };
    expect(intercept(dispatch)(request, {})).toBe(false);
  });

  it.each([
    ['an error', new Error('no rule')],
    ['anything else', 'no rule'],
  ])('is refused when the rule throws %s', (_, thrown: unknown) => {
    const rule = () => {
      throw thrown;
    };
    expect(send(request, { rule })).toEqual({
      sent: [],
      refused: [],
      heard: [new Error('no rule')],
      isTaken: false,
    });
  });

  const own = { ...scope, isOwn: true };
  const trace = ['traceparent', '00-1'];
  const whole = [...trace, 'baggage', 'tenant=acme'];
  const workflow = ['X-Workflow-ID', 'refunds'];

  it.each<[string, boolean, EgressScope | null, string[] | null]>([
    ['a task', false, { ...scope, tags: {} }, null],
    ['a task', true, { ...scope, tags: {} }, whole],
    ['a task', true, { ...scope, tags: { workflow_id: 'refunds' } }, [...whole, ...workflow]],
    ['the daemon', false, null, trace],
    ['the daemon', true, null, whole],
    ['the daemon in a task', false, own, trace],
  ])('of %s sends a host whose trust is %s its trace', (_, isTrusted, on, headers) => {
    propagation.setGlobalPropagator({
      inject: (_context, carrier, setter) => {
        setter.set(carrier, 'traceparent', '00-1');
        setter.set(carrier, 'baggage', 'tenant=acme');
      },
      extract: (context) => context,
      fields: () => ['traceparent', 'baggage'],
    });
    onTestFinished(() => propagation.disable());
    expect(send(request, { on, propagatesTo: () => isTrusted }).sent).toEqual([headers]);
  });
});

describe('the hop of a URL', () => {
  it.each([
    ['https://a.test/', 'https:', 443],
    ['https://a.test:443/', 'https:', 443],
    ['https://a.test:80/', 'https:', 80],
    ['http://a.test/', 'http:', 80],
    ['http://a.test:443/', 'http:', 443],
    ['http://a.test:8080/', 'http:', 8080],
  ])('%s is %s at port %i', (url, protocol, port) => {
    expect(hopOf(new URL(url))).toEqual({ protocol, hostname: 'a.test', port });
  });

  it.each([
    ['http://a.test/', null],
    ['http://ops@a.test/', 'has a user name in its URL'],
    ['http://:canary@a.test/', 'has a user name in its URL'],
    ['http://ops:canary@a.test/', 'has a user name in its URL'],
  ])('%s has the fault %s', (url, fault) => {
    expect(userFault(new URL(url))).toBe(fault);
  });
});
