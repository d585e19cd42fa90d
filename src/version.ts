import manifest from '../package.json' with { type: 'json' };

export const version: string = manifest.version;

/** True when running from TypeScript sources, as in a clone; a release is JavaScript. */
export const isSource = import.meta.url.endsWith('.ts');
