import { stat } from 'node:fs/promises';
import { readRegularFile, UnusableFileError } from '../../actors/read-regular-file.ts';
import {
  AddSkillError,
  type FileTree,
  isArchiveName,
  largestArchive,
  readArchive,
  readFolder,
} from '../../actors/workspace/workspace.ts';
import { messageOf } from '../../machines/message-of.ts';
import { isTrustworthyUrl } from '../../machines/trustworthy-url.ts';
import { type AgentPlace, usableAgent } from '../policy/held-rules.ts';
import { fetchFile } from '../start/fetch-file.ts';

const patience = 60_000;

/** Returns whether a string names a URL, a folder or an archive, rather than a skill of the registry. */
export function isSkillSource(text: string): boolean {
  return text.includes('://') || /^(?:\.{1,2}$|~|.*[/\\])/.test(text) || isArchiveName(text);
}

/**
 * Reads the files of a folder, a zip or tar.gz archive, or such an archive at a URL, which the egress rules of the
 * agent must allow. Rejects with AddSkillError or ConfigFileError.
 */
export async function readSkillFiles(source: string, place: AgentPlace): Promise<FileTree> {
  if (source.includes('://')) return readArchive(await fetched(source, place));
  const found = await stat(source).catch(() => null);
  if (found === null) throw unusable(`there is nothing at ${source}`);
  if (found.isDirectory()) return readFolder(source);
  try {
    return await readArchive(readRegularFile(source, largestArchive));
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error;
    throw unusable(
      error.code === 'no_file'
        ? `${source} is neither a folder nor an archive`
        : `${source} is larger than ${largestArchive / 1024 / 1024} MiB`,
    );
  }
}

async function fetched(source: string, place: AgentPlace): Promise<Buffer> {
  if (!isTrustworthyUrl(source)) {
    throw unusable(
      'the address must be an https URL, or http on a loopback host, without credentials, ? and #',
    );
  }
  const { config } = await usableAgent(place);
  const rules = { config, source: 'skills add', record: () => undefined };
  const limits = { longest: largestArchive, patience };
  try {
    return await fetchFile(new URL(source), { directory: place.directory, ...rules, ...limits });
  } catch (error) {
    throw unusable(`${source} cannot be fetched: ${messageOf(error)}`);
  }
}

function unusable(message: string): AddSkillError {
  return new AddSkillError('skill_unusable', message);
}
