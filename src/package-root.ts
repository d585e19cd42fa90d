import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/** The folder of the clone or of the installed package: `bin`, `skills`, `examples` and `dist` lie in it. */
export const packageRoot = dirname(findPackageJSON(import.meta.url) ?? import.meta.dirname);

/** The folder of what runs, `src` or that of the bundle; files that are read as text lie below it by their path in `src`. */
export const programFolder = import.meta.dirname;
