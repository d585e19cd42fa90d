import { ConfigFileError, readConfigText, writeConfigText } from './config-file.ts';
import { extendYaml, type YamlAddition, YamlTextError } from './extend-yaml.ts';

/** Result of checking an agent's files. */
interface Verdict {
  errors: readonly { message: string }[];
}

/** Checks the text of a `service.yaml` as if it were in a folder, like a start of the agent. */
export type CheckConfig = (directory: string, content: string) => Promise<Verdict>;

/** A `service.yaml` before and after additions. */
export interface ChangedConfig {
  before: string;
  after: string;
  /** ETag of `before`. */
  etag: string;
}

/**
 * Computes the result of additions to an agent's `service.yaml`, without writing it. Rejects with a ConfigFileError.
 */
export async function planConfig(
  directory: string,
  additions: readonly YamlAddition[],
): Promise<ChangedConfig> {
  const { content, etag } = await readConfigText(directory);
  try {
    return { before: content, after: extendYaml(content, additions), etag };
  } catch (error) {
    if (!(error instanceof YamlTextError)) throw error;
    throw new ConfigFileError(`service.yaml: ${error.message}`, { cause: error });
  }
}

/**
 * Writes a changed `service.yaml` atomically. Rejects with a ConfigFileError if it would have a new problem, or if the
 * file has changed since it was read.
 */
export async function writeChangedConfig(
  directory: string,
  { before, after, etag }: ChangedConfig,
  check: CheckConfig,
): Promise<void> {
  if (after === before) return;
  const known = new Set((await check(directory, before)).errors.map(({ message }) => message));
  const { errors } = await check(directory, after);
  const problem = errors.find(({ message }) => !known.has(message));
  if (problem !== undefined) {
    throw new ConfigFileError(`service.yaml was not changed: ${problem.message}`);
  }
  const { isWritten } = await writeConfigText(directory, { content: after, etag });
  if (isWritten) return;
  throw new ConfigFileError('service.yaml has changed meanwhile and was left as it is; try again');
}
