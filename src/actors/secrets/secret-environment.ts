import { dirname, join } from 'node:path';
import { readEnvFile } from './env-file.ts';
import { hasSecretFile, readSecrets } from './secret-file.ts';
import { SecretsError } from './secrets-error.ts';

/** The variables of a process. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Where secrets are looked for. */
export interface SecretSources {
  /** In order: what an earlier one has, a later one does not change. */
  providers: readonly ('encrypted-file' | 'env')[];
  /** The encrypted file, absolute; an `.env` beside it belongs to the environment. */
  path: string;
  /** `null` when nobody gave one, which the encrypted file needs as soon as it is there. */
  passphrase: string | null;
  env: Environment;
}

/** The variables that an agent is configured with, secrets among them. */
export interface SecretEnvironment {
  env: Record<string, string | undefined>;
  /** The values that came from files and must show nowhere. */
  values: readonly string[];
  warnings: string[];
}

/** Variables that are settings of a daemon and its machine, and stay where secrets come from the file alone. */
const setting =
  /^(HOME|PATH|LANG|LC_\w+|TZ|TERM|TMPDIR|USER|LOGNAME|XDG_\w+|NO_COLOR|FORCE_COLOR|AWS_(DEFAULT_)?REGION|SERVICE_(?!TOKEN$|PLATFORM_TOKEN$|AUDIT_SIGNING_KEY$)\w+|OTEL_(?!\w*HEADERS$)\w+)$/;

/**
 * Puts together the variables that a configuration is filled in from, in the order of `secrets.providers`
 * (docs/contract/configuration.md, docs/contract/secrets.md). The passphrase is never among them. Rejects with a
 * SecretsError.
 */
export async function openSecretEnvironment(sources: SecretSources): Promise<SecretEnvironment> {
  const { providers, env } = sources;
  const settings = Object.entries(env).filter(([name]) => setting.test(name));
  const opened: SecretEnvironment = { env: Object.fromEntries(settings), values: [], warnings: [] };
  // What is looked for first is put in last.
  for (const provider of providers.toReversed()) {
    const found = provider === 'env' ? fromEnvironment(sources) : await fromFile(sources);
    Object.assign(opened.env, found.env);
    opened.values = [...opened.values, ...found.values];
    opened.warnings.push(...found.warnings);
  }
  delete opened.env['SERVICE_PASSPHRASE'];
  return opened;
}

function fromEnvironment({ path, env }: SecretSources): SecretEnvironment {
  const { variables, warnings } = readEnvFile(join(dirname(path), '.env'));
  const values = [...variables.values()];
  return { env: { ...Object.fromEntries(variables), ...env }, values, warnings };
}

async function fromFile({ path, passphrase }: SecretSources): Promise<SecretEnvironment> {
  if (!hasSecretFile(path)) return { env: {}, values: [], warnings: [] };
  if (passphrase === null) {
    throw new SecretsError(
      'passphrase_missing',
      `the secrets in ${path} are encrypted and no passphrase was given; set SERVICE_PASSPHRASE, or pass it with --passphrase-stdin`,
    );
  }
  const secrets = await readSecrets(path, passphrase);
  return { env: Object.fromEntries(secrets), values: [...secrets.values()], warnings: [] };
}
