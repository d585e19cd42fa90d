import { describe, expect, it } from 'vitest';
import { checkServer } from '../../../src/actors/config/check-server.ts';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';

function findings(server: object, auth: object = {}) {
  return checkServer(serviceSchema.parse({ agent_id: 'x', server, auth }));
}

describe('the visibility of tasks', () => {
  it('is org by default', () => {
    expect(serviceSchema.parse({ agent_id: 'x' }).server.task_access).toBe('org');
  });

  it('may not be by requester without sign-in', () => {
    const server = { task_access: 'requester' };
    expect(findings(server)).toEqual([
      {
        path: ['server', 'task_access'],
        message:
          'task_access: requester has no effect without authentication; configure auth.providers',
        severity: 'warning',
      },
    ]);
    expect(findings(server, { required: true })).toEqual([]);
    expect(findings({ task_access: 'any' })).toEqual([]);
  });
});

describe('the public address of a server', () => {
  it.each(['', 'https://agents.example.com', 'http://10.0.0.7:8080/refunds/'])(
    'may be %j',
    (url) => {
      expect(findings({ public_url: url })).toEqual([]);
    },
  );

  it.each([
    'agents.example.com',
    'ftp://agents.example.com',
    'https://user:word@agents.example.com',
    'https://agents.example.com/?key=word',
    'https://agents.example.com/#top',
    'https://agents.example.com/ x',
  ])('is refused where a card should not contain it: %s', (url) => {
    expect(findings({ public_url: url })).toEqual([
      {
        path: ['server', 'public_url'],
        message:
          'the public address is an http or https URL without credentials, ? and #, such as https://agents.example.com/refunds',
        severity: 'error',
      },
    ]);
  });
});

describe('the origins of a server', () => {
  it.each(['*', 'https://desk.example.com', 'http://localhost:3000', 'http://[::1]:8080'])(
    'may contain %s',
    (origin) => {
      expect(findings({ cors_origins: [origin] })).toEqual([]);
    },
  );

  it.each([
    'desk.example.com',
    'https://desk.example.com/',
    'https://desk.example.com/app',
    'https://Desk.example.com',
    'https://desk.example.com:443',
    'https://*.example.com',
    'https://user@desk.example.com',
    'null',
    'file://',
  ])('are refused where no browser would send them: %s', (origin) => {
    expect(findings({ cors_origins: ['*', origin] })).toEqual([
      {
        path: ['server', 'cors_origins', 1],
        message:
          'an origin is a scheme, a host and perhaps a port, such as https://desk.example.com, with nothing after it; or * for any',
        severity: 'error',
      },
    ]);
  });
});

describe('the trusted proxies of a server', () => {
  it.each(['192.0.2.1', '10.0.0.0/8', '2001:db8::/32', 'loopback', 'linklocal', 'uniquelocal'])(
    'may contain %s',
    (proxy) => {
      expect(findings({ rate_limit: { trusted_proxies: [proxy] } })).toEqual([]);
    },
  );

  it.each(['proxy.example.com', '10.0.0.0/33', '0.0.0.0/0', '::/0', 'none'])(
    'are refused when they are not addresses: %s',
    (proxy) => {
      expect(findings({ rate_limit: { trusted_proxies: [proxy] } })).toEqual([
        {
          path: ['server', 'rate_limit', 'trusted_proxies', 0],
          message:
            'a trusted proxy is an address, a network such as 10.0.0.0/8, or loopback, linklocal or uniquelocal',
          severity: 'error',
        },
      ]);
    },
  );
});
