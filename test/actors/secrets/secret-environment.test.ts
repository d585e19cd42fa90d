import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSecretEnvironment } from '../../../src/actors/secrets/secret-environment.ts';
import { changeSecrets } from '../../../src/actors/secrets/secret-file.ts';
import { SecretsError } from '../../../src/actors/secrets/secrets-error.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const passphrase = 'open sesame';
const folder = mkdtempSync(join(tmpdir(), 'holdpoint-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'secrets.enc');
await changeSecrets(path, passphrase, (secrets) =>
  secrets.set('SHOP', 'shop-of-file').set('F', 'f'),
);
writeFileSync(join(folder, '.env'), 'SHOP=shop-of-dotenv\nDOT="dot # it"\nexport E=e\n', {
  mode: 0o600,
});
const env = { SHOP: 'shop-of-process', HOME: '/root', E: '', SERVICE_PASSPHRASE: passphrase };

describe('openSecretEnvironment', () => {
  it('prefers the file to the environment, and the environment to the .env next to the file', async () => {
    const providers = ['encrypted-file', 'env'] as const;
    expect(await openSecretEnvironment({ providers, path, passphrase, env })).toEqual({
      env: { SHOP: 'shop-of-file', F: 'f', DOT: 'dot # it', E: '', HOME: '/root' },
      values: ['dot # it', 'e', 'shop-of-dotenv', 'shop-of-file', 'f'],
      warnings: [],
    });
  });

  it('prefers the environment when that comes first', async () => {
    const providers = ['env', 'encrypted-file'] as const;
    const opened = await openSecretEnvironment({ providers, path, passphrase, env });
    expect(opened.env).toEqual({
      SHOP: 'shop-of-process',
      F: 'f',
      DOT: 'dot # it',
      E: '',
      HOME: '/root',
    });
  });

  it('needs no passphrase where the file is not used', async () => {
    const sources = { providers: ['env'] as const, path, passphrase: null, env };
    const opened = await openSecretEnvironment(sources);
    expect(opened.env).toEqual({ SHOP: 'shop-of-process', DOT: 'dot # it', E: '', HOME: '/root' });
  });

  it('reads only settings from the environment where only the file is used', async () => {
    const providers = ['encrypted-file'] as const;
    const settings = {
      PATH: '/bin',
      SERVICE_RATE_LIMIT_READ_RPS: '5',
      AWS_REGION: 'eu-central-1',
      OTEL_SERVICE_NAME: 'till',
    };
    const secret = {
      SERVICE_TOKEN: 't',
      SERVICE_PLATFORM_TOKEN: 't',
      SERVICE_AUDIT_SIGNING_KEY: 'k',
      OTEL_EXPORTER_OTLP_HEADERS: 'h',
      AWS_SECRET_ACCESS_KEY: 's',
      OPENAI_API_KEY: 'o',
    };
    const sources = { providers, path, passphrase, env: { ...env, ...settings, ...secret } };
    const opened = await openSecretEnvironment(sources);
    expect(opened.env).toEqual({ ...settings, HOME: '/root', SHOP: 'shop-of-file', F: 'f' });
  });

  it('explains how to set the passphrase of the file', async () => {
    const providers = ['encrypted-file', 'env'] as const;
    const opened = openSecretEnvironment({ providers, path, passphrase: null, env });
    await expect(opened).rejects.toEqual(
      new SecretsError(
        'passphrase_missing',
        `the secrets in ${path} are encrypted and no passphrase was given; set SERVICE_PASSPHRASE, or pass it with --passphrase-stdin`,
      ),
    );
  });

  it('warns of an .env that others can read, and of names in it that control programs', async () => {
    const other = temporaryFolder();
    const file = join(other, '.env');
    writeFileSync(
      file,
      'NODE_OPTIONS=--inspect\nLD_PRELOAD=/x.so\nPATH=/x\nSERVICE_TOKEN=t\nOK=a\\nb\n',
    );
    chmodSync(file, 0o644);
    const sources = { providers: ['env'] as const, path: join(other, 's.enc'), passphrase: null };
    expect(await openSecretEnvironment({ ...sources, env: {} })).toEqual({
      env: { SERVICE_TOKEN: 't', OK: String.raw`a\nb` },
      values: [String.raw`a\nb`, 't'],
      warnings: [
        `${file} can be read by other users; chmod 600 it`,
        `${file} sets LD_PRELOAD, which affects how programs run; it is ignored`,
        `${file} sets NODE_OPTIONS, which affects how programs run; it is ignored`,
        `${file} sets PATH, which affects how programs run; it is ignored`,
      ],
    });
  });

  it('refuses an .env that is not a file', async () => {
    const other = temporaryFolder();
    mkdirSync(join(other, '.env'));
    const sources = { providers: ['env'] as const, path: join(other, 's.enc'), passphrase: null };
    await expect(openSecretEnvironment({ ...sources, env: {} })).rejects.toThrow(
      `${join(other, '.env')} is not a file of at most 262144 bytes; fix or remove it`,
    );
  });
});
