import { ConfigFileError, readConfigText, writeConfigText } from './config-file.ts';
import { editYaml, type YamlEdit, YamlTextError } from './edit-yaml.ts';

/** Result of checking an agent's files. */
interface Verdict {
  errors: readonly { message: string }[];
}

/** Checks the text of a `service.yaml` as if it were in a folder, like a start of the agent. */
export type CheckConfig = (directory: string, content: string) => Promise<Verdict>;

/** The `service.yaml` of an agent as read once. Every change of one request is computed from it. */
export interface AgentText {
  /** Absolute path of the agent's folder. */
  directory: string;
  content: string;
  etag: string;
}

/** A `service.yaml` before and after additions. */
export interface ChangedConfig {
  directory: string;
  before: string;
  after: string;
  /** ETag of `before`. */
  etag: string;
}

/** Reads the `service.yaml` of an agent. Rejects with a ConfigFileError. */
export async function readAgentText(directory: string): Promise<AgentText> {
  const { content, etag } = await readConfigText(directory);
  return { directory, content, etag };
}

/** Computes the result of additions to a `service.yaml`, without writing it. Throws a ConfigFileError. */
export function planConfig(
  { directory, content, etag }: AgentText,
  additions: readonly YamlEdit[],
): ChangedConfig {
  try {
    return { directory, before: content, after: editYaml(content, additions), etag };
  } catch (error) {
    if (!(error instanceof YamlTextError)) throw error;
    throw new ConfigFileError(`service.yaml: ${error.message}`, { cause: error });
  }
}

/**
 * Writes a changed `service.yaml` atomically and returns the text as written. Rejects with a ConfigFileError if it
 * would have a new problem, or if the file has changed since it was read.
 */
export async function writeChangedConfig(
  { directory, before, after, etag }: ChangedConfig,
  check: CheckConfig,
): Promise<AgentText> {
  if (after === before) return { directory, content: before, etag };
  const known = new Set((await check(directory, before)).errors.map(({ message }) => message));
  const { errors } = await check(directory, after);
  const problem = errors.find(({ message }) => !known.has(message));
  if (problem !== undefined) {
    throw new ConfigFileError(`service.yaml was not changed: ${problem.message}`);
  }
  const written = await writeConfigText(directory, { content: after, etag });
  if (written.isWritten) return { directory, content: after, etag: written.etag };
  throw new ConfigFileError('service.yaml has changed meanwhile and was left as it is; try again');
}

/** Restores the text before a change, unless the file has been edited since. Rejects with a ConfigFileError. */
export async function revertConfig({ directory, before, after }: ChangedConfig): Promise<void> {
  const { content, etag } = await readConfigText(directory);
  if (content === after) await writeConfigText(directory, { content: before, etag });
}
