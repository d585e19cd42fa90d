import { describe, expect, it } from 'vitest';
import { checkAuditSinks } from '../../../src/actors/config/check-audit-sinks.ts';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';
import { linesOf, read } from './reading.ts';

function findings(sinks: object[], env: Record<string, string> = {}) {
  return checkAuditSinks(serviceSchema.parse({ agent_id: 'x', audit: { sinks } }), env);
}

describe('the sinks of the audit log', () => {
  it('may be of every type at once', () => {
    const sinks = [
      { type: 'stdout' },
      { type: 'unix', path: '/run/collector.sock' },
      { type: 'http', url: 'https://collector.example.com/in', token_env: 'COLLECTOR_TOKEN' },
      { type: 'http', url: 'http://127.0.0.1:9000/in' },
      { type: 'http', url: 'http://[::1]:9000/in' },
      { type: 'http', url: 'http://localhost:9000/in' },
    ];
    expect(findings(sinks, { COLLECTOR_TOKEN: 'token' })).toEqual([]);
  });

  it('may not have the same target', () => {
    const socket = { type: 'unix', path: 'a.sock' };
    expect(findings([{ type: 'stdout' }, socket, { type: 'stdout' }, socket])).toEqual(
      [2, 3].map((index) => ({
        path: ['audit', 'sinks', index],
        message: 'an earlier sink is the same place and would get every line twice; remove one',
        severity: 'error',
      })),
    );
  });

  it('need their token variable, and no password in their URL', () => {
    const url = 'https://me:secret@collector.example.com/in';
    expect(findings([{ type: 'http', url, token_env: 'COLLECTOR_TOKEN' }])).toEqual([
      {
        path: ['audit', 'sinks', 0, 'url'],
        message: 'a URL is no place for a password; use token_env',
        severity: 'error',
      },
      {
        path: ['audit', 'sinks', 0, 'token_env'],
        message: 'the variable COLLECTOR_TOKEN is not set; set it',
        severity: 'error',
      },
    ]);
  });

  it('cause a warning for plain text over a network', () => {
    expect(findings([{ type: 'http', url: 'http://collector.example.com/in' }])).toEqual([
      {
        path: ['audit', 'sinks', 0, 'url'],
        message:
          'anyone on the way to collector.example.com can read and change these lines; use https',
        severity: 'warning',
      },
    ]);
  });

  it('have a socket path that the system accepts', () => {
    expect(findings([{ type: 'unix', path: `/${'x'.repeat(106)}` }])).toEqual([]);
    expect(findings([{ type: 'unix', path: `/${'x'.repeat(107)}` }])).toEqual([
      {
        path: ['audit', 'sinks', 0, 'path'],
        message: "a socket's path has at most 107 bytes; choose a shorter one",
        severity: 'error',
      },
    ]);
  });
});

describe('the audit section of service.yaml', () => {
  it('has defaults for rotation and sinks', () => {
    const reading = read(
      'agent_id: x\naudit:\n  sinks:\n    - type: http\n      url: https://a.example.com\n',
    );
    expect(reading).toMatchObject({
      ok: true,
      config: {
        audit: {
          rotation: { max_bytes: 67_108_864, daily: false, keep: 0 },
          sinks: [{ type: 'http', url: 'https://a.example.com', batch: 500, timeout: 10_000 }],
        },
      },
    });
  });

  it('reports the place of a wrong limit, type or key', () => {
    const text = `agent_id: x
audit:
  rotation:
    max_bytes: 10
    keeps: 3
  sinks:
    - type: http
      url: ftp://a.example.com
    - type: stdout
      path: x
`;
    expect(linesOf(read(text))).toEqual([
      'error 4:16 audit.rotation.max_bytes | audit.rotation.max_bytes: this must be 0 for one file without end, or at least 65536',
      'error 5:5 audit.rotation.keeps | audit.rotation.keeps: unknown key; did you mean keep?',
      'error 8:12 audit.sinks.0.url | audit.sinks.0.url: this must be a URL with http or https',
      'error 10:7 audit.sinks.1.path | audit.sinks.1.path: unknown key; remove it',
    ]);
  });
});
