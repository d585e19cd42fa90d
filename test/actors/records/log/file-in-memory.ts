import type { OpenLogFile } from '../../../../src/actors/records/log/audit.ts';

/** A file of a log that is held in memory, and from where each reading of it began. */
export function fileOf(text: string, more: Partial<OpenLogFile> = {}) {
  const content = Buffer.from(text);
  const readFrom: number[] = [];
  const handle = {
    read: async (buffer: Buffer, offset: number, length: number, position: number) => {
      readFrom.push(position);
      const bytesRead = content.copy(buffer, offset, position, position + length);
      return { bytesRead, buffer };
    },
  } as unknown as OpenLogFile['handle'];
  const file = { path: 'audit.ndjson', handle, size: content.length, id: '1', version: '1' };
  return { file: { ...file, ...more }, readFrom };
}
