import { dirname, join } from 'node:path';
import { readEnvFile } from './env-file.ts';
import { hasSecretFile, readSecrets } from './secret-file.ts';
import { SecretsError } from './secrets-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Sources of secrets. */
export interface SecretSources {
  /** In order of precedence; an earlier source wins. */
  providers: readonly ('encrypted-file' | 'env')[];
  /** Absolute path of the encrypted file; an `.env` next to it belongs to the environment. */
  path: string;
  /** `null` if none was given; required if the encrypted file exists. */
  passphrase: string | null;
  env: Environment;
}

/** Variables for an agent's configuration, including secrets. */
export interface SecretEnvironment {
  env: Record<string, string | undefined>;
  /** Values that came from files and must never be displayed. */
  values: readonly string[];
  warnings: string[];
}

/**
 * Matches variables that are settings of the daemon and its machine; these remain even if secrets come only from the
 * file.
 */
const setting =
  /^(HOME|PATH|LANG|LC_\w+|TZ|TERM|TMPDIR|USER|LOGNAME|XDG_\w+|NO_COLOR|FORCE_COLOR|AWS_(DEFAULT_)?REGION|SERVICE_(?!TOKEN$|PLATFORM_TOKEN$|AUDIT_SIGNING_KEY$)\w+|OTEL_(?!\w*HEADERS$)\w+)$/;

/**
 * Assembles the variables for expanding a configuration, in the order of `secrets.providers`
 * (docs/contract/configuration.md, docs/contract/secrets.md). Never includes the passphrase. Rejects with a
 * SecretsError.
 */
export async function openSecretEnvironment(sources: SecretSources): Promise<SecretEnvironment> {
  const { providers, env } = sources;
  const settings = Object.entries(env).filter(([name]) => setting.test(name));
  const opened: SecretEnvironment = { env: Object.fromEntries(settings), values: [], warnings: [] };
  // Reversed, so that the first provider overrides the later ones.
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
