import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConfigProblem, ConfigReading } from '../../actors/config/config.ts';
import {
  largestSettingsFile,
  readRegularFile,
  UnusableFileError,
} from '../../actors/read-regular-file.ts';
import { resolveInside } from '../../actors/tools/tools.ts';

/**
 * Reads the model's system instructions (docs/contract/configuration.md): the text in `service.yaml`, or a file of at
 * most 256 KiB inside the agent's folder after links are resolved.
 */
export async function readInstructions(
  directory: string,
  { config: { instructions }, problemAt }: Extract<ConfigReading, { ok: true }>,
): Promise<{ text: string; problems: ConfigProblem[] }> {
  if (typeof instructions === 'string') return { text: instructions, problems: [] };
  const refused = (message: string) => ({
    text: '',
    problems: [problemAt(['instructions', 'file'], message)],
  });
  const agentDirectory = await realpath(directory);
  const found = await resolveInside(agentDirectory, resolve(agentDirectory, instructions.file));
  if (found.kind === 'missing') {
    return refused('the file of the instructions does not exist; write it, or fix its name');
  }
  if (found.kind === 'outside') {
    return refused('the file of the instructions leads out of the folder of the agent; move it in');
  }
  try {
    return {
      text: readRegularFile(found.path, largestSettingsFile).toString('utf8'),
      problems: [],
    };
  } catch (error) {
    const fault = error instanceof UnusableFileError ? error.code : null;
    if (fault === 'no_file') return refused('the instructions are not a file; name one');
    return refused(
      fault === 'too_long'
        ? 'the file of the instructions is larger than 256 KiB; shorten it'
        : 'the file of the instructions cannot be read; fix its mode',
    );
  }
}
