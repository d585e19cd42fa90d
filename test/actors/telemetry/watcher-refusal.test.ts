import { describe, expect, it } from 'vitest';
import { watcherRefusal } from '../../../src/actors/telemetry/event-stream.ts';

const expected = { port: 8181, token: 'right' };

function judge({
  url = '/?token=right',
  hosts = ['127.0.0.1:8181'],
  origin,
}: {
  url?: string;
  hosts?: string[];
  origin?: string;
}) {
  const headers = { host: hosts[0], ...(origin === undefined ? {} : { origin }) };
  const rawHeaders = hosts.flatMap((host) => ['Host', host]);
  return watcherRefusal({ url, headers, rawHeaders }, expected)?.status ?? null;
}

describe('watcherRefusal', () => {
  it.each(['127.0.0.1:8181', 'localhost:8181', '[::1]:8181'])('accepts Host %s', (host) => {
    expect(judge({ hosts: [host] })).toBeNull();
  });

  it.each([
    'evil.test:8181',
    '127.0.0.1',
    '127.0.0.1:8182',
    'localhost.evil.test:8181',
    '127.0.0.1:8181.evil.test',
    '127.0.0.2:8181',
    '::1:8181',
  ])('refuses Host %s with 403', (host) => {
    expect(judge({ hosts: [host] })).toBe(403);
  });

  it.each([[[]], [['127.0.0.1:8181', '127.0.0.1:8181']]])(
    'refuses the Hosts %j with 403',
    (hosts) => {
      expect(judge({ hosts })).toBe(403);
    },
  );

  it.each([
    'http://localhost:4200',
    'http://127.0.0.1:8181',
    'http://127.0.0.2',
    'https://[::1]:1',
  ])('accepts Origin %s', (origin) => {
    expect(judge({ origin })).toBeNull();
  });

  it.each([
    'https://evil.test',
    'null',
    '',
    'http://localhost.evil.test',
    'file://localhost',
    'http://127.0.0.1.evil.test:8181',
  ])('refuses Origin %j with 403', (origin) => {
    expect(judge({ origin })).toBe(403);
  });

  it.each(['/', '/?token=', '/?token=wrong', '/?token=righ', '/?token=rightx', '/?Token=right'])(
    'refuses %s with 401',
    (url) => {
      expect(judge({ url })).toBe(401);
    },
  );

  it('refuses another path with 404', () => {
    expect(judge({ url: '/events?token=right' })).toBe(404);
  });
});
