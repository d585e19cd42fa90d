import { ConfigFileError, readConfigText, writeConfigText } from './config-file.ts';
import { extendYaml, type YamlAddition, YamlTextError } from './extend-yaml.ts';

/** What a check of an agent's files says. */
interface Verdict {
  errors: readonly { message: string }[];
}

/** Checks the text of a `service.yaml` as if it stood in a folder, as a start of the agent would. */
export type CheckConfig = (directory: string, content: string) => Promise<Verdict>;

/** What additions make of a `service.yaml`. */
export interface ChangedConfig {
  before: string;
  after: string;
  /** The etag of `before`. */
  etag: string;
}

/** Works out what additions make of the `service.yaml` of an agent; nothing is written. Rejects with a ConfigFileError. */
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
 * Writes a changed `service.yaml`, whole or not at all. Rejects with a ConfigFileError when it would have a problem that
 * it does not have now, and when the file is not the one any more that was read.
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
