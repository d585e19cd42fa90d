import manifest from '../package.json' with { type: 'json' };

/** The version of this program. */
export const version: string = manifest.version;

/** True for the sources as they stand, as in a clone; a release is JavaScript. */
export const isSource = import.meta.url.endsWith('.ts');
