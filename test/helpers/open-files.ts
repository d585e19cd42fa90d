import { readdirSync, readlinkSync } from 'node:fs';

const descriptors = '/proc/self/fd';

/** The files in a folder that this process, which other tests share, has open, sorted. */
export function openFilesIn(folder: string): string[] {
  return readdirSync(descriptors)
    .map((name) => {
      try {
        return readlinkSync(`${descriptors}/${name}`);
      } catch {
        // The one that listed them is closed by now.
        return '';
      }
    })
    .filter((path) => path.startsWith(`${folder}/`))
    .toSorted();
}
