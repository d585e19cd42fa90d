import { describe, expect, it } from 'vitest';
import { checkStoreSettings } from '../../../src/actors/config/check-store-settings.ts';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';

function findings(store: object, env: Record<string, string> = {}) {
  return checkStoreSettings(serviceSchema.parse({ agent_id: 'x', store }), env);
}

const url = 'postgres://agent:pass-word-9@db.example.com:5432/agents?sslmode=verify-full';

describe('the task store', () => {
  it('is a file without settings, unless another is named', () => {
    expect(findings({})).toEqual([]);
    expect(findings({}, { SERVICE_DATABASE_URL: url })).toEqual([]);
  });

  it('is a server whose URL is in a variable', () => {
    expect(findings({ kind: 'postgres' }, { SERVICE_DATABASE_URL: url })).toEqual([]);
    expect(findings({ kind: 'postgres', url_env: 'MY_URL' }, { MY_URL: url })).toEqual([]);
  });

  it.each([
    [{}, 'SERVICE_DATABASE_URL', ['store', 'kind']],
    [{ url_env: 'MY_URL' }, 'MY_URL', ['store', 'url_env']],
  ])('needs that variable, as in %j', (settings, variable, path) => {
    expect(findings({ kind: 'postgres', ...settings })).toEqual([
      {
        path,
        message: `${variable} is not set; it holds the URL of the database, such as postgres://agent@db.example.com/agents`,
        severity: 'error',
      },
    ]);
  });

  it.each(['mysql://agent:pass-word-9@db.example.com/agents', 'pass-word-9', 'db.example.com'])(
    'refuses a variable without a PostgreSQL URL, such as %s, without quoting it',
    (text) => {
      expect(findings({ kind: 'postgres' }, { SERVICE_DATABASE_URL: text })).toEqual([
        {
          path: ['store', 'kind'],
          message:
            'SERVICE_DATABASE_URL does not hold a URL of PostgreSQL; write postgres://USER:PASSWORD@HOST:PORT/DATABASE',
          severity: 'error',
        },
      ]);
    },
  );

  it.each(['prefer', 'require', 'verify-ca'])('has its certificate checked with %s too', (mode) => {
    const found = findings(
      { kind: 'postgres' },
      { SERVICE_DATABASE_URL: `postgres://db.example.com/agents?sslmode=${mode}` },
    );
    expect(found).toEqual([
      {
        path: ['store', 'kind'],
        message: `sslmode=${mode} in SERVICE_DATABASE_URL is treated as verify-full, which checks the certificate and its name; write sslmode=verify-full`,
        severity: 'warning',
      },
    ]);
    const asked = `postgres://db.example.com/agents?sslmode=${mode}&uselibpqcompat=true`;
    expect(findings({ kind: 'postgres' }, { SERVICE_DATABASE_URL: asked })).toEqual([]);
  });

  it('causes a warning when it trusts any server', () => {
    const text = 'postgres://db.example.com/agents?sslmode=no-verify';
    expect(findings({ kind: 'postgres' }, { SERVICE_DATABASE_URL: text })).toEqual([
      {
        path: ['store', 'kind'],
        message:
          'sslmode=no-verify in SERVICE_DATABASE_URL trusts any server; write sslmode=verify-full, with sslrootcert=/path/of/ca.pem for an authority of your own',
        severity: 'warning',
      },
    ]);
  });

  it('needs a log without rotation', () => {
    const config = serviceSchema.parse({ agent_id: 'x', store: { kind: 'postgres' } });
    const env = { SERVICE_DATABASE_URL: url };
    const isWritten = (path: readonly (string | number)[]) => path.join('.') === 'audit.rotation';
    expect(checkStoreSettings(config, env, isWritten)).toEqual([
      {
        path: ['audit', 'rotation'],
        message:
          'the log of kind: postgres is kept in the database, and its file is a copy that is not rotated; remove rotation',
        severity: 'warning',
      },
    ]);
  });

  it('has no server settings for a file', () => {
    expect(findings({ url_env: 'MY_URL', schema: 'refunds', pool: 5 })).toEqual(
      ['url_env', 'schema', 'pool'].map((key) => ({
        path: ['store', key],
        message: `${key} is used by kind: postgres alone; write that, or remove it`,
        severity: 'warning',
      })),
    );
  });

  it.each([
    'Refunds',
    '1st',
    'a-b',
    'a"; DROP TABLE x; --',
    'x'.repeat(41),
    'pg_refunds',
    'information_schema',
  ])('may not have a schema named %j', (schema) => {
    expect(serviceSchema.safeParse({ agent_id: 'x', store: { schema } }).success).toBe(false);
  });
});
